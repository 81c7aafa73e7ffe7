#!/usr/bin/env bash
# 95-flow-audit.sh -- flows and what they must not do: secrets, trust, rights, what somebody mended. [F6] [F11] [F13] [K34]
. "$(dirname "$0")/lib.sh"

SECRET=s3cr3t-hunter2-XYZZY

# put NAME LINES...: a program.
put() {
    printf '%s\n' '#!/bin/sh' 'cat >/dev/null' "${@:2}" >"$1"
    chmod +x "$1"
}

tool_secrets() {
    "$VALISE" -q init
    export TOKEN=$SECRET
    put t.sh 'echo "denied: $K" >&2; exit 3'
    cat >f.json <<'EOF'
{"dependencies": {
  "t": {"tool": {"command": ["./t.sh"], "env": {"K": "${TOKEN}"}}},
  "e": {"tool": {"command": ["./t.sh"], "parameters": {"properties": {"x": {"const": "a"}}}}}},
 "nodes": [
  {"id": "a", "type": "ToolExecutionNode", "params": {"tool": "t", "into": "first"}},
  {"id": "b", "type": "ToolExecutionNode", "params": {"tool": "t", "into": "second"}},
  {"id": "c", "type": "ToolExecutionNode",
   "params": {"tool": "e", "arguments": {"x": "${TOKEN}"}, "into": "third"}}],
 "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}]}
EOF
    run "$VALISE" flow run f.json --backpack b --json
    stdout_lacks "$SECRET"
    for key in first second third; do
        run "$VALISE" bp unpack b "$key"
        stdout_has '[redacted]' '"success":false'
        stdout_lacks hunter2
    done
    if grep -rq "$SECRET" .valise; then return 1; fi
}
t 'what a tool says went wrong is packed without the secrets it was given [F11]' tool_secrets

kept_prompts() {
    "$VALISE" -q init
    echo '{"nodes":[{"id":"a","type":"AgentNode","params":{"prompt":"${K}","replay":"r"}},
        {"id":"h","type":"ChatNode","params":{"prompt":"${K}","history":"h","replay":"r"}},
        {"id":"s","type":"ChatNode","params":{"prompt":"${K}","session":"s","replay":"r"}},
        {"id":"c","type":"ChatNode","params":{"prompt":"${K}","replay":"r"}}],
        "edges":[{"from":"a","to":"h"},{"from":"h","to":"s"},{"from":"s","to":"c"}]}' >f.json
    expect_exit 6 "$VALISE" flow check f.json
    stdout_has 'nodes[0].params.prompt: a secret' 'nodes[1].params.prompt: a secret' \
        'nodes[2].params.prompt: a secret'
    stdout_lacks 'nodes[3].params'
}
t 'a prompt that is written down has no secrets in it [F6]' kept_prompts

cut_secrets() {
    local n
    "$VALISE" -q init
    export TOKEN=$SECRET
    for n in 180 185 190 195; do
        echo '{"nodes":[{"id":"a","type":"ExecNode","params":{"env":{"K":"${TOKEN}"},
            "command":["sh","-c","cat >/dev/null; printf %0'"$n"'d 0 >&2; echo $K >&2; exit 1"]}}]}' >f.json
        expect_exit 1 "$VALISE" flow run f.json --ephemeral
        stderr_has 0000 '[redacted]'
        if grep -q s3cr "$ERR" "$OUT"; then return 1; fi
    done
}
t 'of a secret at the end of a message that was cut nothing is told [F6]' cut_secrets

other_params() {
    "$VALISE" -q init
    echo '{"nodes":[{"id":"x","type":"ExecNode","params":{"command":["sh","-c","echo {}; touch ran"]}}]}' >f.json
    run "$VALISE" flow run f.json --backpack b -q
    run "$VALISE" trust f.json
    rm ran
    run "$VALISE" flow rerun b --from x --backpack same -q
    [ -e ran ]
    expect_exit 4 "$VALISE" flow rerun b --from x --backpack c --param 'x.command=["sh","-c","touch other"]'
    stderr_has 'a flow alone cannot make programs run'
    [ ! -e other ]
    run "$VALISE" flow rerun b f.json --from x --backpack d --param 'x.command=["sh","-c","echo {}; touch other"]' -q
    [ -e other ]
}
t 'a flow that is trusted by its bytes is not trusted with other params [K34]' other_params

# as_json FILE BACKPACK: run it as other surfaces do, which cannot vouch for a path.
as_json() {
    "$VALISE" run flow:run "{\"file\":\"$PWD/$1\",\"backpack\":\"$2\"}"
}

own_programs() {
    "$VALISE" -q init
    put node.sh 'echo "{\"pack\":{\"n\":1}}"'
    put tool.sh 'echo 7'
    mkdir away
    echo '{"dependencies":{"t":{"tool":{"command":["./tool.sh"]}}},"nodes":[
        {"id":"n","type":"ExecNode","params":{"command":["./node.sh"]}},
        {"id":"p","type":"ExecNode","params":{"command":["true"],"into":"o"}},
        {"id":"t","type":"ToolExecutionNode","params":{"tool":"t"}},
        {"id":"again","type":"ToolExecutionNode","params":{"tool":"t","into":"second"}}],
        "edges":[{"from":"n","to":"p"},{"from":"p","to":"t"},{"from":"t","to":"again"}]}' >f.json
    run "$VALISE" flow run f.json --backpack named -q
    expect_exit 4 as_json f.json b0
    run "$VALISE" trust f.json
    cd away
    expect_exit 4 "$VALISE" run flow:run "{\"file\":\"${PWD%/away}/f.json\",\"backpack\":\"b1\"}"
    stderr_has "${PWD%/away}/node.sh is not trusted" "valise trust ${PWD%/away}/node.sh"
    cd ..
    run "$VALISE" trust node.sh
    expect_exit 4 as_json f.json b2
    stderr_has "$PWD/tool.sh is not trusted" "valise trust $PWD/tool.sh"
    run "$VALISE" trust tool.sh
    run as_json f.json b3
    # One that was changed since.
    put tool.sh 'echo 8'
    expect_exit 4 as_json f.json b4
    stderr_has 'tool.sh is not trusted, and trust in'
    # Also while the flow runs.
    put tool.sh 'echo "echo 8" >>tool.sh; echo 7'
    run "$VALISE" trust tool.sh
    run as_json f.json b5
    run "$VALISE" bp unpack b5 result
    stdout_has 7
    run "$VALISE" bp unpack b5 second
    stdout_has '"error":"DENIED"'
    # Through a link, and one that is not there.
    mv node.sh real.sh
    ln -s real.sh node.sh
    expect_exit 4 as_json f.json b6
    stderr_has "$PWD/real.sh is not trusted"
    rm node.sh
    expect_exit 1 as_json f.json b7
    stderr_has 'cannot run ./node.sh'
    # It was named: whatever there is.
    put node.sh 'echo "{}"'
    run "$VALISE" flow run f.json --backpack c -q
    run "$VALISE" flow rerun c f.json --from n --backpack d -q
    expect_exit 4 "$VALISE" flow rerun c --from n --backpack e
}
t 'a flow that is trusted by its bytes runs programs that are, too [K34]' own_programs

server_of_a_trusted_flow() {
    "$VALISE" -q init
    printf '%s\n' '#!/bin/sh' 'echo started >>started' >s.sh
    chmod +x s.sh
    echo '{"dependencies":{"s":{"mcp":{"command":["./s.sh"]}}},"nodes":[
        {"id":"t","type":"ToolExecutionNode","params":{"tool":"t"}}]}' >f.json
    run "$VALISE" trust f.json
    expect_exit 4 as_json f.json b
    stderr_has "valise trust $PWD/s.sh"
    [ ! -e started ]
    run "$VALISE" trust s.sh
    expect_exit 1 as_json f.json b
    stderr_has 'ended without an answer'
    [ -e started ]
}
t 'so it is with its servers [K34]' server_of_a_trusted_flow

left_out() {
    need python3
    "$VALISE" -q init
    export TOKEN=$SECRET
    cat >server.py <<'EOF'
import json, os, sys
tools = [{"name": "bad", "inputSchema": {"type": os.environ["K"]}},
         {"name": os.environ["K"], "inputSchema": 7},
         {"name": "good", "inputSchema": {"type": "object"}}]
for line in sys.stdin:
    m = json.loads(line)
    if m["method"] == "initialize":
        r = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif m["method"] == "tools/list":
        r = {"tools": tools}
    elif m["method"] == "tools/call":
        r = {"content": [{"type": "text", "text": "ran " + m["params"]["name"]}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
EOF
    echo '{"dependencies":{"s":{"mcp":{"command":["python3","server.py"],"env":{"K":"${TOKEN}"}}}},
        "nodes":[{"id":"t","type":"ToolExecutionNode","params":{"tool":"good"}}]}' >f.json
    run "$VALISE" flow run f.json --backpack b
    stdout_matches '^warning .* t  a tool of s is left out: .*bad'
    stdout_matches '^warning .* t  a tool of s is left out: .*\[redacted\]'
    stdout_lacks "$SECRET"
    run "$VALISE" bp unpack b result
    stdout_is '"ran good"'
}
t 'a tool of a server that cannot be used is left out, with a warning [F11]' left_out

# Forks of elements, and those of a map within a map.
left_behind() {
    "$VALISE" -q init
    echo '{"nodes":[{"id":"o","type":"MapNode","params":{"over":"l","flow":{"nodes":[{"id":"i","type":"MapNode",
        "params":{"over":"l","flow":{"nodes":[{"id":"x","type":"ExecNode",
        "params":{"command":["sh","-c","echo >>log; until [ -e go ]; do sleep 0.02; done"],"into":"result"}}]}}}]},
        "collect":"results"}}]}' >f.json
    for b in killed lives; do
        : >log
        "$VALISE" flow run f.json --backpack "$b" --set l='[1,2]' -q >/dev/null 2>&1 &
        until [ "$(wc -l <log)" -ge 4 ]; do sleep 0.02; done
        [ "$b" = lives ] || kill -9 $!
        [ "$b" = lives ] || wait $! 2>/dev/null || true
    done
    [ "$("$VALISE" bp list | grep -c map-)" -eq 12 ]
    until "$VALISE" flow runs | grep -q interrupted; do sleep 0.02; done
    run "$VALISE" gc
    [ "$("$VALISE" bp list | grep -c map-)" -eq 6 ]
    : >go
    wait
    run "$VALISE" bp unpack lives results
    stdout_is '[["",""],["",""]]'
    run "$VALISE" flow resume killed f.json -q
    run "$VALISE" bp unpack killed results
    stdout_is '[["",""],["",""]]'
    run "$VALISE" bp list
    stdout_lacks map-
    run "$VALISE" bp drop killed
    run "$VALISE" validate
}
t 'what maps of a killed run left behind goes with gc [F13] [F18]' left_behind

few_rights() {
    "$VALISE" -q init
    "$VALISE" -q agent add w --role writer
    "$VALISE" -q agent update w --grant backpack:as-node
    echo '{"nodes":[{"id":"a","type":"SetNode","params":{"values":{"l":[1,2]}}},{"id":"m","type":"MapNode",
        "params":{"over":"l","flow":{"nodes":[{"id":"s","type":"SetNode",
        "params":{"values":{"result":"{{item}}"}}}]}}}],"edges":[{"from":"a","to":"m"}]}' >f.json
    run "$VALISE" --actor w flow run f.json --backpack b -q
    run "$VALISE" bp unpack b results
    stdout_is '[1,2]'
    run "$VALISE" bp list
    stdout_lacks map-
}
t 'who may write can run a map, which leaves nothing behind [F18]' few_rights

many() {
    "$VALISE" -q init
    echo '{"nodes":[{"id":"m","type":"MapNode","params":{"over":"l","flow":{"nodes":[{"id":"s","type":"SetNode",
        "params":{"values":{"result":"{{item}}"}}}]}}},{"id":"f","type":"FinalAnswerNode",
        "params":{"from":"{{results#/1200}}"}}],"edges":[{"from":"m","to":"f"}]}' >f.json
    run "$VALISE" flow run f.json --ephemeral -q --set "l=[$(seq -s , 0 1200)]"
}
t 'a map has more elements than a backpack has merges behind it [F18]' many

outside() {
    "$VALISE" -q init
    put x.sh '"$1" -q bp pack b k 7 >&2' 'echo "{\"pack\":{\"k\":1,\"result\":1}}"'
    echo '{"nodes":[{"id":"m","type":"MapNode","params":{"over":"l","flow":{"nodes":[{"id":"x","type":"ExecNode",
        "params":{"command":["./x.sh","'"$VALISE"'"]}}]}}}]}' >f.json
    expect_exit 5 "$VALISE" flow run f.json --backpack b --set 'l=[1]'
    stderr_has "'k' was changed while 'm/0' ran"
    run "$VALISE" bp unpack b k
    stdout_is 7
    run "$VALISE" bp list
    stdout_lacks map-
}
t 'what somebody else packed while a map ran is not overwritten [F18]' outside

mended() {
    "$VALISE" -q init
    echo '{"nodes":[{"id":"a","type":"SetNode","params":{"values":{"n":1}}},{"id":"x","type":"SetNode",
        "params":{"values":{"m":"hi {{name}}"}}}],"edges":[{"from":"a","to":"x"}]}' >f.json
    expect_exit 3 "$VALISE" flow run f.json --backpack b -q
    run "$VALISE" bp pack b name '"you"' -q
    run "$VALISE" flow resume b f.json -q
    run "$VALISE" bp unpack b m
    stdout_is '"hi you"'
    run "$VALISE" bp list
    stdout_lacks aborted
}
t 'what was packed so that a run can go on is there when it does [F13]' mended

beside() {
    "$VALISE" -q init
    mkdir other
    echo '{"nodes":[{"id":"a","type":"SetNode","params":{"values":{"n":"{{name}}"}}},
        {"id":"c","type":"ChatNode","params":{"prompt":"hi","replay":"r.jsonl"}}],"edges":[{"from":"a","to":"c"}]}' >f.json
    echo '{"answer":{"blocks":[{"type":"text","text":"hello"}]}}' >r.jsonl
    expect_exit 3 "$VALISE" flow run f.json --backpack b -q
    run "$VALISE" bp pack b name '"you"' -q
    echo '{"nodes":[]}' >f.json
    cd other
    run "$VALISE" flow resume b -q
    run "$VALISE" bp unpack b answer
    stdout_is '"hello"'
}
t 'a run goes on beside its file, also when that is another one now [F13]' beside

odd_texts() {
    "$VALISE" -q init
    cat >f.json <<'EOF'
{"nodes": [{"id": "x", "type": "SetNode", "params": {"values": {"a": 1, "b": 2}, "action": "ждать"}},
  {"id": "y", "type": "ExecNode", "params": {"command": ["printf", "%s", "{\"remove\":[\"a\\u0000b\"]}"]}},
  {"id": "z", "type": "ExecNode", "params": {"command": ["printf", "%s", "{\"action\":\"good\\u0000bad\"}"]}}],
 "edges": [{"from": "x", "to": "y", "condition": "ждать"}, {"from": "y", "to": "z", "condition": "error"}]}
EOF
    expect_exit 6 "$VALISE" flow run f.json --backpack b --json
    stderr_has "is not an action"
    run "$VALISE" bp unpack b a
    stdout_is 1
}
t 'actions are any text; a NUL byte ends neither an action nor a key [F3] [F9]' odd_texts

large_params() {
    "$VALISE" -q init
    printf '{"nodes":[{"id":"a","type":"SetNode","params":{"values":{"k":"%02000000d"}}}]}' 0 >f.json
    run "$VALISE" flow run f.json --ephemeral --json
    stdout_matches '"params":null.*"type":"flow:NODE_START"'
}
t 'that a node begins is told, however large its params are [F12]' large_params

late() {
    "$VALISE" -q init
    echo '{"nodes":[{"id":"m","type":"SubflowNode","timeout":"300ms","params":{"flow":{"nodes":[{"id":"x",
        "type":"ExecNode","maxRetries":5,"wait":"5s","params":{"command":["false"]}}]}}}]}' >f.json
    expect_exit 1 "$VALISE" flow run f.json --ephemeral
    stderr_has "'m', which it is part of, took longer than its timeout of 300 ms"
}
t 'a node that waits for its next try says whose time was over [F14]' late

way_on() {
    "$VALISE" -q init
    put step.sh '[ -e ready ] || exit 3; echo "{}"'
    echo '{"nodes":[{"id":"a","type":"ExecNode","params":{"command":["./step.sh"]}},
        {"id":"b","type":"SetNode","params":{"values":{"n":1}}}],"edges":[{"from":"a","to":"b"}]}' >f.json
    # A name that a shell takes apart is not in the command.
    expect_exit 1 "$VALISE" flow run f.json --backpack 'my $(bag)'
    id=$("$VALISE" flow runs | awk 'NR == 2 {print $1}')
    stderr_has "'valise flow resume $id $PWD/f.json' continues the run"
    touch ready
    run "$VALISE" flow resume "$id" "$PWD/f.json" -q
    # Other params belong to it.
    rm ready
    expect_exit 1 "$VALISE" flow rerun 'my $(bag)' f.json --from a --backpack c --param 'b.values={"n":2}'
    stderr_has "'valise flow resume c $PWD/f.json', with the same --param, continues the run"
    expect_exit 1 "$VALISE" flow resume c f.json --param 'b.values={"n":2}'
    stderr_has "'valise flow resume c $PWD/f.json', with the same --param, continues the run"
    # So does a file whose name is not to be typed as it is.
    mv f.json 'a file.json'
    expect_exit 1 "$VALISE" flow run 'a file.json' --backpack d
    stderr_has "'valise flow resume d', with its file, continues the run"
    # An error that says a way out itself says this one, too.
    echo '{"nodes":[{"id":"a","type":"SetNode","params":{"values":{"n":"{{x}}"}}}]}' >g.json
    expect_exit 3 "$VALISE" flow run g.json --backpack e
    stderr_has "give it with --set" "let a node before this one pack it" "; then 'valise flow resume e $PWD/g.json' continues"
    expect_exit 3 "$VALISE" flow run g.json --ephemeral
    stderr_has "let a node before this one pack it"
    stderr_lacks 'resume'
}
t 'the way on is a command that can be typed, and goes on [F13] [L5]' way_on

done_testing
