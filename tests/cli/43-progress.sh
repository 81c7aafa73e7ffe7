#!/usr/bin/env bash
# 43-progress.sh -- what a terminal is shown while it works, and Ctrl-C. [L5 L6]
. "$(dirname "$0")/lib.sh"
export TERMINAL=$LIB_DIR/on_terminal.py

# A bundle, and a pipe that gets half of it and stays open until the test ends.
prepare() {
    "$VALISE" -q init
    for i in $(seq 500); do
        echo "{\"type\":\"pin:add\",\"payload\":{\"name\":\"p$i\",\"target\":\"1\"}}"
    done | "$VALISE" -q batch
    "$VALISE" -q export all.valise
    "$VALISE" -q init to
    mkfifo pipe
    { head -c 20000 all.valise; exec sleep 1000; } >pipe 2>/dev/null &
    # shellcheck disable=SC2064  # this one, also when the test fails
    trap "kill $! || true" EXIT
}

t 'on a terminal: how far it is, on one line that is wiped away; Ctrl-C ends it at once [L5 L6]' '
    prepare
    expect_exit 130 "$TERMINAL" --interrupt "receive the bundle" "$VALISE" -C to import ../pipe
    stdout_has "receive the bundle  19.5 KiB" "cancelled"
    tr "\r" "\n" <"$OUT" >lines
    grep -q "^$(printf "\033")\[K" lines || fail "the line stays"
    run "$VALISE" -C to validate
    stdout_is_empty
    run "$VALISE" -C to status --json
    json_is seq 1
    run "$VALISE" -C to import ../all.valise --json
    json_is restored true
    run "$VALISE" -C to validate
'

t 'what can be counted first has a bar: validate, gc, sync, regenerate, the bytes of a large file [L6]' '
    "$VALISE" -q init
    mkdir d && echo a >d/f && "$VALISE" -q scan
    echo note | "$VALISE" -q put-frame d/f -
    "$VALISE" -q synthesize d
    echo other | "$VALISE" -q put-frame d/f -
    run "$TERMINAL" "$VALISE" validate
    stdout_matches "check rows  \[=+\] 100 %  ([1-9][0-9]*) of [1-9][0-9]* rows" \
        "check objects  \[=+\] 100 %  [1-9][0-9]* of" "check log  \[=+\] 100 %"
    run "$TERMINAL" "$VALISE" gc
    stdout_matches "mark rows  \[=+\] 100 %" "mark log  \[=+\] 100 %" "look for objects  \[=+\] 100 %"
    run "$TERMINAL" "$VALISE" regenerate d
    stdout_matches "derive  \[=+\] 100 %  1 of 1 slots"
    truncate -s 1G d/large
    run "$TERMINAL" "$VALISE" scan
    stdout_matches "read files  \[=*> *\]  *[0-9]+ %  [0-9.]+ MiB of 1.0 GiB"
'

t 'nothing of it when standard error is no terminal, or with --quiet [L6]' '
    prepare
    env --default-signal=INT "$VALISE" -C to import ../pipe >out 2>err &
    pid=$!
    # From when it catches the signal on, it counts; the shell that starts it catches it too.
    for _ in $(seq 3000); do
        [ "/proc/$pid/exe" -ef "$VALISE" ] &&
            grep -q "^SigCgt:.*[2367abef]$" "/proc/$pid/status" && break
        sleep 0.01
    done
    kill -INT $pid
    code=0
    wait $pid || code=$?
    run test $code = 130
    [ ! -s out ]
    [ "$(wc -l <err)" = 1 ]
    grep -q "^valise: .*cancelled" err
    for words in validate gc sync; do
        run "$VALISE" $words
        stderr_is_empty
        run "$TERMINAL" "$VALISE" -q $words
        stdout_is_empty
    done
'

t 'a pager is left with Ctrl-C or q, and what it did not read is no error [L4]' '
    prepare
    printf "#!/bin/sh\nhead -n 2\n" >pager
    chmod +x pager
    VALISE_PAGER=$PWD/pager run "$TERMINAL" "$VALISE" log
    [ "$(wc -l <"$OUT")" = 2 ]
    run "$TERMINAL" "$VALISE" log --limit 3
    [ "$(wc -l <"$OUT")" = 4 ]
'

done_testing
