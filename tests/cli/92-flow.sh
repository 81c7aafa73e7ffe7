#!/usr/bin/env bash
# 92-flow.sh -- flows on the command line: running, looking, what goes wrong, a terminal. [F6] [F11] [F12] [F15]
. "$(dirname "$0")/lib.sh"

TERMINAL=$LIB_DIR/on_terminal.py
FLOWS=$LIB_DIR/../../examples/flows
ESC=$(printf '\033')

# Three nodes, one of them inside of another, and an edge with a rule.
flow() {
    "$VALISE" -q init
    cat >flow.json <<'EOF'
{"namespace": "sales",
 "nodes": [
  {"id": "set", "type": "SetNode", "params": {"values": {"greeting": "hello {{name}}", "count": 3}}},
  {"id": "few", "type": "SetNode", "params": {"values": {"size": "few"}}},
  {"id": "many", "type": "SetNode", "params": {"values": {"size": "many"}}}],
 "subflows": [{"namespace": "reports", "nodes": [
  {"id": "daily", "type": "FinalAnswerNode", "params": {"from": "{{greeting}}, {{size}}"}}]}],
 "edges": [
  {"from": "set", "to": "many", "condition": {">": [{"var": "count"}, 10]}},
  {"from": "set", "to": "few"},
  {"from": "few", "to": "reports", "mappings": {"size": "howMany"}},
  {"from": "many", "to": "reports"}]}
EOF
}

# shell ID SCRIPT [MEMBERS]: a node that runs a shell, as it stands in `nodes`.
shell() {
    local script=${2//\\/\\\\}
    printf '{"id":"%s","type":"ExecNode","params":{"command":["sh","-c","%s"]}%s}' "$1" \
        "${script//\"/\\\"}" "${3:+,$3}"
}

running() {
    flow
    run "$VALISE" flow run flow.json --backpack b --set 'name="you"' --set 'extra=[1,2]'
    stderr_is_empty
    stdout_matches '^done .*  set -> few$'
    stdout_matches '^done .*  few -> reports$'
    stdout_matches '^done .*  reports/daily$'
    stdout_matches '^done .*  reports$'
    stdout_matches '^done: 4 nodes in .*, backpack b, run [0-9a-f]{8}$'
    stdout_lacks many
    [ "$(wc -l <"$OUT")" -eq 6 ]
    run "$VALISE" bp unpack b finalAnswer
    stdout_is '"hello you, few"'
    run "$VALISE" bp unpack b howMany
    stdout_is '"few"'
    run "$VALISE" bp ls b
    stdout_has reports/daily sales.reports.daily system
    run "$VALISE" flow run flow.json --backpack b2 --items '{"name":"all"}' -q
    stdout_is_empty
    run "$VALISE" flow run flow.json --ephemeral --set name=1
    stdout_has 'on a backpack that was not kept'
    stdout_lacks 'bp ls'
    run "$VALISE" bp list --json
    [ "$(wc -l <"$OUT")" -eq 2 ]
    run "$VALISE" validate
}
t 'a run: a line for each node, what came of it, and the backpack [F15]' running

as_json() {
    need python3
    flow
    run "$VALISE" flow run flow.json --backpack b --set 'name="planted-value"' --json
    stderr_is_empty
    python3 - "$OUT" <<'EOF'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
events, answer = lines[:-1], lines[-1]
types = [e["type"] for e in events]
assert types[0] == "flow:FLOW_START" and types[-1] == "flow:FLOW_END", types
assert types.count("flow:NODE_START") == 4 and types.count("flow:NODE_END") == 4, types
assert types.count("flow:PREP_COMPLETE") == 4 and types.count("flow:EXEC_COMPLETE") == 1, types
for e in events:
    assert e["runId"] == answer["run"] and e["id"] and e["time"].endswith("Z"), e
    assert "payload" in e and (e["type"].startswith("flow:FLOW") or e["nodeId"]), e
start = [e for e in events if e.get("nodeId") == "reports/daily"][0]
assert start["namespace"] == "sales.reports.daily", start
assert start["payload"]["params"] == {"from": "{{greeting}}, {{size}}"}, start
end = [e for e in events if e["type"] == "flow:NODE_END" and e["nodeId"] == "set"][0]["payload"]
assert end["next"] == "few" and end["action"] == "default" and end["durationNs"] > 0, end
assert {w["key"] for w in end["writes"]} == {"greeting", "count"}, end
assert answer["backpack"] == "b" and answer["steps"] == 4 and answer["node"] == "reports/daily", answer
EOF
    ! grep -q planted-value "$OUT" || fail "a value is in an event"
    expect_exit 6 "$VALISE" flow run flow.json --backpack c --json --set name=
    stdout_is_empty
    stderr_has '{"error":{' '"code":"INVALID"'
    expect_exit 3 "$VALISE" flow run flow.json --backpack c --json
    tail -n 1 "$OUT" | grep -q '"type":"flow:FLOW_END"' || fail "the end is not told"
    stderr_has '{"error":{' '"code":"NOT_FOUND"' name
}
t 'with --json each event is a line, and the last line is the answer [F12]' as_json

crowded() {
    need python3
    "$VALISE" -q init
    cat >flow.json <<'EOF'
{"nodes": [{"id": "all", "type": "MapNode", "params": {"over": "list", "parallel": 32, "collect": "out", "flow":
  {"nodes": [{"id": "one", "type": "SetNode", "params": {"values": {"out": "{{item}}"}}}]}}}]}
EOF
    python3 -c 'print({"list": list(range(3000))})' | tr "'" '"' >items.json
    # The reader is slow at first: what is told meanwhile is more than waits for a callback.
    "$VALISE" flow run flow.json --ephemeral --items @items.json --json 2>errors | {
        sleep 1
        grep -c '"type":"flow:NODE_END"'
    } >count
    file_is errors </dev/null
    file_is count 3001
}
t 'however fast the nodes and slow the reader, no event is left out [F12]' crowded

wrong() {
    flow
    expect_exit 3 "$VALISE" flow run flow.json --backpack b
    stdout_matches '^failed .*  set  .*name'
    stdout_matches '^failed: 1 node in'
    stderr_has set name
    expect_exit 6 "$VALISE" flow run flow.json --set name=you
    stderr_has name 'put a text into quotes of its own'
    for word in nothing x; do
        expect_exit 6 "$VALISE" flow run flow.json --set "$word"
        stderr_has "'$word' is not KEY=JSON"
        expect_exit 6 "$VALISE" flow rerun b flow.json --from set --param "$word"
        stderr_has "'$word' is not NODE.path=JSON"
    done
    expect_exit 6 "$VALISE" flow run
    stderr_has 'no flow given'
    expect_exit 3 "$VALISE" flow run nosuch.json
    stderr_has nosuch.json
    echo '{"nodes":[' >broken.json
    expect_exit 6 "$VALISE" flow run broken.json
    expect_exit 2 "$VALISE" flow run flow.json --nosuch
    expect_exit 3 "$VALISE" flow run flow.json --start nosuch --set name=1
    stderr_has nosuch
    # A loop without an end.
    echo '{"nodes":[{"id":"a","type":"SetNode","params":{"values":{"k":1}}}],"edges":[{"from":"a","to":"a"}]}' >loop.json
    expect_exit 1 "$VALISE" flow run loop.json --max-steps 5 --ephemeral
    stderr_has '5 steps' maxSteps
    stdout_matches '^failed: 5 nodes in'
}
t 'what goes wrong: exit codes, the node, and the way on [F15] [L5]' wrong

failing() {
    "$VALISE" -q init
    cat >flow.json <<EOF
{"nodes": [
  $(shell flaky 'test -e again || { touch again; echo not yet >&2; exit 1; }; echo {}' '"maxRetries": 2'),
  $(shell never 'echo no way >&2; exit 3' '"maxRetries": 1'),
  $(shell handle 'echo "{\"action\":\"odd\"}"'),
  $(shell last 'echo {}')],
 "edges": [{"from": "flaky", "to": "never"}, {"from": "never", "to": "handle", "condition": "error"},
  {"from": "handle", "to": "last", "condition": "even"}]}
EOF
    run "$VALISE" flow run flow.json
    stdout_matches '^retry .*  flaky  attempt 1: .*not yet'
    stdout_matches '^done .*  flaky -> never$'
    stdout_matches '^retry .*  never  attempt 1: .*no way'
    stdout_matches '^failed .*  never -> handle  .*no way'
    stdout_matches '^warning .*  handle  .*odd'
    stdout_matches '^done .*  handle \(odd\)$'
    stdout_lacks last
    stdout_matches '^done: 3 nodes'
}
t 'retries, an edge for failures, warnings: each is seen [F2] [F3] [F15]' failing

checking() {
    flow
    run "$VALISE" flow check flow.json
    stdout_is valid
    cat >bad.json <<'EOF'
{"version": "9.0.0", "nodess": [], "nodes": [
  {"id": "a", "type": "SetNodes", "params": {}},
  {"id": "a", "type": "SetNode", "params": {"valuess": 1}},
  {"id": "alone", "type": "SetNode", "params": {"values": {"k": 1}}}],
 "edges": [{"from": "a", "to": "nowhere"}]}
EOF
    expect_exit 6 "$VALISE" flow check bad.json
    stdout_has 'error    version: ' nodess 'error    nodes[0].type: ' SetNode nowhere 'hint: '
    stdout_matches '^error    nodes\[1\]'
    [ "$(grep -c '^error' "$OUT")" -ge 5 ]
    ! grep -qx valid "$OUT" || fail "it is said to be valid"
    expect_exit 6 "$VALISE" flow check bad.json --json
    stdout_has '"valid":false'
    expect_exit 6 "$VALISE" flow run bad.json
    stderr_has 'more)'
    expect_exit 6 "$VALISE" flow graph bad.json
    run "$VALISE" flow graph flow.json
    stdout_has flowchart reports
    run "$VALISE" flow graph flow.json --format dot
    stdout_has digraph '->'
    # Neither needs a workspace.
    mkdir elsewhere
    mv flow.json elsewhere
    rm -rf .valise
    cd elsewhere
    run "$VALISE" flow check flow.json
    run "$VALISE" flow graph flow.json
    # A warning does not keep it from running.
    cat >alone.json <<'EOF'
{"nodes": [{"id": "a", "type": "SetNode", "params": {"values": {"k": 1}}},
           {"id": "b", "type": "SetNode", "params": {"values": {"k": 1}}}]}
EOF
    run "$VALISE" flow check alone.json
    stdout_matches '^warning .*b'
    stdout_has valid
}
t 'check tells all that is wrong at once; a graph is a picture [F6] [F15]' checking

on_a_terminal() {
    need python3
    flow
    export NO_COLOR=1
    run "$TERMINAL" "$VALISE" flow run flow.json --backpack b --set 'name="you"'
    # A slow machine sees lines that move, and what stays is written over them.
    sed -e "s/$ESC\[[0-9]*[A-Z]/\n/g" "$OUT" | tr '\r' '\n' >lines
    grep -qE '^ +reports' lines || fail "$(cat -v lines)"
    grep -qE '^done .*    daily' lines || fail "$(cat -v lines)"
    grep -qE '^done: 4 nodes' lines || fail "$(cat -v lines)"
    cat >slow.json <<EOF
{"nodes": [{"id": "all", "type": "MapNode", "params": {"over": "list", "parallel": 3, "flow":
   {"nodes": [$(shell one 'sleep 0.4; echo {}')]}}}]}
EOF
    run "$TERMINAL" "$VALISE" flow run slow.json --set 'list=[1,2,3]'
    # Those that run side by side were there at once, and were gone over.
    tr '\r' '\n' <"$OUT" >lines
    grep -qE '^[|/\\-] +[0-9.]+ m?s  all' lines || fail "$(cat -v lines)"
    grep -qE '^[|/\\-] +[0-9.]+ m?s    2/one' lines || fail "$(cat -v lines)"
    grep -q "$ESC\[3A" lines || fail "$(cat -v lines)"
    [ "$(grep -cE 'done .*[0-9]/one' lines)" -eq 3 ]
    # Nothing moves where nothing can.
    run "$TERMINAL" env TERM=dumb "$VALISE" flow run slow.json --set 'list=[1,2,3]'
    ! grep -q "$ESC" "$OUT" || fail "$(cat -v "$OUT")"
    stdout_has all/1/one
}
t 'on a terminal: a tree that grows, and what runs now [F15]' on_a_terminal

text_on_a_terminal() {
    need python3
    "$VALISE" -q init
    export NO_COLOR=1
    printf '{"answer":{"blocks":[{"type":"text","text":"It is \\u001b[31mred\\u001b[0m and long: %s"}],"stop":"end"}}\n' \
        "$(seq -s ' ' 60)" >answers.jsonl
    cat >talk.json <<'EOF'
{"nodes": [{"id": "talk", "type": "ChatNode", "params": {"prompt": "x", "provider": "openai",
  "model": "m", "replay": "answers.jsonl", "stream": true}}]}
EOF
    run "$TERMINAL" --columns 50 "$VALISE" flow run talk.json
    ! grep -q "$ESC\[31m" "$OUT" || fail "the answer steers the terminal"
    stdout_matches '\| It is .x1b\[31mred'
    stdout_matches '\| .*60'
    sed "s/$ESC\[[0-9]*[A-Z]//g" "$OUT" | grep -E '^ +\| ' >lines
    [ "$(wc -l <lines)" -ge 4 ]
    ! grep -qE '^.{51}' lines || fail "a line is wider than the terminal: $(cat lines)"
    run "$TERMINAL" --columns 12 "$VALISE" flow run talk.json
    stdout_has "done"
    run "$TERMINAL" "$VALISE" flow run talk.json --json
    stdout_has flow:STREAM_CHUNK
    ! grep -q "$ESC" "$OUT" || fail "$(cat -v "$OUT")"
    # In a session it is streamed as well, and recorded there.
    "$VALISE" -q session create --label talks
    sed -i 's/"stream": true/"stream": true, "session": "talks"/' talk.json
    run "$VALISE" flow run talk.json --json
    grep flow:STREAM_CHUNK "$OUT" | grep -q '"nodeId":"talk"' || fail "$(cat "$OUT")"
    run "$VALISE" turn log talks
    stdout_has "long: 1 2 3"
}
t 'on a terminal: the text of a model, whatever it says [F12] [F15]' text_on_a_terminal

examples() {
    "$VALISE" -q init
    for name in sales research-agent two-tools documents; do
        run "$VALISE" flow check "$FLOWS/$name.json"
        stdout_is valid
        run "$VALISE" flow run "$FLOWS/$name.json" --backpack "$name"
        stdout_matches '^done: '
        run "$VALISE" flow graph "$FLOWS/$name.json"
        run "$VALISE" flow run "$FLOWS/$name.json" --ephemeral -q
        stdout_is_empty
    done
    run "$VALISE" bp unpack sales report
    stdout_has '1,200 lumens'
    run "$VALISE" bp unpack research-agent summary
    stdout_has '15,000 hours'
    run "$VALISE" bp unpack two-tools finalAnswer
    stdout_has 108.75
    run "$VALISE" bp unpack documents lengths
    stdout_is '[6,5,6]'
    run "$VALISE" bp unpack documents longest
    stdout_is '["electricity","socket","lighthouse"]'
    run "$VALISE" bp list
    stdout_lacks map-
    run "$VALISE" validate
}
t 'the examples run without a network [F9] [F11] [F18]' examples

done_testing
