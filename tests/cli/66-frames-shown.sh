#!/usr/bin/env bash
# 66-frames-shown.sh -- frames, nodes and heads as people see them. [L4] [L5] [C12] [C13]
. "$(dirname "$0")/lib.sh"
export TERMINAL=$LIB_DIR/on_terminal.py

ID='[0-9a-f]{8}'
WHEN='[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z'

start() {
    "$VALISE" -q init
    mkdir -p src/lib
    echo one >src/a.c
    echo two >src/lib/b.c
    ln -s a.c src/link
    "$VALISE" -q scan
    printf 'about a\n\nin two parts\n' >../first
    printf 'more' >../second
}

puts() {
    start
    run "$VALISE" put-frame src/a.c ../first --type summary
    stdout_matches "^src/a.c summary $ID  new head$"
    local was
    was=$(cut -d' ' -f3 "$OUT")
    run "$VALISE" put-frame src/a.c ../first --type summary
    stdout_is "src/a.c summary $was  is the head already, nothing written"
    run "$VALISE" put-frame src/a.c ../second --type summary
    stdout_matches "^src/a.c summary $ID  new head \(was $was\)$"
    local is
    is=$(cut -d' ' -f3 "$OUT")
    run "$VALISE" put-frame src/a.c ../first --type summary
    stdout_is "src/a.c summary $was  head again (was $is)"
    run "$VALISE" get-node src/a.c --json
    local node
    node=$(json_get node.nodeId)
    echo changed >src/a.c
    run "$VALISE" put-frame src/a.c ../first --type summary
    run "$VALISE" put-frame src/a.c ../second --type summary --basis "$node"
    stdout_is "src/a.c summary $is  is there already, and not the head; nothing written"
    echo beside >../third
    run "$VALISE" put-frame src/a.c ../third --type summary --basis "$node"
    stdout_matches "^src/a.c summary $ID  put beside the head, which stays$"
    run "$VALISE" -q put-frame src/a.c ../third
    stdout_is_empty
}
t 'a put says in a line what became of it' puts

lists() {
    start
    run "$VALISE" put-frame src/a.c ../first --type summary
    run "$VALISE" put-frame src/a.c ../second
    echo changed >src/a.c
    run "$VALISE" put-frame src/a.c ../first
    run "$VALISE" list-frames src/a.c
    [ "$(head -1 "$OUT" | tr -s ' ')" = "PATH TYPE FRAME HEAD STATE AGENT SIZE WHEN" ]
    stdout_matches "^src/a.c  notes    $ID  \*     fresh                    local  22 B  $WHEN$"
    stdout_matches "^src/a.c  notes    $ID        stale: the file changed  local   4 B  $WHEN$"
    stdout_matches "^src/a.c  summary  $ID  \*     stale: the file changed  local  22 B  $WHEN$"
    [ "$(wc -l <"$OUT")" -eq 4 ]
    # What a directory has in it is a part of it.
    run "$VALISE" put-frame src ../first
    echo 3 >src/c.c
    run "$VALISE" scan
    run "$VALISE" list-frames src
    stdout_has "stale: the directory changed"
    rm -r src
    run "$VALISE" scan
    run "$VALISE" list-frames src
    stdout_has "orphaned"
    run env TERM=xterm "$VALISE" --color always list-frames src
    stdout_has "$(printf '\033[31morphaned')"
}
t 'frames are a table with states in words' lists

heads() {
    start
    run "$VALISE" put-frame src/a.c ../first --type summary
    run "$VALISE" put-frame src/a.c ../second
    # The bytes that were put, and nothing else.
    "$VALISE" get-head src/a.c --type summary | cmp - ../first
    "$VALISE" get-head src/a.c --type notes | cmp - ../second
    printf '\377\000\001' >../bytes
    run "$VALISE" put-frame src/a.c ../bytes --type data
    "$VALISE" get-head src/a.c --type data | cmp - ../bytes
    # All of them, each under a line of its own.
    run "$VALISE" get-head src/a.c
    stdout_matches "^notes $ID  fresh  local  $WHEN$"
    stdout_matches "^summary $ID  fresh  local  $WHEN$"
    stdout_has "    about a" "    in two parts" "    more" "    (binary, 3 B)"
    # What does not hold any more is said, and not among the content.
    echo changed >src/a.c
    run "$VALISE" scan
    run "$VALISE" get-head src/a.c --type notes
    stderr_matches "^valise: src/a.c notes $ID: stale: the file changed$"
    cmp "$OUT" ../second
    # No such frame is not an empty one.
    expect_exit 3 "$VALISE" get-head src/a.c --type nothing
    stdout_is_empty
    stderr_is "valise: src/a.c: there is no frame of type nothing
hint: 'valise list-frames src/a.c' shows what there is"
    : >../empty
    run "$VALISE" put-frame src/a.c ../empty --type nothing
    run "$VALISE" get-head src/a.c --type nothing
    stdout_is_empty
    stderr_is_empty
    run "$VALISE" get-head src/a.c
    stdout_has "    (empty)"
    expect_exit 3 "$VALISE" get-head src/a.c --type other --json
    json_is state empty
}
t 'get-head --type is the content itself' heads

terminal() {
    start
    printf '\033[31mred\n' >../third
    run "$VALISE" put-frame src/a.c ../third --type red
    run "$TERMINAL" "$VALISE" get-head src/a.c --type red
    stdout_is '\x1b[31mred'
    run "$VALISE" put-frame src/a.c ../second --type short
    run "$TERMINAL" "$VALISE" get-head src/a.c --type short
    stdout_is 'more'
    seq 100 >../long
    run "$VALISE" put-frame src/a.c ../long --type long
    printf '#!/bin/sh\nhead -n 2\n' >../pager
    chmod +x ../pager
    for words in "get-head src/a.c --type long" "get-head src/a.c" "get-node src/a.c"; do
        # shellcheck disable=SC2086  # words
        VALISE_PAGER=$PWD/../pager run "$TERMINAL" "$VALISE" $words
        [ "$(wc -l <"$OUT")" = 2 ]
    done
}
t 'on a terminal contents are harmless, end with a line and go through a pager' terminal

nodes() {
    start
    run "$VALISE" put-frame src/a.c ../first --type summary
    run "$VALISE" put-frame src/a.c ../second
    run "$VALISE" get-node src/a.c
    stdout_has "file src/a.c  4 B"
    stdout_matches "^Node:   $ID$"
    stdout_matches "^Object: $ID$"
    stdout_matches "^Parent: src  $ID$"
    stdout_matches "^Roots:  tree $ID \(version 1\), context $ID$"
    stdout_matches "^summary $ID  fresh  local  $WHEN$"
    stdout_has "    in two parts"
    [ "$(tail -1 "$OUT")" = "2 frames" ]
    run "$VALISE" get-node src/a.c --view max=1
    [ "$(tail -1 "$OUT")" = "1 of 2 frames" ]
    run "$VALISE" get-node src/a.c --view type=sum*
    [ "$(tail -1 "$OUT")" = "1 of 1 frames that match, 2 in all" ]
    run "$VALISE" get-node src
    stdout_has "directory src  3 entries"
    stdout_matches "^    $ID  a.c$"
    stdout_matches "^    $ID  lib/$"
    stdout_matches "^    $ID  link@$"
    [ "$(tail -1 "$OUT")" = "no frames" ]
    run "$VALISE" get-node src/link
    stdout_has "link src/link -> a.c"
    run "$VALISE" get-node .
    stdout_has "directory .  1 entry"
    chmod +x src/a.c
    run "$VALISE" get-node src/a.c
    stdout_has "Tree:   outdated"
    run "$VALISE" scan
    run "$VALISE" get-node src/a.c
    stdout_has "file src/a.c  4 B  executable"
    stdout_lacks "outdated"
    mv src/a.c src/z.c
    run "$VALISE" scan
    run "$VALISE" get-node src/z.c --view history
    stdout_has "  moved from src/a.c"
    mkdir many
    (cd many && seq 300 | xargs touch)
    run "$VALISE" scan
    run "$VALISE" get-node many
    stdout_has "directory many  300 entries" "(too many to be listed here: valise tree ls many)"
}
t 'a node is a head, what lies in it, and its frames' nodes

frames() {
    start
    run "$VALISE" put-frame src/a.c ../first --type summary --json
    local id
    id=$(json_get frameId)
    run "$VALISE" frame show "$id"
    cp "$OUT" ../shown
    run "$VALISE" frame show "${id:0:8}"
    cmp "$OUT" ../shown
    # First digits are those of a frame, and need no more than the whole id does.
    run "$VALISE" agent add reads --capability context:read
    run "$VALISE" frame show "${id:0:5}" --agent reads
    run "$VALISE" frame proof src/a.c --type summary --frame "${id:0:4}" --agent reads
    expect_exit 3 "$VALISE" frame show 0000000
    stderr_has "no frame begins with 0000000"
    expect_exit 6 "$VALISE" frame show abc
    stderr_has "'abc' is not an id of a frame" "4 or more"
    run "$VALISE" frame show "${id:0:8}"
    stdout_has "frame ${id:0:8}  summary, authored  22 B" "Agent:  local" "    in two parts"
    stdout_matches "^Of:     node $ID$"
    echo make >../recipe
    run "$VALISE" put-frame src/a.c ../second --recipe ../recipe --json
    run "$VALISE" frame show "$(json_get frameId)"
    stdout_has "notes, external  4 B"
    stdout_matches "^Of:     recipe $ID$"
    stdout_matches "^        node $ID$"
    run "$VALISE" frame proof src/a.c --type summary
    stdout_has "frame ${id:0:8} is in the slot, whose root is "
    grep -c '^    valise frame verify ' "$OUT" | grep -qx 2
    # What it prints is what to do with it.
    PATH=$(dirname "$VALISE"):$PATH
    grep '^    valise' "$OUT" >../verify.sh
    cd /
    run sh -e "$OLDPWD/../verify.sh"
    [ "$(grep -c '^the proof holds: it is in the set' "$OUT")" -eq 2 ]
    cd "$OLDPWD"
    run "$VALISE" frame proof src/a.c --type summary --frame "${id:0:8}" --json
    json_is member true
    expect_exit 3 "$VALISE" frame proof src/a.c --type none
    stderr_is "valise: 'src/a.c' has no frame of type none
hint: 'valise list-frames NODE' shows what there is"
    expect_exit 7 "$VALISE" frame verify "$id" "$id" AAAA
    stderr_lacks "valise validate"
    stderr_has "as one 'valise frame proof' printed them"
    run "$VALISE" frame proof src/a.c --frame "$id" --json
    json_is member false
    expect_exit 1 "$VALISE" frame verify "$(json_get root)" "$id" "$(json_get proof)"
    stdout_is "the proof holds: it is not in the set"
}
t 'a frame, and a proof that can be checked elsewhere' frames

earlier() {
    start
    run "$VALISE" put-frame src/a.c ../first --json
    local node
    node=$(json_get nodeId)
    echo changed >src/a.c
    run "$VALISE" get-head src/a.c
    stdout_has "fresh at the last scan (the file changed since)  local"
    "$VALISE" -q scan
    cd src
    run "$VALISE" get-node "$node"
    stdout_has "Tree:   an earlier version of it: \`valise get-node a.c\` shows today's"
    stdout_lacks "outdated"
    run "$VALISE" list-frames "$node"
    stdout_has "fresh (for an earlier version of the file)"
    run "$VALISE" get-node a.c
    stdout_lacks "Tree: "
    # A basis of the past where there is no head yet.
    run "$VALISE" put-frame a.c ../../second --type other --basis "$node"
    stdout_has "  put into the history; there is no head"
    expect_exit 5 "$VALISE" put-frame "$node" ../../second
}
t 'a node id of an earlier version shows that one and says so' earlier

narrow() {
    "$VALISE" -q init
    mkdir a-directory-with-a-long-name
    echo 1 >a-directory-with-a-long-name/and-a-file-with-one.c
    echo 1 >run
    chmod +x run
    "$VALISE" -q scan
    run "$TERMINAL" "$VALISE" --color never tree ls
    stdout_matches '^run +executable +2 B  [0-9a-f]{8}  [0-9a-f]{8}'
    # What nobody needs goes before a path is cut.
    run "$TERMINAL" "$VALISE" --color never tree ls a-directory-with-a-long-name
    stdout_matches '^a-directory-with-a-long-name/and-a-file-with-one.c  file   2 B  [0-9a-f]{8}.?$'
    stdout_lacks OBJECT
}
t 'on 80 columns paths are whole as long as they can be' narrow

statuses() {
    start
    run "$VALISE" status
    stdout_matches "^tree files: +2$" "^tree version: +1$" "^tree scanned: +$WHEN$"
}
t 'status says when the tree was looked at [L2]' statuses

done_testing
