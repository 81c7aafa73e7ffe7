#!/usr/bin/env bash
# 69-watch.sh -- valise watch: what changes, as it is recorded.
. "$(dirname "$0")/lib.sh"

. "$LIB_DIR/watch_lib.sh"

lines() {
    start
    echo 2 >tree/src/a.c
    until_has out "changed src/a.c"
    mv tree/src/a.c tree/src/b.c
    until_has out "moved src/a.c -> src/b.c"
    mkdir -p tree/new/deep
    echo x >"tree/new/deep/a file"
    until_has out "added new/deep/a file"
    rm -r tree/new
    until_has out "removed new"
    is_recorded
    kill -INT "$pid"
    ended 130
    grep -qF "valise: watching" err
}
t 'watch: a line for each change, until Ctrl-C [C27]' lines

of_others() {
    start
    for i in 1 2 3 4 5 6; do
        echo "$i" >"tree/f$i"
        echo "About f$i." | "$VALISE" -q -C tree put-frame "f$i" -
    done
    for i in 1 2 3 4 5 6; do until_has out "added f$i"; done
    kill -INT "$pid"
    ended 130
    [ "$(grep -c '^added f' out)" = 6 ] # each of them once
    is_recorded
}
t 'watch: what somebody else recorded first is told as well [C27]' of_others

from_here() {
    start
    kill -INT "$pid"
    ended 130
    env --default-signal=INT "$VALISE" -C tree/src watch --once >out 2>err &
    pid=$!
    until_has err watching
    echo 2 >tree/src/a.c
    ended 0
    cp out "$OUT"
    stdout_is "changed a.c"
}
t 'watch: paths from the current folder, and --once' from_here

objects() {
    mkdir -p tree/src
    echo 1 >tree/src/a.c
    "$VALISE" -q -C tree init
    watch --json --count 2
    until_has out '"watching"'
    if grep -F added out | grep -F path; then
        fail "the first scan of all is not told file by file"
    fi
    echo 2 >tree/src/a.c
    until_has out '{"event":"changed","path":"src/a.c"}'
    until_has out '"version":2'
    printf x >"$(printf 'tree/bad\377')"
    ended 0
    cp out "$OUT"
    stdout_has '{"event":"added","path":{"base64":"YmFk/w=="}}' '"event":"recorded"'
    [ ! -s err ] || fail "$(cat err)"
    is_recorded
}
t 'watch --json: an object a line, and the versions; --count [C27]' objects

since_the_last_scan() {
    start
    kill -INT "$pid"
    ended 130
    echo 2 >tree/src/a.c
    echo 1 >tree/src/b.c
    run "$VALISE" -C tree watch --timeout 100ms
    stdout_is <<END
changed src/a.c
added src/b.c
END
    run "$VALISE" -C tree watch --timeout 100ms -q
    stdout_is_empty
    stderr_is_empty
}
t 'watch: begins with what changed since the last scan; --timeout and --quiet' since_the_last_scan

programs() {
    start --exec -- sh -c 'cat >>../heard; echo "$VALISE_VERSION ${#VALISE_ROOT}" >>../heard; echo printed; exit 3'
    echo 2 >tree/src/a.c
    until_has err "'sh' ended with exit code 3"
    grep -qxF '{"event":"changed","path":"src/a.c"}' heard
    grep -qxF '2 64' heard
    grep -qxF printed err
    echo 3 >tree/src/a.c
    until_has heard '3 64'
    is_recorded
    kill -INT "$pid"
    ended 130
}
t 'watch --exec: a program gets the lines of each version; its exit code ends nothing [C27]' programs

wrong() {
    local code=0
    start
    kill -INT "$pid"
    ended 130
    expect_exit 2 "$VALISE" -C tree watch --exec
    stderr_has "no program given" "valise watch --exec -- make test"
    expect_exit 2 "$VALISE" -C tree watch --exec 'make test'
    stderr_has "make test" "hint: put a program and its arguments after --"
    expect_exit 6 "$VALISE" -C tree watch --count many
    echo 2 >tree/src/a.c
    "$VALISE" -C tree watch --timeout 5s -- ./no-such-program >out 2>err || code=$?
    [ "$code" -ne 0 ]
    grep -qF "no-such-program" err
    is_recorded
}
t 'watch: what makes no sense, and a program that is not there' wrong

gone() {
    start
    mv tree elsewhere
    ended 3
    grep -qF "is gone" err
    run "$VALISE" -C elsewhere scan
    stdout_has "nothing changed"
}
t 'watch: a folder that is gone ends it, and nothing of that is recorded' gone

nobody_reads() {
    start
    kill -INT "$pid"
    ended 130
    (
        "$VALISE" -C tree watch 2>err2
        echo "$?" >code
    ) | head -n 1 >out &
    until_has err2 watching
    echo 2 >tree/src/a.c
    until_has out changed
    until_has code 0
    is_recorded
}
t 'watch: ends quietly when nobody reads any more' nobody_reads

only_the_tree() {
    start
    before=$("$VALISE" -C tree log --json | wc -l)
    echo 2 >tree/src/a.c
    until_has out changed
    kill -INT "$pid"
    ended 130
    run "$VALISE" -C tree log --json
    if grep -v '"type":"tree:' "$OUT" | grep -v workspace:create; then
        fail "something else was written"
    fi
    [ "$(wc -l <"$OUT")" -gt "$before" ]
    "$VALISE" -C tree -q agent add reader-1 --role reader
    expect_exit 4 "$VALISE" -C tree --actor reader-1 watch --timeout 1s
}
t 'watch: writes the tree and nothing else, for those who may [C27]' only_the_tree

terminated() {
    start
    rm -f tree/.valise/tree-cache
    echo 2 >tree/src/a.c
    until_has out "changed src/a.c"
    kill -TERM "$pid"
    ended 0
    [ -s tree/.valise/tree-cache ]
    is_recorded
}
t 'watch: SIGTERM is a way to end it' terminated

rules() {
    start
    "$VALISE" -q -C tree config set tree.ignore "*.log"
    echo 1 >tree/x.log
    echo 1 >tree/fence
    until_has out "added fence"
    "$VALISE" -q -C tree config unset tree.ignore
    until_has out "added x.log"
    "$VALISE" -q -C tree config set tree.ignore src
    until_has out "removed src"
    is_recorded
    kill -INT "$pid"
    ended 130
}
t 'watch: the setting tree.ignore counts as it is now' rules

ten_thousand() {
    start
    kill -STOP "$pid"
    python3 - <<'PY'
import os
for d in range(100):
    os.mkdir('tree/d%d' % d)
    for f in range(100):
        with open('tree/d%d/f%d' % (d, f), 'w') as out:
            out.write('%d %d' % (d, f))
for n in range(20000): # more than any queue holds
    os.utime('tree/src/a.c', (n, n))
    os.chmod('tree/src', 0o755 if n % 2 else 0o700)
PY
    kill -CONT "$pid"
    until_has err "too many changes at once to report"
    until_has out "added d99/f99"
    [ "$(grep -c '^added d' out)" = 10100 ] || fail "$(grep -c '^added d' out) lines"
    echo 1 >tree/d50/new
    until_has out "added d50/new"
    is_recorded
    run "$VALISE" -C tree status --json
    kill -INT "$pid"
    ended 130
}
t 'watch: 10,000 files at once, and a queue that overflows [C27]' ten_thousand

done_testing
