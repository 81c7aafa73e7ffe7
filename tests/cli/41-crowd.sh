#!/usr/bin/env bash
# 41-crowd.sh -- eight who write at once, each with the command itself. [K10 K11 K33 Q16]
. "$(dirname "$0")/lib.sh"

WORKERS=8 BATCHES=7 IN_A_BATCH=70 SINGLE=10 # 500 commands of each
ALL=$((WORKERS * (BATCHES * IN_A_BATCH + SINGLE)))

# Commands 1 to 500 of one worker, in this order: batches, with a single one behind each, and more
# single ones at the end. Fails with what failed first.
work() {
    local worker=$1 n=0 batch i single=0
    for ((batch = 0; batch < BATCHES; batch++)); do
        for ((i = 0; i < IN_A_BATCH; i++)); do
            n=$((n + 1))
            printf '{"type":"pin:add","payload":{"name":"w%d-%03d","target":"1"}}\n' "$worker" "$n"
        done >"batch-$worker"
        "$VALISE" -q batch "batch-$worker" || return
        n=$((n + 1)) single=$((single + 1))
        "$VALISE" -q pin add "$(printf 'w%d-%03d' "$worker" "$n")" 1 || return
    done
    for (( ; single < SINGLE; single++)); do
        n=$((n + 1))
        "$VALISE" -q pin add "$(printf 'w%d-%03d' "$worker" "$n")" 1 || return
    done
}

# The names in the order of the log, with the seqs in front.
read_log() {
    "$VALISE" log list --json --limit 100000 >entries || return
    sed -n 's/.*"name\\*":\\*"\(w[0-9]*-[0-9]*\)\\*".*"seq":\([0-9]*\).*/\2 \1/p' entries |
        sort -n >order
}

crowd() {
    local worker pids=()
    "$VALISE" -q init
    for ((worker = 0; worker < WORKERS; worker++)); do
        work "$worker" >"said-$worker" 2>&1 &
        pids+=($!)
    done
    for ((worker = 0; worker < WORKERS; worker++)); do
        wait "${pids[worker]}" || fail "worker $worker: $(cat "said-$worker")"
    done
    read_log
    lib_checked
    # Nothing is lost, and nothing is there twice.
    [ "$(wc -l <order)" = "$ALL" ] || fail "$(wc -l <order) commands in the log"
    [ "$("$VALISE" pin list --json | wc -l)" = "$ALL" ]
    [ "$(cut -d' ' -f2 order | sort -u | wc -l)" = "$ALL" ]
    # One order without gaps, in which everybody's commands stand as they were given.
    seq 2 $((ALL + 1)) >numbers
    cut -d' ' -f1 order | cmp - numbers
    for ((worker = 0; worker < WORKERS; worker++)); do
        sed -n "s/.* w$worker-//p" order >own
        sort -c own
        [ "$(wc -l <own)" = 500 ]
    done
    # A batch is one piece: its first command and its last are as far apart as they should be.
    awk -v size="$IN_A_BATCH" -v batches="$BATCHES" '{
        split($2, part, "-"); n = part[2] + 0; round = (n - 1) % (size + 1)
        if (n > batches * (size + 1)) next
        if (round == 0) first[part[1]] = $1
        else if (round < size && $1 != first[part[1]] + round) { print "torn: " $0; bad = 1 }
    } END { exit bad }' order
    run "$VALISE" validate
}

# Eight who each write into a file of their own and say something about it, and eight who scan: what
# one of them sees of the files is out of date all the time, through no fault of its own.
note() {
    local i
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        echo "$i" >>"file-$1" || return
        echo "note $i" | "$VALISE" -q put-frame "file-$1" - || return
    done
}

look() {
    local i
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        "$VALISE" -q scan || return
    done
}

notes() {
    local worker pids=()
    mkdir ../notes && cd ../notes
    "$VALISE" -q init
    for ((worker = 0; worker < WORKERS; worker++)); do
        echo 0 >"file-$worker"
    done
    "$VALISE" -q scan
    for ((worker = 0; worker < WORKERS; worker++)); do
        note "$worker" >"../said-note-$worker" 2>&1 &
        pids+=($!)
        look >"../said-look-$worker" 2>&1 &
        pids+=($!)
    done
    for worker in "${pids[@]}"; do
        wait "$worker" || fail "$(cat ../said-note-* ../said-look-*)"
    done
    cat ../said-note-* ../said-look-* | cmp - /dev/null
    for ((worker = 0; worker < WORKERS; worker++)); do
        [ "$("$VALISE" list-frames "file-$worker" --json | grep -c frameId)" = 12 ]
        [ "$("$VALISE" get-head "file-$worker" --type notes)" = 'note 12' ]
    done
    run "$VALISE" validate
}

t 'eight processes, five hundred commands each, one order and nothing lost' crowd
t 'eight processes, each with a file of its own, and eight who scan: all succeed' notes

done_testing
