#!/usr/bin/env bash
# 74-agent-serve.sh -- agent serve: a workspace over standard input and output. [C29]
. "$(dirname "$0")/lib.sh"

grow() {
    "$VALISE" -q init
    mkdir lib
    echo 1 >lib/a.c
    "$VALISE" scan -q
    "$VALISE" -q agent add planner --role writer
}

answers() {
    grow
    printf '%s\n' '{"id":1,"op":"write_context","args":{"node":"lib/a.c","text":"hello"}}' \
        '{"id":2,"op":"read_context","args":{"node":"lib/a.c"}}' \
        '{"id":3,"op":"synthesize","args":{"node":"lib"}}' >questions
    run "$VALISE" agent serve --as planner <questions
    [ "$(wc -l <"$OUT")" = 3 ]
    stdout_has '"agent":"planner"' '"text":"hello"' '"id":3}' '"code":"DENIED"'
    stderr_is_empty
    # The same lines with --json and --quiet: what is written are answers in any case.
    cp "$OUT" first
    for how in --json --quiet; do
        run "$VALISE" agent serve --as planner "$how" <questions
        sed 1d first | cmp - <(sed 1d "$OUT")
    done
    # Left out, it is as for all commands.
    run "$VALISE" --actor planner agent serve <questions
    sed 1d first | cmp - <(sed 1d "$OUT")
    # Paths are those of the tree, wherever one is.
    cd lib
    run "$VALISE" agent serve --as planner <../questions
    sed 1d ../first | cmp - <(sed 1d "$OUT")
}
t 'questions are answered, and nothing else is printed' answers

noise() {
    grow
    {
        printf 'hello\n\n{"id":1}\n[[[[\n\xff\xfe\n{"id":"x","op":5}\n'
        head -c 200000 /dev/urandom | tr '\n' ' '
        printf '\n{"id":7,"op":"read_context","args":{"node":"lib"}}'
    } >questions
    run "$VALISE" agent serve --as planner <questions
    [ "$(wc -l <"$OUT")" = 7 ]
    tail -n 1 "$OUT" | grep -q '^{"id":7,"result":'
    python3 -c 'import json, sys; [json.loads(line) for line in open(sys.argv[1])]' "$OUT"
    stderr_is_empty
    run "$VALISE" agent serve --as planner </dev/null
    stdout_is_empty
}
t 'a line that makes no sense is answered, and it goes on' noise

wrong() {
    expect_exit 3 "$VALISE" agent serve --as planner </dev/null
    stdout_is_empty
    stderr_has 'valise init'
    grow
    expect_exit 6 "$VALISE" agent serve --as '' </dev/null
    expect_exit 2 "$VALISE" agent serve planner </dev/null
    echo '{"id":1,"op":"read_context","args":{"node":"lib"}}' >question
    run "$VALISE" agent serve --as stranger <question
    stdout_has '"code":"DENIED"' stranger
    # Nobody reads the answers: it ends.
    yes '{"id":1,"op":"read_context","args":{"node":"lib"}}' |
        "$VALISE" agent serve --as planner 2>/dev/null | head -n 2 >two || true
    [ "$(wc -l <two)" = 2 ]
}
t 'what cannot be' wrong

ends() {
    grow
    mkfifo questions
    sleep 30 >questions &
    holder=$!
    # A shell lets background jobs ignore SIGINT.
    env --default-signal=INT "$VALISE" agent serve --as planner <questions >answers &
    server=$!
    sleep 0.3
    kill -INT "$server"
    wait "$server" && code=0 || code=$?
    kill "$holder"
    [ "$code" = 130 ]
    run cat answers
    stdout_is_empty
}
t 'Ctrl-C ends it' ends

done_testing
