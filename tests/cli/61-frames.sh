#!/usr/bin/env bash
# 61-frames.sh -- what is known about files, with the command itself. [C7] [C8] [C10] [C12] [C13]
. "$(dirname "$0")/lib.sh"

start() {
    run "$VALISE" init
    mkdir src
    echo one >src/a.c
    echo two >src/b.c
    run "$VALISE" scan
    echo 'about a' >../notes.md
}

# ---- one after the other ----

first() {
    start
    run "$VALISE" put-frame src/a.c ../notes.md --type summary --json
    json_is existed false
    json_is path src/a.c
    run "$VALISE" put-frame src/a.c ../notes.md --type summary --json
    json_is existed true
    run "$VALISE" get-head src/a.c --type summary --json
    json_is state fresh
    json_is text 'about a'
    run "$VALISE" list-frames src/a.c
    stdout_has summary
    run "$VALISE" get-node src/a.c --view 'recency,max=1' --json
    json_is returned 1
    json_is node.path src/a.c
    expect_exit 6 "$VALISE" get-node src/a.c --view 'recency,best'
    stderr_has "'best' is not known"
    expect_exit 3 "$VALISE" get-node nothing.c
    stderr_has "nothing.c"
    expect_exit 3 "$VALISE" put-frame src/a.c nothing.md
    echo 'from stdin' | "$VALISE" put-frame src/b.c - >/dev/null
    run "$VALISE" get-head src/b.c --json
    json_is text 'from stdin'
    run "$VALISE" validate
}
t 'frames are put and read' first

# The file changes behind the tree: a put looks at it first, a read says so. [C10]
outdated() {
    start
    run "$VALISE" put-frame src/a.c ../notes.md
    echo changed >src/a.c
    run "$VALISE" get-node src/a.c --json
    json_is meta.tree outdated
    json_is frames[0].state fresh
    echo 'about the change' >../more.md
    run "$VALISE" put-frame src/a.c ../more.md
    run "$VALISE" get-node src/a.c --json --view history,recency
    json_is frames[0].state fresh
    json_is frames[1].state stale
    json_is frames[1].reasons[0].reason node-changed
    echo again >src/a.c
    run "$VALISE" put-frame src/a.c ../notes.md --no-scan
    run "$VALISE" scan
    run "$VALISE" get-head src/a.c --json
    json_is state stale
    echo changed >src/a.c
    run "$VALISE" scan
    run "$VALISE" get-head src/a.c --json
    json_is state fresh
}
t 'a put looks at the file, a read says that it changed' outdated

moved() {
    start
    run "$VALISE" put-frame src/a.c ../notes.md
    run "$VALISE" put-frame src ../notes.md
    mv src lib
    run "$VALISE" scan
    run "$VALISE" get-head lib/a.c --json
    json_is state fresh
    json_is meta.movedFrom src/a.c
    run "$VALISE" validate
}
t 'a moved directory takes along what is known about it' moved

agents() {
    start
    run "$VALISE" agent add reader --role reader
    run "$VALISE" agent add writer --role writer
    expect_exit 4 "$VALISE" put-frame src/a.c ../notes.md --agent reader
    stderr_has "context:write"
    run "$VALISE" put-frame src/a.c ../notes.md --agent writer
    run "$VALISE" get-node src/a.c --agent reader --json
    json_is frames[0].agent writer
    expect_exit 4 "$VALISE" put-frame src/a.c ../notes.md --agent nobody
}
t 'agents write as themselves' agents

# What is there already is answered only when it is what was said. [C8]
differs() {
    mkdir ../differs && cd ../differs
    "$VALISE" -q init && echo a >f
    echo na | "$VALISE" -q put-frame f -
    run "$VALISE" put-frame f - <<<na
    stdout_has 'is the head already'
    python3 -c '
import sqlite3
c = sqlite3.connect(".valise/valise.db")
size = c.execute("update object set body = ? where body = ?", (b"nb\n", b"na\n")).rowcount
assert size == 1, size
c.commit()'
    run "$VALISE" log list --json
    cp "$OUT" before
    expect_exit 7 "$VALISE" put-frame f - <<<na
    stderr_has 'valise validate'
    run "$VALISE" log list --json
    cmp before "$OUT"
}
t 'a frame of which the stored bytes differ is not said to be there [C8]' differs

proof() {
    local root key proof
    start
    run "$VALISE" put-frame src/a.c ../notes.md
    run "$VALISE" frame proof src/a.c --json
    root=$(json_get root) key=$(json_get frameId) proof=$(json_get proof)
    cd /
    run "$VALISE" frame verify "$root" "$key" "$proof" --json
    json_is member true
    expect_exit 7 "$VALISE" frame verify "$key" "$key" "$proof"
}
t 'a proof needs no workspace' proof

# ---- eight at once ----

WORKERS=8 BATCHES=7 IN_A_BATCH=70 SINGLE=10 # 500 frames of each

# Frames 1 to 500 of one worker, all in the same slot: batches, with single ones behind them.
work() {
    local worker=$1 n=0 batch single=0
    for ((batch = 0; batch < BATCHES; batch++)); do
        python3 -c '
import base64, sys
worker, n, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for i in range(n + 1, n + count + 1):
    content = base64.b64encode(("w%s-%03d" % (worker, i)).encode()).decode()
    print("{\"type\":\"frame:put\",\"payload\":{\"node\":\"src/a.c\",\"content\":\"%s\"}}" % content)
' "$worker" "$n" "$IN_A_BATCH" >"../batch-$worker"
        "$VALISE" -q batch "../batch-$worker" || return
        n=$((n + IN_A_BATCH + 1)) single=$((single + 1))
        printf 'w%d-%03d' "$worker" "$n" >"../file-$worker"
        "$VALISE" -q put-frame src/a.c "../file-$worker" || return
    done
    for (( ; single < SINGLE; single++)); do
        n=$((n + 1))
        printf 'w%d-%03d' "$worker" "$n" >"../file-$worker"
        "$VALISE" -q put-frame src/a.c "../file-$worker" || return
    done
}

# None is lost; the head is the frame of the highest seq; each worker's are in its own order.
crowd() {
    local worker pids=()
    start
    for ((worker = 0; worker < WORKERS; worker++)); do
        work "$worker" >"../said-$worker" 2>&1 &
        pids+=($!)
    done
    for worker in "${!pids[@]}"; do
        wait "${pids[$worker]}" || { cat "../said-$worker" && return 1; }
    done
    "$VALISE" get-node src/a.c --view history,recency,max=10000 --json >../all
    python3 -c '
import json, sys
frames = json.load(open("../all"))["frames"]
workers, each = int(sys.argv[1]), int(sys.argv[2])
assert len(frames) == workers * each, len(frames)
seqs = [f["meta"]["seq"] for f in frames]
assert seqs == sorted(seqs, reverse=True) and len(set(seqs)) == len(seqs)
assert [f["head"] for f in frames] == [True] + [False] * (len(frames) - 1)
assert [f["meta"]["entry"] for f in frames] == list(range(len(frames), 0, -1))
for w in range(workers):
    mine = [f["text"] for f in reversed(frames) if f["text"].startswith("w%d-" % w)]
    assert mine == ["w%d-%03d" % (w, n) for n in range(1, each + 1)], mine[:3]
' "$WORKERS" $((BATCHES * IN_A_BATCH + SINGLE))
    run "$VALISE" validate
}
t 'eight processes put 500 frames each: none is lost, heads are in the order of seqs' crowd

done_testing
