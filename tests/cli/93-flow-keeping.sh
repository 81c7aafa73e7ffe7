#!/usr/bin/env bash
# 93-flow-keeping.sh -- runs that are killed, resumed, repeated; secrets, trust, what a model is told.
# [F11] [F13] [F14] [K34] [P10] [Q25]
. "$(dirname "$0")/lib.sh"

TERMINAL=$LIB_DIR/on_terminal.py
SERVER=$LIB_DIR/chat_server.py
# As nohup does it a test is started with Ctrl-C ignored; who is to be interrupted must not be.
INTERRUPTIBLE='env --default-signal=INT'

# shell ID SCRIPT [MEMBERS]: a node that runs a shell, as it stands in `nodes`.
shell() {
    local script=${2//\\/\\\\}
    printf '{"id":"%s","type":"ExecNode","params":{"command":["sh","-c","%s"]}%s}' "$1" \
        "${script//\"/\\\"}" "${3:+,$3}"
}

# Ten nodes that leave a line each, and take a moment.
ten() {
    "$VALISE" -q init
    {
        echo '{"nodes": ['
        for i in $(seq 10); do
            shell "n$i" "echo $i >>log; sleep 0.${1:-1}; echo '{\"pack\":{\"k$i\":$i}}'"
            [ "$i" = 10 ] || echo ,
        done
        echo '], "edges": ['
        for i in $(seq 9); do
            echo "{\"from\": \"n$i\", \"to\": \"n$((i + 1))\"}$([ "$i" = 9 ] || echo ,)"
        done
        echo ']}'
    } >ten.json
}

# until_has FILE COUNT: it has that many lines.
until_has() {
    for _ in $(seq 1000); do
        [ "$(wc -l 2>/dev/null <"$1" || echo 0)" -lt "$2" ] || return 0
        sleep 0.02
    done
    fail "$1 does not get $2 lines"
}

# Killed in the middle: while the fifth node runs.
kill_in_the_middle() {
    : >log
    "$VALISE" flow run ten.json --backpack "$1" >/dev/null 2>&1 &
    until_has log 5
    kill -9 $!
    wait $! 2>/dev/null || true
}

killed() {
    ten
    kill_in_the_middle b
    run "$VALISE" flow runs
    stdout_matches ' b  +interrupted +4 '
    # Its programs: the file is named, or trusted.
    expect_exit 4 "$VALISE" flow resume b
    stderr_has "valise trust $PWD/ten.json"
    run "$VALISE" flow resume b ten.json
    stdout_matches '^done .*  n5 -> n6$'
    ! grep -qE 'n[1-4] -> ' "$OUT" || lib_fail_with_output "a node that was done ran again"
    stdout_matches '^done: '
    # At least once; and those that were done before, only once.
    printf '%s\n' 1 2 3 4 5 5 6 7 8 9 10 >expected
    sort -n log | diff expected - || fail "$(cat log)"
    for i in $(seq 10); do
        run "$VALISE" bp unpack b "k$i"
        stdout_is "$i"
    done
    run "$VALISE" flow runs
    stdout_matches ' b +done +10 '
    [ "$(wc -l <"$OUT")" -eq 2 ]
    expect_exit 6 "$VALISE" flow resume b ten.json
    stderr_has 'has ended' rerun
    run "$VALISE" validate
}
t 'killed in the middle: resumed, and what was done does not run again [F13]' killed

# Wherever it is killed it comes to its end, and the state is that of a run that nobody killed.
killed_anywhere() {
    ten 05
    for i in 1 3 5 7; do
        : >log
        "$VALISE" flow run ten.json --backpack "b$i" >/dev/null 2>&1 &
        until_has log "$i"
        sleep "0.0$i"
        kill -9 $!
        wait $! 2>/dev/null || true
        # On a busy machine it may have been faster than we.
        "$VALISE" flow runs --backpack "b$i" | grep -q ' done ' ||
            run "$VALISE" flow resume "b$i" ten.json
        [ "$(sort -nu log | wc -l)" -eq 10 ] || fail "$(cat log)"
        [ "$(wc -l <log)" -le 11 ] || fail "more than one node ran twice: $(tr '\n' ' ' <log)"
        run "$VALISE" bp ls "b$i" --json
        [ "$(wc -l <"$OUT")" -eq 10 ]
    done
    run "$VALISE" validate
}
t 'killed anywhere: at most the node that was interrupted runs twice [F13]' killed_anywhere

killed_map() {
    "$VALISE" -q init
    cat >map.json <<EOF
{"nodes": [$(shell before 'echo before >>log; echo {}'),
  {"id": "all", "type": "MapNode", "params": {"over": "list", "parallel": 2, "flow": {"nodes": [
    $(shell one 'echo one >>log; sleep 0.2; echo "{\"pack\":{\"result\":1}}"')]}}}],
 "edges": [{"from": "before", "to": "all"}]}
EOF
    : >log
    "$VALISE" flow run map.json --backpack b --set 'list=[1,2,3,4]' >/dev/null 2>&1 &
    until_has log 4
    kill -9 $!
    wait $! 2>/dev/null || true
    run "$VALISE" bp list
    stdout_has map-
    run "$VALISE" flow resume b map.json
    run "$VALISE" bp unpack b results
    stdout_is '[1,1,1,1]'
    [ "$(grep -c before log)" -eq 1 ]
    run "$VALISE" bp list
    stdout_lacks map-
    run "$VALISE" validate
}
t 'a map that was killed is done again, and nothing is left of its forks [F13] [F18]' killed_map

at_once() {
    ten
    : >log
    "$VALISE" flow run ten.json --backpack b >/dev/null 2>&1 &
    until_has log 2
    first=$!
    expect_exit 1 "$VALISE" flow resume b ten.json
    stderr_has 'is still running, in another process'
    wait "$first"
    [ "$(wc -l <log)" -eq 10 ]
    kill_in_the_middle c
    "$VALISE" flow resume c ten.json >one 2>&1 &
    first=$!
    second=0
    "$VALISE" flow resume c ten.json >two 2>&1 || second=$?
    code=0
    wait "$first" || code=$?
    lib_checked
    case "$code $second" in
    '0 1' | '1 0') ;;
    *) fail "they ended with $code and $second: $(cat one two)" ;;
    esac
    sort -n log | uniq -d >twice
    file_is twice 5
    expect_exit 3 "$VALISE" flow resume nosuch
    stderr_has 'flow runs'
    run "$VALISE" validate
}
t 'two who resume one run: one is refused [F13]' at_once

interrupted() {
    need python3
    ten 3
    expect_exit 130 "$TERMINAL" --interrupt 'n3' env NO_COLOR=1 "$VALISE" flow run ten.json --backpack b
    stdout_has 'cancelled' "valise flow resume b $PWD/ten.json"
    [ "$(wc -l <log)" -le 4 ]
    run "$VALISE" flow runs
    stdout_matches ' b  +cancelled '
    run "$VALISE" validate
    : >log
    $INTERRUPTIBLE "$VALISE" flow run ten.json --backpack c --json >out 2>err &
    until_has log 2
    kill -INT $!
    code=0
    wait $! || code=$?
    [ "$code" -eq 130 ]
    grep -q '"code":"CANCELLED"' err
    grep -q 'flow:FLOW_END' out
    sed -i 's/sleep 0.3/true/' ten.json
    # Another flow than the one it was begun with is another run.
    expect_exit 5 "$VALISE" flow resume c ten.json
    stderr_has 'is not the flow'
}
terminated() {
    "$VALISE" -q init
    echo '{"nodes":['"$(shell long 'echo $$ >log; exec sleep 60')"']}' >long.json
    for signal in TERM:143 HUP:129; do
        : >log
        env --default-signal="${signal%:*}" "$VALISE" flow run long.json --backpack "l-${signal%:*}" 2>err &
        until_has log 1
        kill "-${signal%:*}" $!
        code=0
        wait $! || code=$?
        [ "$code" -eq "${signal#*:}" ]
        if kill -0 "$(cat log)" 2>gone; then fail 'the program goes on'; fi
        run "$VALISE" flow runs
        stdout_matches " l-${signal%:*} +cancelled "
        run "$VALISE" log
        stdout_has 'flow:end'
    done
    # However it is called.
    : >log
    run "$VALISE" trust long.json
    env --default-signal=TERM "$VALISE" run flow:run "{\"file\":\"$PWD/long.json\",\"backpack\":\"l\"}" 2>err &
    until_has log 1
    kill -TERM $!
    code=0
    wait $! || code=$?
    [ "$code" -eq 143 ]
    if kill -0 "$(cat log)" 2>gone; then fail 'the program goes on'; fi
}
t 'SIGTERM and SIGHUP cancel a run as Ctrl-C does [F14]' terminated

t 'Ctrl-C: programs end at once, and the way on is told [F13] [F14] [L5]' interrupted

repeated() {
    ten 0
    run "$VALISE" flow run ten.json --backpack b
    : >log
    run "$VALISE" flow rerun b ten.json --from n8 --backpack again --set 'k3="other"' \
        --param 'n9.command=["sh","-c","cat >>input; echo {}"]'
    file_is log <<'EOF'
8
10
EOF
    exists input
    run "$VALISE" bp unpack again k3
    stdout_is '"other"'
    run "$VALISE" bp unpack b k3
    stdout_is 3
    run "$VALISE" bp diff b before:n8 --other again
    stdout_has k3
    expect_exit 3 "$VALISE" flow rerun b ten.json --from nosuch
    expect_exit 6 "$VALISE" flow rerun b ten.json --from n8 --param nothing
    run "$VALISE" flow runs --backpack again --json
    stdout_has '"origin":"'
    run "$VALISE" validate
}
t 'a run is repeated from a node on, with other items and params [F13]' repeated

# ---- secrets ----

no_key_in() {
    ! grep -raq planted-0123456789 "$@" || fail "the key is told: $(grep -ral planted-0123456789 "$@")"
}

secrets() {
    need python3
    "$VALISE" -q init
    rm -f port
    python3 "$SERVER" port --echo >/dev/null 2>&1 &
    # shellcheck disable=SC2064  # this one
    trap "kill $! || true" EXIT
    for _ in $(seq 600); do [ ! -e port ] && sleep 0.05; done
    "$VALISE" config set --user provider.near.adapter compatible
    "$VALISE" config set --user provider.near.url "http://127.0.0.1:$(cat port)/v1"
    "$VALISE" config set --user provider.near.model small-1
    "$VALISE" config set --user provider.near.key-env PLANTED_KEY
    export PLANTED_KEY=sk-planted-0123456789abcdef VALISE_PROVIDER_NEAR_RETRIES=0
    cat >flow.json <<'EOF'
{"dependencies": {"tool": {"tool": {"command": ["sh", "-c", "printf %s $KEY | wc -c"], "env": {"KEY": "${PLANTED_KEY}"}}}},
 "nodes": [
  {"id": "has", "type": "ExecNode", "params": {"command": ["sh", "-c", "echo {\\\"pack\\\":{\\\"length\\\":$(printf %s $KEY | wc -c)}}"],
   "env": {"KEY": "${PLANTED_KEY}"}}},
  {"id": "tool", "type": "ToolExecutionNode", "params": {"tool": "tool", "arguments": {}, "into": "said"}},
  {"id": "tells", "type": "ExecNode", "params": {"command": ["sh", "-c", "echo the key is $KEY >&2; exit 1"],
   "env": {"KEY": "${PLANTED_KEY}"}}},
  {"id": "asks", "type": "ChatNode", "params": {"provider": "near", "prompt": "hello"}}],
 "edges": [{"from": "has", "to": "tool"}, {"from": "tool", "to": "tells"},
  {"from": "tells", "to": "asks", "condition": "error"}]}
EOF
    expect_exit 4 "$VALISE" flow run flow.json --backpack b
    no_key_in "$OUT" "$ERR"
    stdout_has '[redacted]'
    expect_exit 4 "$VALISE" flow run flow.json --backpack c --json
    no_key_in "$OUT" "$ERR"
    stdout_has '"env":{"KEY":"${PLANTED_KEY}"}'
    run "$VALISE" bp unpack b length
    stdout_is 27
    run "$VALISE" bp unpack b said
    stdout_is 27
    for words in "events" "log" "bp history b" "bp access-log b" "bp ls b" "flow runs"; do
        # shellcheck disable=SC2086  # several words
        run "$VALISE" $words --json
        no_key_in "$OUT"
    done
    no_key_in .valise
    run "$VALISE" validate
    unset PLANTED_KEY
    expect_exit 3 "$VALISE" flow run flow.json --backpack d
    stderr_has PLANTED_KEY
}
t 'a key is nowhere: not in output, events, errors, files [Q25] [F6]' secrets

# ---- trust ----

trusted() {
    "$VALISE" -q init
    echo "{\"nodes\": [$(shell touch 'touch ran; echo {}')]}" >flow.json
    expect_exit 4 "$VALISE" flow run --flow @flow.json
    stderr_has 'names the program' trust
    is_gone ran
    # Who names a file in a payload has not named it on the command line.
    expect_exit 4 "$VALISE" run flow:run "{\"file\":\"$PWD/flow.json\"}"
    stderr_has "valise trust $PWD/flow.json"
    is_gone ran
    run "$VALISE" trust flow.json
    run "$VALISE" run flow:run "{\"file\":\"$PWD/flow.json\"}"
    exists ran
    rm ran
    # Other params are another flow: trust in its bytes is none in what somebody makes of it.
    run "$VALISE" flow run flow.json --backpack b
    rm ran
    param='touch.command=[\"sh\",\"-c\",\"touch ran; echo {}\"]'
    expect_exit 4 "$VALISE" run flow:rerun "{\"run\":\"b\",\"from\":\"touch\",\"param\":[\"$param\"]}"
    stderr_has 'names the program'
    is_gone ran
    run "$VALISE" run flow:rerun '{"run":"b","from":"touch"}'
    exists ran
    rm ran
    run "$VALISE" flow rerun b flow.json --from touch --param 'touch.timeout="9s"'
    exists ran
    rm ran
    # Other bytes are another flow; and what is named is run.
    echo >>flow.json
    expect_exit 4 "$VALISE" run flow:run "{\"file\":\"$PWD/flow.json\"}"
    is_gone ran
    run "$VALISE" flow run flow.json
    exists ran
    # Nor does it read our environment.
    expect_exit 4 "$VALISE" flow run --ephemeral --flow '{"nodes":[{"id":"a","type":"DecisionNode",
        "params":{"prompt":"${HOME}","choices":{"x":"always"},"replay":"/dev/null"}}]}'
    stderr_has 'refers to variables'
    # Tools and servers are programs, too.
    for kind in tool mcp; do
        echo "{\"dependencies\": {\"x\": {\"$kind\": {\"command\": [\"sh\", \"-c\", \"touch ran2\"]}}},
          \"nodes\": [{\"id\": \"a\", \"type\": \"ToolExecutionNode\", \"params\": {\"tool\": \"x\", \"arguments\": {}}}]}" >other.json
        expect_exit 4 "$VALISE" flow run --flow @other.json
        is_gone ran2
    done
}
t 'a flow alone does not make code run [K34]' trusted

# ---- what a model is told ----

bodies() {
    need python3
    "$VALISE" -q init
    rm -f port
    unset PLANTED_KEY
    python3 "$SERVER" port --bodies=asked >/dev/null 2>&1 &
    # shellcheck disable=SC2064  # this one
    trap "kill $! || true" EXIT
    for _ in $(seq 600); do [ ! -e port ] && sleep 0.05; done
    "$VALISE" config set --user provider.near.adapter compatible
    "$VALISE" config set --user provider.near.url "http://127.0.0.1:$(cat port)/v1"
    "$VALISE" config set --user provider.near.model small-1
    "$VALISE" config unset --user provider.near.key-env || true
    cat >flow.json <<EOF
{"dependencies": {"lookup": {"tool": {"command": ["sh", "-c", "echo planted-of-tool >&2; exit 1"]}}},
 "nodes": [
  $(shell fetch 'echo planted-of-node >&2; exit 1' '"quarantine": true, "maxRetries": 1'),
  {"id": "call", "type": "ToolExecutionNode", "params": {"tool": "lookup", "arguments": {}}},
  {"id": "ask", "type": "ChatNode", "params": {"provider": "near", "prompt": "What now?", "items": ["*"]}}],
 "edges": [{"from": "fetch", "to": "call", "condition": "error"}, {"from": "call", "to": "ask"}]}
EOF
    run "$VALISE" flow run flow.json --backpack b
    [ "$(wc -l <asked)" -eq 1 ]
    grep -q planted-of-tool asked || fail "the model does not hear of the tool: $(cat asked)"
    ! grep -q planted-of-node asked || fail "the model hears what is in quarantine: $(cat asked)"
    # It is not lost: who looks for it finds it.
    run "$VALISE" bp ls b --quarantined
    stdout_has planted-of-node
    run "$VALISE" bp ls b
    stdout_lacks planted-of-node
}
t 'what failed is in no prompt; what a tool says went wrong is [P10]' bodies

server() {
    need npm
    need node
    mkdir server
    timeout 60 npm install --silent --no-audit --no-fund --ignore-scripts --prefix server \
        @modelcontextprotocol/server-everything@2026.8.31 >/dev/null 2>&1 ||
        skip "npm reaches no registry"
    "$VALISE" -q init
    cat >flow.json <<'EOF'
{"dependencies": {"every": {"mcp": {"command": ["node", "server/node_modules/.bin/mcp-server-everything", "stdio"],
   "prefix": "x_", "only": ["echo", "get-sum"], "timeout": "60s"}}},
 "nodes": [
  {"id": "echo", "type": "ToolExecutionNode", "params": {"tool": "x_echo", "arguments": {"message": "hello {{who}}"}}},
  {"id": "sum", "type": "ToolExecutionNode", "params": {"tool": "x_get-sum", "arguments": {"a": 2, "b": 3}, "into": "sum"}},
  {"id": "bad", "type": "ToolExecutionNode", "params": {"tool": "x_get-sum", "arguments": {"a": "two"}, "into": "bad",
   "onError": "refused"}}],
 "edges": [{"from": "echo", "to": "sum"}, {"from": "sum", "to": "bad"}]}
EOF
    run "$VALISE" flow run flow.json --backpack b --set 'who="you"'
    run "$VALISE" bp unpack b result
    stdout_is '"Echo: hello you"'
    run "$VALISE" bp unpack b sum
    stdout_has 5
    run "$VALISE" bp unpack b bad
    stdout_has '"success":false'
    run "$VALISE" validate
}
t 'a server that somebody else wrote [F11]' server

done_testing
