#!/bin/bash
# 67-moves.sh -- what was said about files stays with them, whoever notices first that they moved.
. "$(dirname "$0")/lib.sh"

# Frames of the type notes at these paths, each with its path as it was.
heads_are() {
    local path
    for path in "$@"; do
        run "$VALISE" get-head "${path%%=*}" --type notes --json
        json_is text "${path#*=}"
        json_is state fresh
    done
}

start() {
    run "$VALISE" init
    mkdir src
    for i in 1 2 3; do
        echo "$i" >"src/$i"
    done
    run "$VALISE" scan
    for i in 1 2 3; do
        printf 'src/%s' "$i" | run "$VALISE" put-frame "src/$i" -
    done
}

put_first() {
    start
    mv src lib
    echo r >../text
    run "$VALISE" put-frame lib/1 ../text --type review
    heads_are lib/1=src/1 lib/2=src/2 lib/3=src/3
    run "$VALISE" scan
    stdout_has "nothing changed"
    mv lib/2 two
    run "$VALISE" put-frame two ../text --type review
    heads_are two=src/2
    run "$VALISE" validate
}
t 'a put that finds a moved file takes its slots along [C10] [C12]' put_first

part_first() {
    start
    mkdir to
    mv src/1 to/1
    run "$VALISE" scan to
    heads_are to/1=src/1
    mv src/2 to/2
    run "$VALISE" scan src
    heads_are to/2=src/2 src/3=src/3
    run "$VALISE" scan
    stdout_has "nothing changed"
}
t 'so does a scan of a part, of either one [C12]' part_first

# Within the part it looks as if each file had gone to the place of the other.
alike() {
    run "$VALISE" init
    mkdir a b
    echo same >a/x
    echo same >b/y
    run "$VALISE" scan
    printf a/x | run "$VALISE" put-frame a/x -
    printf b/y | run "$VALISE" put-frame b/y -
    mv a/x b/x2
    mv b/y a/y2
    run "$VALISE" scan a --json
    json_is moved 0
    json_is ambiguousCount 1
    run "$VALISE" list-frames a/y2 --json
    stdout_is_empty
}
t 'a move within a part may be none in the whole [C12]' alike

within() {
    start
    mkdir lib
    echo 4 >lib/4
    run "$VALISE" scan
    mv src/1 src/one
    mv lib/4 lib/four
    run "$VALISE" scan src
    stdout_has "2 moved"
    run "$VALISE" scan
    stdout_has "nothing changed"
}
t 'a move within a part is looked for in all of the tree [C12]' within

empty() {
    run "$VALISE" init
    : >one
    mkdir d
    : >d/a
    run "$VALISE" scan
    printf one | run "$VALISE" put-frame one -
    mv one two
    run "$VALISE" scan
    stdout_has "1 moved"
    heads_are two=one
    # Where it is not clear which is which, only what somebody knows something about is named.
    mv two three
    mv d/a d/b
    run "$VALISE" scan
    stdout_has "2 added, 0 changed, 2 removed" "not followed: two: 2 alike are gone and 2 are new"
    stdout_lacks "d/a:"
}
t 'empty files move as others do [C12]' empty

told_by_put() {
    run "$VALISE" init
    echo 1 >a
    run "$VALISE" scan
    echo r >../text
    run "$VALISE" put-frame a ../text
    mv a c
    cp c d
    run "$VALISE" put-frame c ../text --type t --dry-run --json
    json_is ambiguousCount 1
    run "$VALISE" put-frame c ../text --type t
    stderr_is "valise: not followed: a: 1 alike is gone and 2 are new, such as 'c'"
    run "$VALISE" put-frame c ../text --type u --json
    stdout_lacks ambiguous
    stderr_is_empty
    mv d e
    cp e f
    run "$VALISE" put-frame f ../text --json
    json_is ambiguousCount 1
    stdout_has '"ambiguous":[{"path":"d",'
    # The log has what a replay finds again, and nothing else.
    run "$VALISE" validate
    run "$VALISE" log --json
    stdout_lacks ambiguous
}
t 'a put says what it did not follow [C12]' told_by_put

node_of() {
    "$VALISE" get-node "$1" --json | "$VALISE" json get - /node/nodeId | tr -d '"'
}

earlier() {
    run "$VALISE" init
    mkdir d
    echo 1 >d/f
    run "$VALISE" scan
    local before after
    before=$(node_of d/f)
    echo x >../text
    run "$VALISE" put-frame d/f ../text
    mv d e
    run "$VALISE" scan
    mv e g
    expect_exit 5 "$VALISE" put-frame "$before" ../text # it sees the second move by itself
    run "$VALISE" scan
    after=$(node_of g/f)
    expect_exit 5 "$VALISE" put-frame "$before" ../text
    stderr_has "is now at 'g/f'" "$after"
    run "$VALISE" get-node "$before"
    stdout_has "\`valise get-node g/f\` shows today's"
    run "$VALISE" get-head "$before" --json
    json_is path g/f
    json_is meta.tree earlier
    run "$VALISE" list-frames "$before"
    stdout_has g/f
    echo y >../text
    run "$VALISE" put-frame g/f ../text --basis "$before"
    stdout_has "put beside the head"
    run "$VALISE" validate
    rm -r g
    run "$VALISE" scan
    run "$VALISE" get-node "$before"
    stdout_has "it is gone by now"
    expect_exit 3 "$VALISE" put-frame "$before" ../text
    echo z >new
    run "$VALISE" scan
    expect_exit 6 "$VALISE" put-frame new ../text --basis "${before:0:8}"
    stderr_has "node ${before:0:8} was never at 'new'"
    stderr_lacks "$before"
}
t 'an id of before a move leads to where it is [C10] [C12]' earlier

said_since() {
    start
    mv src/1 one
    run "$VALISE" scan
    run "$VALISE" get-head one
    stdout_has "moved from src/1"
    echo new >../text
    run "$VALISE" put-frame one ../text
    run "$VALISE" get-head one
    stdout_lacks "moved from"
    run "$VALISE" get-node one --view history,recency
    stdout_matches "\\(not the head\\).*moved from src/1"
}
t 'moved from is told of what was said before the move [C12]' said_since

numbered() {
    run "$VALISE" init
    for name in a b c other; do
        echo "$name" >"$name"
    done
    run "$VALISE" scan
    for name in a c; do
        echo "$name" | run "$VALISE" put-frame "$name" -
    done
    mv c d
    mv b c
    mv a b
    run "$VALISE" scan
    stdout_has "not followed: a: what was there is at 'b' now" \
        "not followed: c: what was there is at 'd' now"
    stdout_lacks "not followed: b:"
    cp c backup
    echo edited >c
    run "$VALISE" scan
    stdout_lacks "not followed"
}
t 'files that take the place of others are not followed, and that is said [C12]' numbered

nothing_there() {
    run "$VALISE" init
    echo 1 >a
    expect_exit 3 "$VALISE" scan nothing
    stderr_has "nothing at 'nothing'"
    run "$VALISE" scan a
    rm a
    run "$VALISE" scan a
    stdout_has "1 removed"
    expect_exit 3 "$VALISE" scan a
}
t 'a path that never was is not scanned [L5]' nothing_there

left_out() {
    run "$VALISE" init
    echo '*.log' >.gitignore
    mkdir d b
    echo 1 >x.log
    echo 1 >b/x.log
    echo 1 >d/f
    ln -s d dl
    mkfifo pipe
    run "$VALISE" scan
    expect_exit 3 "$VALISE" scan x.log
    stderr_has "is ignored"
    expect_exit 3 "$VALISE" scan pipe
    stderr_has "not a file, directory or link"
    expect_exit 3 "$VALISE" get-node dl/f
    stderr_has "'dl' is a link"
    expect_exit 3 "$VALISE" get-node b
    stderr_has "shows which rule leaves a file out"
    echo 2 >d/g
    run "$VALISE" scan
    expect_exit 3 "$VALISE" get-node d/g --at v1
    stderr_lacks "valise scan"
}
t 'what is left out is said to be [C3] [L5]' left_out

# Not by luck: the directory's own times stay when a file in it is edited.
directories() {
    run "$VALISE" init
    mkdir -p d/e
    echo one >d/e/f
    run "$VALISE" scan
    echo another >d/e/f
    echo text >../text
    run "$VALISE" put-frame d ../text
    run "$VALISE" put-frame . ../text
    run "$VALISE" scan
    stdout_has "nothing changed"
    run "$VALISE" get-head d --type notes --json
    json_is state fresh
    run "$VALISE" get-head . --type notes --json
    json_is state fresh
}
t 'a put about a directory is about what is in it now [C10]' directories

as_other() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
    else
        "$@"
    fi
}

# What cannot be read for a while has not moved to where there is a copy of it.
closed() {
    [ "$(id -u)" -ne 0 ] || need setpriv
    mkdir ws && cd ws
    mkdir closed
    echo unique >closed/x
    if [ "$(id -u)" -eq 0 ]; then
        chmod 711 "$LIB_ROOT" ..
        chown -R 65534:65534 .
        as_other test -x "$VALISE" || skip "nobody else may run $VALISE"
    fi
    run as_other "$VALISE" init
    run as_other "$VALISE" scan
    printf closed/x | run as_other "$VALISE" put-frame closed/x -
    as_other cp closed/x y
    chmod 0 closed
    expect_exit 1 as_other "$VALISE" scan --json
    json_is moved 0
    chmod 755 closed
    run as_other "$VALISE" scan
    run as_other "$VALISE" get-head closed/x --type notes --json
    json_is text closed/x
    json_is state fresh
    run as_other "$VALISE" list-frames y --json
    stdout_is_empty
}
t 'what is in a directory that cannot be read does not move [C2] [C12]' closed

# A path that was used twice: each id leads to where its own file went. [C10] [C12]
twice() {
    local first second
    "$VALISE" -q init
    echo 1 >a
    "$VALISE" -q scan
    echo first | "$VALISE" put-frame a - -q
    first=$(node_of a)
    mv a b
    "$VALISE" -q scan
    echo 2 >a
    "$VALISE" -q scan
    run "$VALISE" get-node "$first"
    stdout_has '`valise get-node b` shows today'
    run "$VALISE" get-head "$first" --type notes
    stdout_is first
    echo second | "$VALISE" put-frame a - -q
    run "$VALISE" get-head "$first" --type notes
    stdout_is first
    expect_exit 5 "$VALISE" put-frame "$first" - <<<x
    stderr_has "is now at 'b'"
    second=$(node_of a)
    mv a c
    "$VALISE" -q scan
    run "$VALISE" get-node "$second"
    stdout_has '`valise get-node c` shows today' second
    run "$VALISE" get-head "$second" --type notes
    stdout_is second
    expect_exit 5 "$VALISE" put-frame "$second" - <<<x
    stderr_has "is now at 'c'"
    expect_exit 6 "$VALISE" put-frame c - --basis "$first" <<<x
    expect_exit 6 "$VALISE" put-frame b - --basis "$second" <<<x
    run "$VALISE" put-frame b - --basis "$first" --type other <<<x
    run "$VALISE" put-frame c - --basis "$second" --type other <<<x
    rm b
    "$VALISE" -q scan
    run "$VALISE" get-head "$second" --type notes
    stdout_is second
    # gone and there again, without a move: it is the same place
    echo 3 >b
    "$VALISE" -q scan
    run "$VALISE" put-frame b - --type again <<<x
    run "$VALISE" validate
}
t 'an id leads to where its own file went, whoever was at the path after it' twice

# What took the place of something empty is told as well. [C12]
onto_empty() {
    "$VALISE" -q init
    echo 1 >a
    : >b
    "$VALISE" -q scan
    echo note | "$VALISE" put-frame a - -q
    mv a b
    run "$VALISE" scan
    stdout_has "not followed: a: what was there is at 'b' now"
}
t 'a file that took the place of an empty one is told of' onto_empty

done_testing
