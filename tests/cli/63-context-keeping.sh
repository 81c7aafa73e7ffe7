#!/usr/bin/env bash
# 63-context-keeping.sh -- what lasts of trees and frames, with the command itself: copies, parts,
# garbage, erasure, damage, events, kill -9, full disks.
# [C4 C11 K15 K20 K21 K22 K30 K33 K36]
. "$(dirname "$0")/lib.sh"

# A workspace in a folder, with files, frames, a move and a slot that was closed.
start() {
    mkdir "$1"
    cd "$1"
    "$VALISE" -q init
    mkdir src
    echo one >src/a.c
    echo two >src/b.c
    echo three >c.c
    "$VALISE" -q scan
    echo 'words about a' | "$VALISE" -q put-frame src/a.c -
    echo 'better words about a' | "$VALISE" -q put-frame src/a.c -
    echo 'a program' >../recipe
    echo 'made by it' | "$VALISE" -q put-frame src/b.c - --type summary --recipe ../recipe
    echo 'all of it' | "$VALISE" -q put-frame . -
    echo 'a file' | "$VALISE" -q put-frame c.c -
    rm c.c
    mkdir c.c
    echo four >c.c/x
    echo 'a folder' | "$VALISE" -q put-frame c.c -
    mv src lib
    "$VALISE" -q scan
    cd ..
}

elsewhere() {
    mkdir "$1"
    cd "$1"
    "$VALISE" -q init
}

# What reads say, without where and when.
known() {
    local path
    for path in . lib lib/a.c lib/b.c c.c; do
        "$VALISE" get-node "$path" --view history,recency --no-scan --json
    done
    "$VALISE" frame proof lib/a.c --no-scan --json
}

tree_id() {
    "$VALISE" events --types tree.changed --limit 1 --json | "$VALISE" json get - /payload/tree | tr -d '"'
}

copies() {
    start from
    cd from
    run "$VALISE" export ../whole.vb
    known >../known
    "$VALISE" workspace hash --json >../hash
    cd ..
    elsewhere to
    run "$VALISE" import ../whole.vb --json
    json_is restored true
    known | cmp - ../known
    "$VALISE" workspace hash --json | cmp - ../hash
    run "$VALISE" validate
    stdout_is_empty
    run "$VALISE" import ../whole.vb --json
    json_is rows 0
    json_is seq 0
    "$VALISE" workspace hash --json | cmp - ../hash
}
t 'a copy knows what the original knows' copies

beside() {
    start from
    (cd from && "$VALISE" -q export ../whole.vb)
    elsewhere own
    echo mine >a.c
    "$VALISE" -q scan
    echo 'my words' | "$VALISE" -q put-frame a.c -
    "$VALISE" get-node a.c --json >../before
    run "$VALISE" import ../whole.vb --json
    json_is restored false
    "$VALISE" get-node a.c --json | cmp - ../before
    run "$VALISE" tree list --json
    [ "$(wc -l <"$OUT")" -eq 1 ] || fail "the other tree's versions are listed"
    run "$VALISE" validate
    stdout_is_empty
    run "$VALISE" import ../whole.vb --json
    json_is rows 0
    json_is seq 0
    frame=$(cd ../from && "$VALISE" get-head lib/b.c --type summary --json | "$VALISE" json get - /frameId)
    run "$VALISE" frame show "${frame//\"/}" --json
    json_is text 'made by it'
}
t 'the tree of another workspace stands beside the own one' beside

parts() {
    start from
    cd from
    id=$(tree_id)
    frame=$("$VALISE" get-head lib/b.c --type summary --json | "$VALISE" json get - /frameId)
    run "$VALISE" export ../tree.vb "tree/$id"
    run "$VALISE" export ../slot.vb "slot/$id/lib%2Fa.c/notes"
    run "$VALISE" export ../frame.vb "frame/${frame//\"/}"
    expect_exit 3 "$VALISE" export ../none.vb "slot/$id/lib%2Fz.c/notes"
    stderr_has "lib/z.c"
    cd ..
    for part in tree slot frame; do
        elsewhere "of-$part"
        run "$VALISE" import "../$part.vb"
        run "$VALISE" validate
        stdout_is_empty
        run "$VALISE" frame show "${frame//\"/}" --json
        json_is text 'made by it'
        cd ..
    done
}
t 'parts have what they need' parts

garbage() {
    start from
    cd from
    known >../known
    "$VALISE" tree ls src --at v1 --json >../past
    run "$VALISE" retention set log --keep-latest 1
    run "$VALISE" gc --grace 0s --json
    json_is rows 0
    known | cmp - ../known
    "$VALISE" tree ls src --at v1 --json | cmp - ../past
    run "$VALISE" validate
    expect_exit 3 "$VALISE" retention set frames --keep-latest 1
    stderr_has "there is no history 'frames'" "log, backpack"
}
t 'gc and retention of the log leave old versions and frames alone' garbage

erased() {
    start from
    cd from
    frame=$("$VALISE" get-head lib/a.c --json | "$VALISE" json get - /frameId)
    frame=${frame//\"/}
    run "$VALISE" erase "frame/$frame" --reason 'too much'
    run "$VALISE" get-head lib/a.c --json
    json_is erased true
    json_is frameId "$frame"
    json_is state fresh
    run "$VALISE" frame proof lib/a.c --json
    json_is member true
    run "$VALISE" validate
    "$VALISE" -q gc --grace 0s
    ! grep -qa 'better words' .valise/valise.db || fail 'it is still in the file'
    echo 'better words about a' | "$VALISE" -q put-frame lib/a.c -
    run "$VALISE" get-head lib/a.c --json
    json_is erased false
    json_is frameId "$frame"
    run "$VALISE" validate
}
t 'what was erased is gone, ids stay, and it can be said again' erased

# Edit the file as somebody with a shell would.
edit() {
    python3 - "$1" <<'PY'
import sqlite3, sys
c = sqlite3.connect(".valise/valise.db")
n = c.execute(sys.argv[1]).rowcount
c.commit()
c.close()
assert n > 0, sys.argv[1]
PY
}

damaged() {
    start from
    for change in \
        "merkle=UPDATE merkle SET page = zeroblob(2) WHERE \"set\" = (SELECT id FROM tree)" \
        "slot=UPDATE slot SET head = (SELECT max(id) FROM frame), frames = 9" \
        "context_root=UPDATE context_root SET root = zeroblob(32)" \
        "context_root=UPDATE context_root SET frames = 99" \
        "tree_node=UPDATE tree_node SET hash = zeroblob(32) WHERE kind = 'file'" \
        "tree=UPDATE tree SET files = 99"; do
        rm -rf copy
        cp -r from copy
        cd copy
        edit "${change#*=}"
        expect_exit 7 "$VALISE" validate --json
        stdout_has "\"place\":\"${change%%=*} " '"remedy":"'
        stderr_has 'found'
        cd ..
    done
}
t 'validate finds what was edited in the file' damaged

events() {
    start from
    cd from
    run "$VALISE" events
    stdout_has tree.changed frame.added head.moved slot.moved slot.closed 'path=lib/a.c' 'from=src/a.c'
    run "$VALISE" events --types 'slot.*' --json
    [ "$(wc -l <"$OUT")" -eq 3 ] || fail "$(cat "$OUT")" # two moved, one was closed
    "$VALISE" -q scan
    run "$VALISE" events --types tree.changed --json
    [ "$(wc -l <"$OUT")" -eq 3 ] || fail "$(cat "$OUT")"
    ! grep -q 'words' "$OUT" || fail 'an event has a content'
}
t 'whatever happens makes an event' events

# At whatever moment: the store is sound, and a second run does the rest.
killed() {
    mkdir ws
    cd ws
    "$VALISE" -q init
    for d in 1 2 3 4 5 6 7 8; do
        mkdir "$d"
        for f in 1 2 3 4 5 6 7 8 9; do echo "$d $f" >"$d/$f.c"; done
    done
    for wait in 0.02 0.15; do
        "$VALISE" -q scan --force &
        pid=$!
        sleep "$wait"
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
        run "$VALISE" validate
        echo "$wait" >1/1.c
    done
    run "$VALISE" scan
    run "$VALISE" validate
    for f in 1 2 3 4; do
        printf '{"type":"frame:put","payload":{"node":"2/%s.c","content":"%s"}}\n' "$f" \
            "$(printf 'words %s' "$f" | base64)"
    done >../batch
    for wait in 0.05 0.2; do
        "$VALISE" -q batch ../batch >/dev/null &
        pid=$!
        sleep "$wait"
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
        run "$VALISE" validate
    done
    run "$VALISE" batch ../batch
    for f in 1 2 3 4; do
        run "$VALISE" get-head "2/$f.c" --json
        json_is text "words $f"
        json_is state fresh
    done
    run "$VALISE" validate
}
t 'kill -9 in the middle of scans and puts harms nothing' killed

full() {
    start from
    cd from
    head -c 200000 /dev/urandom >../large
    "$VALISE" workspace hash --json >../hash
    expect_exit 1 bash -c 'ulimit -f 64; exec "$VALISE" put-frame lib/a.c ../large'
    stderr_has valise.db 'hint: '
    "$VALISE" workspace hash --json | cmp - ../hash
    run "$VALISE" validate
    run "$VALISE" put-frame lib/a.c ../large
    run "$VALISE" validate
}
t 'a disk that is full is an error, and nothing is lost' full

done_testing
