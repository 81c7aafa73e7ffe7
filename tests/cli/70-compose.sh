#!/usr/bin/env bash
# 70-compose.sh -- what is known about a file and around it, with the command itself. [C25] [C26]
. "$(dirname "$0")/lib.sh"
export TERMINAL=$LIB_DIR/on_terminal.py

ID='[0-9a-f]{8}'

say() {
    printf '%s' "$3" | "$VALISE" -q put-frame "$1" - --type "$2"
}

start() {
    "$VALISE" -q init
    mkdir -p src/lib
    echo one >src/a.c
    echo two >src/b.c
    echo three >src/lib/c.c
    echo readme >README
    "$VALISE" -q scan
    say src/a.c summary 'Parses dates.'
    say src/b.c summary 'Prints a date in words.'
    say src notes 'All about time.'
    say . summary 'A program.'
    say README notes 'How to begin.'
}

words() {
    start
    run "$VALISE" compose src/a.c
    stdout_matches "^src/a.c  node  summary $ID  fresh  local  3 tokens$"
    stdout_matches "^src  parent  notes $ID  fresh  local  5 tokens$"
    stdout_matches "^src/b.c  sibling  summary $ID  fresh  local  7 tokens$"
    stdout_matches "^\.  ancestor  summary $ID  fresh  local  3 tokens$"
    stdout_has "    Parses dates." "    All about time."
    stdout_lacks "How to begin"
    tail -1 "$OUT" | grep -qE "^4 frames, 18 tokens, policy $ID$"
    [ "$(grep -c '^    ' "$OUT")" = 4 ]
    run "$VALISE" compose src/a.c --policy sources=node+parent,max=1
    [ "$(tail -3 "$OUT" | head -1 | cut -d, -f1)" = "1 of 2 frames" ]
    tail -2 "$OUT" | grep -qx "over the limits: 1 frame"
    stdout_matches "^    src notes $ID$"
    run "$VALISE" compose src/lib/c.c --policy sources=node
    stdout_matches "^no frames, policy $ID$"
    run "$VALISE" compose src/a.c --related README --policy sources=node
    stdout_matches "^README  related  notes $ID  fresh  local  5 tokens$"
}
t 'frames with a line above each, and how much there was' words

paths() {
    start
    cd src
    run "$VALISE" compose a.c --related ../README --related lib
    stdout_matches "^a.c  node  summary"
    stdout_matches "^\.  parent  notes"
    stdout_matches "^\.\./README  related  notes"
    stdout_matches "^\.\.  ancestor  summary"
    run "$VALISE" compose . --policy sources=children
    stdout_matches "^a.c  child  summary"
}
t 'paths count from the current folder' paths

explained() {
    start
    run "$VALISE" compose src/a.c --explain --query 'printing a DATE' --policy types=summary
    [ "$(head -1 "$OUT" | tr -s ' ')" = \
        "PATH RELATION TYPE FRAME STATE SCORE +RELATION +TYPE +AGENT +FRESH +QUERY" ]
    sed -n 2p "$OUT" | tr -s ' ' |
        grep -qE "^src/a.c node summary $ID fresh 1350 1000 200 0 150 0$"
    sed -n 3p "$OUT" | tr -s ' ' |
        grep -qE "^src/b.c sibling summary $ID fresh 830 400 200 0 150 80$"
    stdout_lacks "Parses"
    run "$VALISE" compose src/a.c --explain --policy agents=local,type --json
    json_is entries[0].score.agent 100
}
t 'scores in a table' explained

# The parts are what --explain is for: on a terminal the reason of a state is cut before them.
too_wide() {
    [ "$(sed 's/…/./g' "$OUT" | tr -d '\r' | awk 'length($0) > 80' | wc -l)" = 0 ] || fail 'over 80 columns'
}

narrow() {
    start
    echo more >>src/a.c
    run "$VALISE" scan
    TERM=xterm run "$TERMINAL" --columns 80 "$VALISE" --no-pager --color never compose src/a.c --explain
    stdout_has '+RELATION  +TYPE  +AGENT  +FRESH  +QUERY' 'stale: t'
    too_wide
    TERM=xterm run "$TERMINAL" --columns 80 "$VALISE" --no-pager --color never list-frames src/a.c
    stdout_has 'HEAD  STATE' 'stale: the file changed'
    too_wide
}
t 'scores on a terminal' narrow

policies() {
    start
    expect_exit 6 "$VALISE" compose src/a.c --policy 'recency,best'
    stderr_has "policy: 'best' is not known" "hint: parts are relevance, recency"
    expect_exit 6 "$VALISE" compose src/a.c --policy custom=best
    stderr_has "there is no order 'best'"
    expect_exit 3 "$VALISE" compose src/none.c
    expect_exit 3 "$VALISE" compose src/a.c --related none
    run "$VALISE" config set compose.brief.spec 'sources=node,max_tokens=200'
    run "$VALISE" compose src/a.c --policy brief --json
    json_is returned 1
    json_is policy 'relevance,sources=node,max=100,max_bytes=1048576,max_tokens=200'
    local hash
    hash=$(json_get policyHash)
    run "$VALISE" compose src/a.c --policy max_tokens=200,sources=node --json
    json_is policyHash "$hash"
}
t 'policies have names and hashes, and bad ones say what is bad' policies

# The file is not what the tree says: that is told of the node itself.
states() {
    start
    echo more >src/b.c
    "$VALISE" -q scan
    echo more >src/a.c
    run "$VALISE" compose src/a.c
    stdout_has "fresh at the last scan (the file changed since)" "stale: the file changed"
    run "$VALISE" compose src/a.c --policy state=stale --json
    json_is meta.tree outdated
    json_is entries[0].relation parent
    run "$VALISE" compose src/a.c --no-scan --json
    stdout_lacks outdated
}
t 'every entry says its state' states

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

broken() {
    start
    run "$VALISE" get-head src --json
    "$VALISE" -q erase "frame/$(json_get frameId)"
    edit "UPDATE object SET body = zeroblob(length(body)) WHERE body = CAST('A program.' AS BLOB)"
    run "$VALISE" compose src/a.c
    stdout_has "    Parses dates." "    Prints a date" "2 of 4 frames" "erased: 1 frame" \
        "damaged: 1 frame"
    run "$VALISE" compose src/a.c --json
    json_is missing[0].path src
    json_is corrupt[0].reason damaged
}
t 'what is erased or damaged is listed, and the rest is shown' broken

# Equal requests and states give equal bytes, wherever and whenever.
equal() {
    start
    cp -r . ../other-place
    local policy
    for policy in relevance recency type,types=notes 'agent,query=date' max=2,state=fresh; do
        run "$VALISE" compose src/a.c --policy "$policy" --explain --no-scan --json
        cp "$OUT" ../first
        run env TZ=Asia/Tokyo LC_ALL=tr_TR.UTF-8 "$VALISE" compose src/a.c --policy "$policy" \
            --explain --no-scan --json
        cmp "$OUT" ../first
        run env -C ../other-place TZ=America/Lima LC_ALL=C.UTF-8 "$VALISE" compose src/a.c \
            --policy "$policy" --explain --no-scan --json
        cmp "$OUT" ../first
        run "$VALISE" compose src/a.c --policy "$policy" --no-scan
        cp "$OUT" ../first
        run env -C ../other-place TZ=America/Lima LC_ALL=de_DE.UTF-8 "$VALISE" compose src/a.c \
            --policy "$policy" --no-scan
        cmp "$OUT" ../first
    done
}
t 'equal states give equal bytes, in other places, zones and languages' equal

past() {
    start
    run "$VALISE" compose src/a.c --json
    cp "$OUT" ../first
    run "$VALISE" status --json
    local seq
    seq=$(json_get seq)
    say src/b.c summary 'Something else.'
    say src/a.c notes 'More.'
    "$VALISE" compose src/a.c --json | cmp -s - ../first && return 1
    run "$VALISE" --at "$seq" compose src/a.c --json
    cmp "$OUT" ../first
}
t 'the past is composed as it was' past

# Nothing is written: not a byte of the store, not an entry of the log.
unwritten() {
    start
    run "$VALISE" workspace hash --json
    cp "$OUT" ../hash
    "$VALISE" log --json >../log
    local policy
    for policy in relevance recency type agent query=date state=stale; do
        run "$VALISE" compose src/a.c --policy "$policy"
    done
    run "$VALISE" workspace hash --json
    cmp "$OUT" ../hash
    "$VALISE" log --json | cmp - ../log
}
t 'nothing is written' unwritten

hostile() {
    start
    printf '\033[31mred\n' | "$VALISE" -q put-frame src/a.c - --type red
    run "$TERMINAL" "$VALISE" --color never compose src/a.c --policy type=red
    stdout_has '\x1b[31mred'
    printf '\377\000' | "$VALISE" -q put-frame src/a.c - --type data
    run "$VALISE" compose src/a.c --policy type=data
    stdout_has "(binary, 2 B)"
    run "$VALISE" compose src/a.c --policy type=data --json
    json_is entries[0].data /wA=
    : | "$VALISE" -q put-frame src/a.c - --type none
    run "$VALISE" compose src/a.c --policy type=none,query=x
    stdout_has "(empty)"
}
t 'contents are harmless, whatever they are' hostile

narrowed() {
    start
    run "$VALISE" agent add reviewer --capability 'context:read path=src/*.c'
    run "$VALISE" compose src/a.c --actor reviewer
    stdout_has "src/b.c  sibling" "2 frames,"
    stdout_lacks "All about time" "A program"
    expect_exit 4 "$VALISE" compose src/a.c --actor reviewer --related README
    expect_exit 4 "$VALISE" compose src --actor reviewer
}
t 'who may read a part sees a part, also in counts' narrowed

done_testing
