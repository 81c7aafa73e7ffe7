#!/bin/bash
# 68-looks.sh -- what reads and puts see of the files, and whom they tell what.
. "$(dirname "$0")/lib.sh"

as_other() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
    else
        "$@"
    fi
}

expects() {
    run "$VALISE" init
    mkdir secret app
    echo s >secret/x
    echo a >app/x
    run "$VALISE" scan
    echo hidden >../text
    run "$VALISE" put-frame secret/x ../text --type t
    run "$VALISE" agent add w --capability 'context:write path=app/**'
    for expect in null '"1111111111111111111111111111111111111111111111111111111111111111"'; do
        expect_exit 4 "$VALISE" put-frame secret/x ../text --type t --agent w --expect "$expect"
        stderr_has "context:write"
        stderr_lacks "expects"
        expect_exit 4 "$VALISE" put-frame secret/none ../text --agent w --expect "$expect"
    done
    expect_exit 5 "$VALISE" put-frame app/x ../text --agent w --expect \
        '"1111111111111111111111111111111111111111111111111111111111111111"'
    stderr_has "there is null"
    run "$VALISE" put-frame app/x ../text --agent w --expect null
}
t 'who may not put something is not told what is there [C7] [C10]' expects

# Two files that changed, and nobody who may record that by itself.
batches() {
    run "$VALISE" init
    echo a >f
    echo b >g
    run "$VALISE" scan
    run "$VALISE" agent add syn --role synthesis
    run "$VALISE" agent add narrow --capability 'context:write path=*'
    cat >../batch <<'EOF'
{"type":"frame:put","payload":{"node":"f","content":"aGk="}}
{"type":"frame:put","payload":{"node":"g","content":"aGk="}}
EOF
    echo a2 >f
    echo b2 >g
    run "$VALISE" batch --dry-run ../batch
    run "$VALISE" scan
    stdout_has "2 changed"
    for who in syn narrow; do
        echo "a $who" >f
        echo "b $who" >g
        run "$VALISE" batch --actor "$who" ../batch
        for file in f g; do
            run "$VALISE" get-head "$file" --type notes --json
            json_is state fresh
            json_is agent "$who"
        done
        run "$VALISE" scan
        stdout_has "nothing changed"
    done
    run "$VALISE" validate
}
t 'a batch of puts sees all files that changed, whoever it is of [C10]' batches

gone() {
    run "$VALISE" init
    echo 1 >a
    run "$VALISE" scan
    echo x >../text
    run "$VALISE" put-frame a ../text
    mv a b
    expect_exit 3 "$VALISE" put-frame a ../text
    run "$VALISE" get-node a --json
    json_is meta.tree outdated
    run "$VALISE" put-frame b ../text --dry-run
    run "$VALISE" get-node a --json
    json_is meta.tree outdated
    rm .valise/tree-cache
    run "$VALISE" get-node a --json
    json_is meta.tree outdated
    run "$VALISE" list-frames a
    stdout_has "the file changed since"
    mv b a
    echo 22 >a
    run "$VALISE" get-node a --json
    json_is meta.tree outdated
}
t 'what is not there is outdated, whatever is known of the last look [C10]' gone

imported() {
    mkdir from to
    (
        cd from
        run "$VALISE" init
        echo 1 >a
        run "$VALISE" scan
        echo x | run "$VALISE" put-frame a -
        run "$VALISE" export ../../bundle
    )
    cd to
    run "$VALISE" init
    run "$VALISE" import ../../bundle
    run "$VALISE" list-frames a
    stdout_has "the file changed since"
}
t 'so is what came with a bundle, without the files [C10]' imported

closed() {
    [ "$(id -u)" -ne 0 ] || need setpriv
    mkdir ws && cd ws
    mkdir -p d/s
    echo 1 >d/s/b
    if [ "$(id -u)" -eq 0 ]; then
        chmod 711 "$LIB_ROOT" ..
        chown -R 65534:65534 .
        as_other test -x "$VALISE" || skip "nobody else may run $VALISE"
    fi
    run as_other "$VALISE" init
    run as_other "$VALISE" scan
    echo said | run as_other "$VALISE" put-frame d/s/b -
    chmod 0 d
    run as_other "$VALISE" get-head d/s/b --type notes
    stdout_is said
    run as_other "$VALISE" list-frames d/s/b
    chmod 755 d
}
t 'what is known of a file can be read where the file cannot [C10]' closed

scanned() {
    run "$VALISE" init
    mkdir d
    echo a >f
    echo b >d/g
    run "$VALISE" scan
    touch -d 2020-01-01T00:00:00Z .valise/tree-cache
    echo x >../text
    echo c >f
    run "$VALISE" put-frame f ../text
    echo c >d/g
    run "$VALISE" scan d
    run "$VALISE" put-frame d ../text
    run "$VALISE" status
    stdout_matches "^tree scanned: +2020-01-01T"
    run "$VALISE" scan
    run "$VALISE" status
    stdout_lacks "2020-01-01T"
    # A part that becomes the whole has looked at all of it.
    touch -d 2020-01-01T00:00:00Z .valise/tree-cache
    rm f
    run "$VALISE" scan f
    run "$VALISE" status
    stdout_lacks "2020-01-01T"
}
t 'when the tree was scanned is when all of it was looked at [L2]' scanned

checked() {
    run "$VALISE" init
    mkdir d old
    for file in a b c d/e old/f; do
        echo "$file" >"$file"
    done
    run "$VALISE" scan
    for file in a b c d/e d old/f; do
        echo "$file" | run "$VALISE" put-frame "$file" -
    done
    echo other >a
    rm b
    echo more >d/e
    mv old new
    run "$VALISE" status --check
    stdout_matches "^current frames fresh: +2" # c, old/f
    stdout_matches "^current frames stale: +3" # a, d, d/e
    stdout_matches "^current frames orphaned: +1"
    run "$VALISE" scan
    run "$VALISE" status --check
    stdout_matches "^current frames fresh: +2"
    stdout_matches "^current frames stale: +3"
    stdout_matches "^current frames orphaned: +1"
}
t 'status --check counts heads by the files as they are [L2]' checked

no_rules() {
    [ "$(id -u)" -ne 0 ] || need setpriv
    mkdir ws && cd ws
    echo '*.o' >.gitignore
    if [ "$(id -u)" -eq 0 ]; then
        chmod 711 "$LIB_ROOT" ..
        chown -R 65534:65534 .
        as_other test -x "$VALISE" || skip "nobody else may run $VALISE"
    fi
    run as_other "$VALISE" init
    chmod 0 .gitignore
    expect_exit 1 as_other "$VALISE" scan
    stderr_has "its rules were not applied"
}
t 'a rule file that cannot be read is said not to count [C3]' no_rules

named_views() {
    run "$VALISE" init
    echo 1 >a
    run "$VALISE" scan
    run "$VALISE" config set view.heads.spec max=1
    expect_exit 6 "$VALISE" get-node a --view heads
    stderr_has "cannot be called 'heads'" "view.heads.spec"
    run "$VALISE" get-node a --view heads,type
}
t 'no view is called like a word of views [C14]' named_views

large() {
    run "$VALISE" init
    echo 1 >a
    run "$VALISE" scan
    truncate -s 60000000 ../large
    expect_exit 1 "$VALISE" put-frame a ../large
    stderr_has "the content has 60000000 bytes"
}
t 'a content that is too large is called so [C10]' large

prefixes() {
    run "$VALISE" init
    for i in $(seq 300); do
        echo "$i" >"$i"
    done
    run "$VALISE" scan
    local twice
    twice=$("$VALISE" tree ls --json | grep -o '"nodeId":"....' | sort | uniq -d | head -n 1)
    [ -n "$twice" ] || skip "no two nodes begin alike"
    twice=${twice##*\"}
    expect_exit 5 "$VALISE" get-node "$twice"
    stderr_has "'$twice' is ambiguous: $twice" "hint: give more digits, or the path"
    # Who may put something in one place hears of no nodes elsewhere.
    run "$VALISE" agent add w --capability 'context:write path=1'
    echo x >../text
    expect_exit 5 "$VALISE" put-frame 1 ../text --basis "$twice" --agent w
    stderr_has "'$twice' is ambiguous" "hint: give more digits"
    stderr_lacks "ambiguous: $twice"
}
t 'first digits of several nodes are refused with what they could be [C4]' prefixes

# Under a directory that is gone nothing is. [L2]
buried() {
    "$VALISE" -q init
    mkdir -p d/e
    echo 1 >d/f
    echo 2 >d/e/g
    echo 3 >k
    "$VALISE" -q scan
    for p in d d/f d/e d/e/g k; do echo "$p" | "$VALISE" put-frame "$p" - -q; done
    mv d ../away
    run "$VALISE" status --check
    stdout_matches '^current frames fresh: +1$'
    stdout_matches '^current frames orphaned: +4$'
    echo 4 >d # no directory any more
    run "$VALISE" status --check
    stdout_matches '^current frames orphaned: +4$'
    rm d
    mv ../away elsewhere # moved: it goes along
    run "$VALISE" status --check
    stdout_matches '^current frames fresh: +5$'
}
t 'status --check knows that nothing is under a directory that is gone' buried

# Who may read some frames cannot spell out the ids of others. [C7]
spelt() {
    local hidden
    "$VALISE" -q init
    mkdir secret app
    echo 1 >secret/x
    echo 2 >app/y
    "$VALISE" -q scan
    echo hidden | "$VALISE" put-frame secret/x - -q
    echo open | "$VALISE" put-frame app/y - -q
    "$VALISE" -q agent add w --capability 'context:read path=app/**'
    hidden=$("$VALISE" get-head secret/x --json | "$VALISE" json get - /frameId | tr -d '"')
    for digits in "${hidden:0:4}" "${hidden:0:20}" 0000; do
        expect_exit 4 "$VALISE" frame show "$digits" --agent w
        expect_exit 4 "$VALISE" frame proof app/y --frame "$digits" --agent w
        stderr_has 'all 64 digits'
        stderr_lacks "${hidden:0:21}"
    done
    run "$VALISE" frame proof app/y --agent w
    run "$VALISE" frame show "$("$VALISE" get-head app/y --json | "$VALISE" json get - /frameId | tr -d '"')" --agent w
    stdout_has open
    run "$VALISE" frame show "${hidden:0:8}"
    stdout_has hidden
}
t 'first digits are for who may read all frames' spelt

done_testing
