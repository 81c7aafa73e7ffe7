#!/usr/bin/env bash
# 65-tree-paths.sh -- paths of the tree on a command line: from the current folder, as in git. [L2] [C1]
. "$(dirname "$0")/lib.sh"

start() {
    "$VALISE" -q init
    mkdir -p src/lib doc
    echo 1 >src/a.c
    echo 2 >src/lib/b.c
    echo 3 >README
    echo '*.o' >.gitignore
    "$VALISE" -q scan
    echo 'about it' >../notes
}

path_of() {
    run "$VALISE" get-node --json "$@" >/dev/null
    json_get node.path
}

folders() {
    start
    [ "$(path_of src/a.c)" = src/a.c ]
    cd src
    [ "$(path_of a.c)" = src/a.c ]
    [ "$(path_of ./a.c)" = src/a.c ]
    [ "$(path_of .)" = src ]
    [ "$(path_of ..)" = "" ]
    [ "$(path_of ../README)" = README ]
    [ "$(path_of ../src//lib/)" = src/lib ]
    [ "$(path_of "$PWD/../doc")" = doc ]
    [ "$(path_of "../../$(basename "$(dirname "$PWD")")/README")" = README ]
    expect_exit 3 "$VALISE" get-node src/a.c
    stderr_has "there is nothing at 'src/src/a.c'"
    cd lib
    [ "$(path_of -C .. a.c)" = src/a.c ]
    [ "$(path_of -C ../../doc ../README)" = README ]
}
t 'paths start from the current folder' folders

outside() {
    start
    cd src
    expect_exit 6 "$VALISE" get-node ../../x
    stderr_has "'../../x' is outside the tree" "the tree is $(dirname "$PWD")"
    expect_exit 6 "$VALISE" put-frame /etc/passwd ../../notes
    stderr_has "'/etc/passwd' is outside the tree"
    expect_exit 6 "$VALISE" scan "$(dirname "$PWD")x"
    expect_exit 6 "$VALISE" check-ignore ../../x
    expect_exit 6 "$VALISE" tree ls /
}
t 'a path outside of the tree is refused, and where the tree is is said' outside

# Where one does not stand in the tree, its root is what paths start from; git does so with
# --work-tree.
elsewhere() {
    start
    local tree=$PWD
    cd /
    [ "$(path_of --workspace "$tree" src/a.c)" = src/a.c ]
    [ "$(VALISE_DIR=$tree path_of src/a.c)" = src/a.c ]
    [ "$(path_of --workspace "$tree" "$tree/src/a.c")" = src/a.c ]
    run "$VALISE" --workspace "$tree" tree ls src
    stdout_has "src/a.c "
    expect_exit 6 "$VALISE" --workspace "$tree" get-node ../x
    stderr_has "paths start from there"
}
t 'from outside paths start from the root' elsewhere

# Links on the way to the tree are followed, links in it are not.
links() {
    start
    ln -s "$PWD" ../door
    ln -s "$PWD/src" ../side
    ln -s src inner
    "$VALISE" -q scan
    [ "$(path_of "$PWD/../door/src/a.c")" = src/a.c ]
    [ "$(path_of "$PWD/../side/lib/b.c")" = src/lib/b.c ]
    [ "$(path_of inner)" = inner ]
    expect_exit 3 "$VALISE" get-node inner/a.c
    cd ../door/src
    [ "$(path_of a.c)" = src/a.c ]
    [ "$(path_of ../README)" = README ]
}
t 'links lead into the tree, and not around in it' links

# Digits are a path where there is such a one, and an id otherwise; ./ makes it a path.
digits() {
    start
    echo 1 >src/cafe
    echo 2 >beef
    "$VALISE" -q scan
    run "$VALISE" get-node --json README
    local id
    id=$(json_get node.nodeId)
    [ "$(path_of "$id")" = README ]
    [ "$(path_of "${id:0:10}")" = README ]
    [ "$(path_of beef)" = beef ]
    expect_exit 3 "$VALISE" get-node cafe
    cd src
    [ "$(path_of cafe)" = src/cafe ]
    [ "$(path_of ./cafe)" = src/cafe ]
    [ "$(path_of "${id:0:10}")" = README ]
    [ "$(path_of "$id")" = README ]
    expect_exit 3 "$VALISE" get-node beef # another folder's
    stderr_has "src/beef"
    [ "$(path_of ../beef)" = beef ]
    expect_exit 3 "$VALISE" get-node "./${id:0:10}"
    # One that was not scanned yet is a path as well.
    echo new >dead
    run "$VALISE" put-frame dead ../../notes --json
    json_is path src/dead
}
t 'names that look like ids' digits

# At the root as well, and before a scan: what lies in the folder is meant.
digits_on_disk() {
    "$VALISE" -q init
    echo about >../notes
    echo 0 >cafe
    run "$VALISE" put-frame cafe ../notes --json
    json_is path cafe
    start
    run "$VALISE" get-node --json README
    local id short
    id=$(json_get node.nodeId)
    short=${id:0:4}
    [ "$(path_of "$short")" = README ]
    echo other >"$short"
    run "$VALISE" put-frame "$short" ../notes --json
    json_is path "$short"
    echo whole >"$id"
    run "$VALISE" put-frame "$id" ../notes --json
    json_is path "$id"
    cd /
    [ "$(path_of --workspace "$OLDPWD" "$short")" = "$short" ]
}
t 'a file on disk whose name looks like an id is that file' digits_on_disk

long() {
    start
    local name path
    name=$(printf '%0300d' 0)
    expect_exit 6 "$VALISE" get-node "$name"
    stderr_has "a name of 300 bytes in '0000"
    expect_exit 6 "$VALISE" get-node "/$name"
    stderr_has "a name of 300 bytes in '/0000"
    expect_exit 6 "$VALISE" put-frame "src/$name" ../notes
    stderr_has "in 'src/0000"
    path=$(printf 'abcdefgh/%.0s' $(seq 500))
    expect_exit 6 "$VALISE" get-node "$path"
    stderr_has "a path has 4500 bytes, 'abcdefgh/"
    expect_exit 6 "$VALISE" run node:get "{\"node\":\"$name\"}"
    expect_exit 6 "$VALISE" get-node "$(printf '../%.0s' $(seq 100))x"
    stderr_has "is outside the tree"
}
t 'names and paths that are too long are invalid, and named as they were given' long

ignored() {
    start
    mkdir -p gone/in
    touch a.o gone/in/x gone/keep
    mkfifo pipe
    echo 'gone/in/' >.valiseignore
    for op in get-node list-frames get-head "put-frame - ../notes"; do
        # shellcheck disable=SC2086  # words
        set -- ${op/ -/ a.o}
        [ $# -gt 1 ] || set -- "$op" a.o
        expect_exit 3 "$VALISE" "$@"
        stderr_is "valise: 'a.o' is ignored: a rule of .gitignore leaves it out of the tree
hint: 'valise check-ignore' shows the rule"
    done
    expect_exit 3 "$VALISE" put-frame gone/in/x ../notes
    stderr_has "a rule of .valiseignore leaves it"
    expect_exit 3 "$VALISE" get-node .valise
    stderr_has "'.valise' is ignored, as all of .git and .valise is"
    expect_exit 3 "$VALISE" put-frame pipe ../notes
    stderr_has "'pipe' is not a file, directory or link" "hint: sockets, pipes and devices"
    expect_exit 3 "$VALISE" get-node pipe
    stderr_has "'pipe' is not a file, directory or link"
    expect_exit 3 "$VALISE" put-frame nothing ../notes
    stderr_has "there is nothing at 'nothing'" "finds new files"
    # What was in the tree before the rule as well.
    echo README >>.gitignore
    echo changed >README
    expect_exit 3 "$VALISE" put-frame README ../notes
    stderr_has "'README' is ignored"
    # Only for those who may read the tree.
    run "$VALISE" agent add blind --capability context:read --capability context:write -q
    expect_exit 3 "$VALISE" put-frame a.o ../notes --agent blind
    stderr_lacks ignored
    expect_exit 3 "$VALISE" get-node a.o --agent blind
    stderr_lacks ignored
}
t 'what is left out is said to be, and by which file' ignored

words() {
    start
    echo 1 >-x
    echo 1 >--json
    "$VALISE" -q scan
    [ "$(path_of ./-x)" = -x ]
    [ "$(path_of -- -x)" = -x ]
    [ "$(path_of -- --json)" = --json ]
    cd src
    [ "$(path_of ../--json)" = --json ]
}
t 'names that look like options' words

names() {
    start
    cd src
    printf 1 >"$(printf 'bad\377name')"
    printf 1 >"$(printf 'new\nline')"
    printf 1 >'quo"te'
    printf 1 >'back\slash'
    printf 1 >$'caf\303\251'
    "$VALISE" -q scan
    run "$VALISE" tree ls
    stdout_has '"bad\377name" ' '"new\nline" ' '"quo\"te" ' '"back\\slash" ' $'caf\303\251 '
    run "$VALISE" put-frame "$(printf 'bad\377name')" ../../notes
    stdout_matches '^"bad\\377name" notes [0-9a-f]{8}  new head$'
    run "$VALISE" get-node "$(printf 'new\nline')"
    stdout_has 'file "new\nline"  1 B'
    run "$VALISE" list-frames "$(printf 'bad\377name')" --json
    json_is path.base64 c3JjL2JhZP9uYW1l
    cd ..
    run "$VALISE" tree ls src
    stdout_has '"src/bad\377name" '
}
t 'names that are no text are quoted as git does it' names

# What is printed can be given back.
shown() {
    start
    cd src/lib
    run "$VALISE" tree ls
    stdout_matches '^b.c +file'
    run "$VALISE" tree ls ..
    stdout_matches '^\.\./a.c +file'
    stdout_matches '^\./ +directory'
    run "$VALISE" tree ls ../..
    stdout_matches '^\.\./\.\./README +file'
    stdout_matches '^\.\./ +directory'
    run "$VALISE" tree ls --json
    json_is path src/lib/b.c
    run "$VALISE" put-frame ../a.c ../../../notes
    stdout_matches '^\.\./a.c notes '
    run "$VALISE" list-frames ../a.c
    stdout_matches '^\.\./a.c  notes '
    run "$VALISE" get-node ../a.c
    stdout_has 'file ../a.c  2 B' 'Parent: ..  '
    run "$VALISE" check-ignore x.o ../y.o "$PWD/z.o"
    printf '.gitignore:1:*.o\t%s\n' x.o ../y.o z.o | stdout_is
}
t 'paths are shown from the current folder; in JSON from the root' shown

scans() {
    start
    echo 4 >README
    echo 5 >src/a.c
    cd src
    run "$VALISE" scan .
    stdout_has ': 0 added, 1 changed, 0 removed'
    run "$VALISE" scan
    stdout_has ': 0 added, 1 changed, 0 removed'
    echo 6 >../README
    run "$VALISE" scan "$(cd .. && pwd)/README"
    stdout_has ': 0 added, 1 changed, 0 removed'
    expect_exit 0 "$VALISE" check-ignore --dir .. src/x.o # a folder that is named is what counts
}
t 'scan . looks at the current folder, scan at all of it' scans

# A tree stays that of its folder: of another one, all slots would be about nothing.
another() {
    start
    mkdir ../other
    echo 1 >../other/x
    expect_exit 1 "$VALISE" scan --dir ../other
    stderr_has 'is for its own folder'
    stderr_has 'valise init'
    run "$VALISE" scan --dir . # its own may be named
    run "$VALISE" tree ls
    stdout_has README
}
t 'a scan of another folder than the own is refused' another

t 'operations and batches have paths from the root' '
    start
    cd src
    run "$VALISE" run node:get "{\"node\":\"src/a.c\"}" --json
    json_is node.path src/a.c
    expect_exit 3 "$VALISE" run node:get "{\"node\":\"a.c\"}"
    printf "%s\n" "{\"type\":\"frame:put\",\"payload\":{\"node\":\"src/a.c\",\"content\":\"YQ==\"}}" >../../batch
    run "$VALISE" batch ../../batch
'

t 'what says no already is not negated' '
    start
    run "$VALISE" get-node --help
    stdout_has "--no-scan "
    stdout_lacks "--no-no-scan"
    expect_exit 2 "$VALISE" get-node README --no-no-scan
    stderr_has "unknown option"
    run "$VALISE" get-node README --no-scan
    run "$VALISE" scan --help
    stdout_has "--force, --no-force"
    [ "$("$VALISE" __complete -- get-node README --no-s | cut -f1)" = --no-scan ]
    ! "$VALISE" __complete -- get-node README --no | grep -q no-no || fail "--no-no is offered"
'

completed() {
    start
    local id tab
    tab=$(printf '\t')
    offers() { "$VALISE" __complete -- "$@" | cut -f1; }
    run "$VALISE" put-frame src/a.c ../notes --type summary --json
    id=$(json_get nodeId)
    run "$VALISE" agent add reviewer --role reader
    cd src
    # Files are the shell's; digits may be the beginning of an id.
    [ "$("$VALISE" __complete -- get-node "")" = "${tab}files" ]
    [ "$("$VALISE" __complete -- scan "")" = "${tab}files" ]
    [ "$("$VALISE" __complete -- tree ls "")" = "${tab}files" ]
    [ "$("$VALISE" __complete -- check-ignore x "")" = "${tab}files" ]
    [ "$("$VALISE" __complete -- put-frame a.c "")" = "${tab}files" ]
    [ "$("$VALISE" __complete -- get-node "${id:0:8}")" = "${tab}files
$id${tab}a.c" ]
    [ "$("$VALISE" __complete -- get-node "--node=${id:0:8}" | tail -1 | cut -f1)" = "--node=$id" ]
    [ "$(offers get-head a.c --type "")" = summary ]
    [ "$(offers list-frames ../src/a.c --type s)" = summary ]
    [ -z "$(offers list-frames ../../nowhere --type s)" ]
    [ "$(offers put-frame a.c x --agent re)" = reviewer ]
    [ "$(offers frame proof a.c --type summary --frame "" | wc -l)" = 1 ]
    [ "$(offers get-node a.c --at "" | wc -l)" = 1 ]
    cd /
    expect_exit 0 "$VALISE" __complete -- get-node cafe
    stdout_is "${tab}files"
    stderr_is_empty
}
t 'paths, ids, types and agents are completed [L8]' completed

done_testing
