#!/usr/bin/env bash
# 75-prune.sh -- old versions and what is known about files that are gone. [C30]
. "$(dirname "$0")/lib.sh"

# Five versions; src/old.c is gone since the fourth.
start() {
    "$VALISE" -q init
    mkdir src
    echo 1 >src/a.c
    echo old >src/old.c
    "$VALISE" -q scan
    echo "about a" | "$VALISE" -q put-frame src/a.c -
    echo "about old" | "$VALISE" -q put-frame src/old.c -
    echo "once more" | "$VALISE" -q put-frame src/old.c -
    for i in 2 3; do
        echo "$i" >src/a.c
        "$VALISE" -q scan
    done
    rm src/old.c
    "$VALISE" -q scan
    echo 5 >src/a.c
    "$VALISE" -q scan
}

seq_now() {
    "$VALISE" workspace hash --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["seq"])'
}

nothing() {
    start
    expect_exit 6 "$VALISE" prune
    stderr_has "nothing says what is old" "--dry-run" "valise retention set tree"
    expect_exit 6 "$VALISE" prune --dry-run
    expect_exit 6 "$VALISE" prune --versions 0
    expect_exit 2 "$VALISE" prune everything
}
t 'nothing goes unless somebody says what is old' nothing

dry() {
    start
    before=$(seq_now)
    run "$VALISE" prune --versions 2 --orphans --dry-run
    # shellcheck disable=SC2119
    stdout_is <<'OUT'
3 versions of the tree (10 nodes) would go; v4 would be the oldest
1 slot of what is gone (2 entries, 2 frames) would go
    src/old.c  notes
OUT
    [ "$before" = "$(seq_now)" ]
    "$VALISE" prune --versions 2 --orphans --dry-run --json >dry.json
    "$VALISE" prune --versions 2 --orphans --json >real.json
    sed 's/"dryRun":true/"dryRun":false/' dry.json | diff - real.json
    after=$(seq_now)
    run "$VALISE" prune --versions 2 --orphans
    # shellcheck disable=SC2119
    stdout_is <<'OUT'
0 versions of the tree (0 nodes) went; v4 is the oldest
0 slots of what is gone (0 entries, 0 frames) went
OUT
    [ "$after" = "$(seq_now)" ]
    run "$VALISE" validate
}
t 'a dry run tells what the real one does, and a second one writes nothing' dry

gone() {
    start
    then=$("$VALISE" log --json | sed -n 's/.*"seq":\([0-9]*\),.*"type":"frame:put".*/\1/p' | head -1)
    frame=$("$VALISE" list-frames src/old.c --json | sed -n 's/.*"frameId":"\([0-9a-f]*\)".*/\1/p' | head -1)
    node=$("$VALISE" get-node src/a.c --at v1 --json | sed -n 's/.*"nodeId":"\([0-9a-f]*\)".*/\1/p' | head -1)
    head=$("$VALISE" get-head src/a.c --json)
    run "$VALISE" prune --versions 2 --orphans
    run "$VALISE" tree list
    stdout_lacks " 3  20"
    expect_exit 1 "$VALISE" get-node src/a.c --at v3
    stderr_has "version 3 of the tree was pruned: 4 is the oldest"
    run "$VALISE" get-node src/a.c --at v4
    expect_exit 3 "$VALISE" get-node "$node"
    stderr_has "versions before v4 were pruned"
    expect_exit 3 "$VALISE" frame show "$frame"
    stderr_has "may have been pruned"
    expect_exit 1 "$VALISE" list-frames src/old.c --at "$then"
    stderr_has "was pruned"
    [ "$head" = "$("$VALISE" get-head src/a.c --json)" ]
    run "$VALISE" validate
}
t 'what was pruned says so, and nothing else changed' gone

pinned() {
    start
    "$VALISE" -q pin add before
    run "$VALISE" prune --versions 1 --orphans
    stdout_has "0 slots of what is gone" "held by pins: 0 versions, 1 slot"
    "$VALISE" -q pin remove before
    run "$VALISE" prune --orphans
    stdout_has "1 slot of what is gone (2 entries, 2 frames) went"
}
t 'a pin holds what there was' pinned

policy() {
    start
    expect_exit 6 "$VALISE" retention set tree --bytes 100
    stderr_has "bytes are not counted for the history tree"
    run "$VALISE" retention set tree --keep-latest 2
    run "$VALISE" retention set orphans --age 1ms
    run "$VALISE" prune --dry-run
    stdout_has "3 versions of the tree (10 nodes) would go" "1 slot of what is gone"
    run "$VALISE" gc --json
    json_is rows 18
    run "$VALISE" prune
    stdout_has "0 versions of the tree" "0 slots"
}
t 'limits of retention, and gc' policy

# Killed in the middle: what is left is found by the next one. [Q16]
killed() {
    "$VALISE" -q init
    mkdir d
    for i in $(seq 40); do echo "$i" >"d/f$i"; done
    "$VALISE" -q scan
    for round in 1 2 3 4 5 6; do
        for i in $(seq 40); do echo "$round $i" >"d/f$i"; done
        "$VALISE" -q scan
    done
    for pause in 0.01 0.03 0.06 0.1 0.2; do
        "$VALISE" -q prune --versions 2 &
        pid=$!
        sleep "$pause"
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
        run "$VALISE" validate
    done
    run "$VALISE" prune --versions 2
    run "$VALISE" validate
    [ "$("$VALISE" tree list --json | wc -l)" = 2 ]
    run "$VALISE" prune --versions 2
    stdout_has "0 versions of the tree (0 nodes) went; v6 is the oldest"
}
t 'kill -9 in the middle, and again' killed

# Two at once, and one that writes meanwhile.
crowd() {
    start
    "$VALISE" -q prune --versions 1 --orphans &
    one=$!
    "$VALISE" -q prune --versions 1 --orphans &
    two=$!
    echo "new words" | "$VALISE" -q put-frame src/a.c -
    wait "$one"
    wait "$two"
    run "$VALISE" prune --versions 1 --orphans
    stdout_has "0 slots"
    run "$VALISE" validate
}
t 'several processes at once' crowd

done_testing
