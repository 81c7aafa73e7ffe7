#!/usr/bin/env bash
# 74-watch-regenerate.sh -- valise watch --regenerate: what changed, and everything above it.
. "$(dirname "$0")/lib.sh"
. "$LIB_DIR/watch_lib.sh"

# Notes about two files, and what is made of them for src and the root.
notes() {
    mkdir -p tree/src
    echo 1 >tree/src/a.c
    echo 2 >tree/src/b.c
    "$VALISE" -q -C tree init
    "$VALISE" -q -C tree scan
    echo "about a" | "$VALISE" -q -C tree put-frame src/a.c -
    echo "about b" | "$VALISE" -q -C tree put-frame src/b.c -
    "$VALISE" -q -C tree synthesize . --recursive --type notes
}

# until_fresh: nothing is left to be made.
until_fresh() {
    for _ in $(seq 600); do
        "$VALISE" -C tree regenerate --recursive --dry-run --no-scan --json >"$OUT"
        [ "$(json_get made)" = 0 ] && return
        sleep 0.05
    done
    cat "$OUT" out err
    false
}

regenerates() {
    notes
    watch --regenerate
    until_has err watching
    rm tree/src/b.c
    until_has out "orphaned src/b.c notes"
    until_has out "regenerated src notes "
    until_has out "regenerated . notes "
    [ "$(grep -n "removed src/b.c" out | cut -d: -f1)" -lt "$(grep -n "regenerated src" out | cut -d: -f1)" ]
    run "$VALISE" -C tree get-head . --type notes
    stdout_has "about a"
    stdout_lacks "about b"
    # What somebody else says counts as much.
    echo "something else" | "$VALISE" -q -C tree put-frame src/a.c -
    for _ in $(seq 3000); do
        [ "$(grep -c "regenerated [.] notes" out)" = 2 ] && break
        sleep 0.01
    done
    run "$VALISE" -C tree get-head . --type notes
    stdout_has "something else"
    kill -INT "$pid"
    ended 130
    run "$VALISE" -C tree validate
}
t 'watch --regenerate: what changed and everything above it [C27]' regenerates

authors() {
    notes
    watch --regenerate
    until_has err watching
    echo 3 >tree/src/a.c
    until_has out "needs-author src/a.c notes"
    echo 4 >tree/src/a.c
    until_has out "changed src/a.c"
    echo fence >tree/fence
    until_has out "added fence"
    rm tree/fence
    until_has out "removed fence"
    [ "$(grep -c needs-author out)" = 1 ] || fail "$(cat out)"
    "$VALISE" -q -C tree reaffirm src/a.c --type notes
    echo 5 >tree/src/a.c
    for _ in $(seq 3000); do
        [ "$(grep -c needs-author out)" = 2 ] && break
        sleep 0.01
    done
    [ "$(grep -c needs-author out)" = 2 ] || fail "$(cat out)"
    kill -INT "$pid"
    ended 130
    # Nor is it when it begins anew.
    run "$VALISE" -C tree watch --regenerate --timeout 300ms
    stdout_lacks needs-author
}
t 'watch --regenerate: what needs its author is told once' authors

regenerated_lines() {
    notes
    watch --regenerate --json --exec -- sh -c 'cat >>../heard; echo "end $VALISE_VERSION" >>../heard'
    until_has out '"watching"'
    rm tree/src/b.c
    until_has heard "end 2"
    grep -F '"event":"regenerated"' out >lines
    [ "$(wc -l <lines)" = 2 ] || fail "$(cat out)"
    python3 - lines <<'PY'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert [(l['path'], l['type']) for l in lines] == [('src', 'notes'), ('', 'notes')], lines
assert all(len(l['frameId']) == 64 and len(l['previousHead']) == 64 for l in lines), lines
PY
    cat lines - <<END >want
end 2
END
    sed -n '/regenerated/p; /end 2/p' heard | cmp - want # before the program, and told to it
    run "$VALISE" -C tree get-head src --type notes --json
    grep -qF "$(json_get frameId)" lines
    [ ! -s err ] || fail "$(cat err)"
    kill -INT "$pid"
    ended 130
}
t 'watch --regenerate --json: lines for programs, before --exec' regenerated_lines

not_allowed() {
    notes
    "$VALISE" -q -C tree agent add looker --role none --capability tree:write \
        --capability tree:read --capability context:read
    env --default-signal=INT "$VALISE" -C tree --actor looker watch --regenerate >out 2>err &
    pid=$!
    until_has err watching
    until_has err "not regenerated: "
    echo 3 >tree/src/a.c
    until_has out "changed src/a.c"
    echo 4 >tree/src/b.c
    until_has out "changed src/b.c"
    kill -INT "$pid"
    ended 130
    expect_exit 2 "$VALISE" -C tree watch --run
    stderr_has "--run works only with --regenerate"
}
t 'watch --regenerate: what goes wrong is told, and it goes on' not_allowed

two_watches() {
    notes
    watch --regenerate
    first=$pid
    env --default-signal=INT "$VALISE" -C tree watch --regenerate >out2 2>err2 &
    second=$!
    until_has err watching
    until_has err2 watching
    for i in 1 2 3 4 5 6; do
        echo "edit $i" >tree/src/a.c
        echo "about a, $i" | "$VALISE" -q -C tree put-frame src/a.c -
        echo "new $i" >"tree/src/n$i.c"
        echo "about b, $i" | "$VALISE" -q -C tree put-frame src/b.c -
    done
    until_fresh
    run "$VALISE" -C tree get-head . --type notes
    stdout_has "about a, 6" "about b, 6"
    sleep 1 # time enough for the one to answer the other for ever
    count=$("$VALISE" -C tree log --json | grep -cF '"slot:advance"')
    [ "$count" -le 60 ] || fail "$count runs that wrote something"
    kill -INT "$first" "$second"
    wait "$first" "$second" || true
    cat out out2 >both
    for i in 1 2 3 4 5 6; do # heard by one of them, or recorded by who put the frame
        run "$VALISE" -C tree get-node "src/n$i.c"
    done
    is_recorded
    run "$VALISE" -C tree validate
}
t 'watch --regenerate: two of them on one workspace come to an end' two_watches

# Somebody holds the store for longer than anybody waits, until `free` is there.
hold() {
    python3 - <<'PY' &
import os, sqlite3, time
db = sqlite3.connect('tree/.valise/valise.db', isolation_level=None)
db.execute('BEGIN IMMEDIATE')
open('held', 'w').close()
while not os.path.exists('free'):
    time.sleep(0.01)
db.execute('ROLLBACK')
PY
    until [ -e held ]; do sleep 0.01; done
}

in_the_way() {
    notes
    "$VALISE" -q -C tree config set core.timeout 50ms
    watch --regenerate
    until_has err watching
    kill -STOP "$pid"
    echo "something else" | "$VALISE" -q -C tree put-frame src/a.c -
    hold
    kill -CONT "$pid"
    until_has err "not regenerated: "
    echo new >tree/src/new.c # a version cannot be recorded either
    until_has err "it is tried again"
    touch free
    until_has out "added src/new.c"
    until_has out "regenerated . notes"
    until_fresh
    is_recorded
    kill -INT "$pid"
    ended 130
}
t 'watch --regenerate: others that are in the way for some time' in_the_way

nothing_else() {
    notes
    run "$VALISE" -C tree report --json
    root=$(json_get contextRoot)
    count=$("$VALISE" -C tree log --json | grep -vc '"type":"tree:')
    watch
    until_has err watching
    rm tree/src/b.c
    until_has out "removed src/b.c"
    echo "about a, again" | "$VALISE" -q -C tree put-frame src/a.c - --dry-run
    echo 3 >tree/src/a.c
    until_has out "changed src/a.c"
    kill -INT "$pid"
    ended 130
    [ "$("$VALISE" -C tree log --json | grep -vc '"type":"tree:')" = "$count" ]
    run "$VALISE" -C tree report --json
    json_is contextRoot "$root"
    run "$VALISE" -C tree regenerate --recursive --dry-run --json
    json_is made 2
}
t 'watch: without --regenerate nothing is made, and nothing of what is known changes [C27]' nothing_else

done_testing
