#!/usr/bin/env bash
# 50-backpack.sh -- backpacks as people use them: what is shown, exit codes, bisect, graphs. [L3]
. "$(dirname "$0")/lib.sh"

bp() {
    "$VALISE" -q bp "$@"
}

# A run of four commits by three nodes.
run_1() {
    "$VALISE" -q init
    bp pack run-1 query --text "Capital of France?" --tag user-input
    bp pack run-1 fact '{"capital":"Paris"}' --node-id research-1 --namespace sales.research
    bp pack run-1 fact '{"capital":"Lyon"}' --node-id research-2
    bp pack run-1 email '"a@b.c"' --tag pii
}

# What the last command printed, with times and ids made equal.
masked() {
    sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/TIME/g; s/\b[0-9a-f]{8}\b/ID/g' "$OUT" >"$OUT.masked"
    lib_is "$OUT.masked" "stdout (masked)" "$@"
}

on_terminal() {
    TERM=xterm PAGER=cat NO_COLOR='' run "$LIB_DIR/on_terminal.py" --columns "$@"
}

t 'bp is backpack; every verb of L3 is there and its help has an example [L3 L4]' '
    for verb in pack unpack peek rm clear ls history access-log show snapshot checkpoint diff blame \
        bisect quarantine release permit validate usage export import fork merge; do
        run "$VALISE" bp $verb --help
        stdout_has "example:" "valise bp $verb "
    done
    run "$VALISE" bp --help
    stdout_has "usage: valise bp COMMAND"
    expect_exit 2 "$VALISE" bp pak
    stderr_has "did you mean"
'

t 'unpack and peek hand out a text without its quotes, if asked; what is no text stays JSON' '
    run_1
    run "$VALISE" bp unpack run-1 query --text
    stdout_is "Capital of France?"
    run "$VALISE" bp peek run-1 query --text
    stdout_is "Capital of France?"
    run "$VALISE" bp unpack run-1 fact --text
    stdout_is "{\"capital\":\"Lyon\"}"
    run "$VALISE" bp unpack run-1 query --text --json
    stdout_is "\"Capital of France?\""
    expect_exit 3 "$VALISE" bp unpack run-1 nothing --text
    expect_exit 2 "$VALISE" bp ls run-1 --text
    stderr_has "takes no --text"
'

examples_work() {
    local verb
    run_1
    bp pack run-1 context 1
    bp pack run-1 retry_0 1
    bp pack run-1 x 1 --tag temporary
    bp run run-1 --node research-2
    bp fork run-1 run-1b
    for verb in access-log bisect blame checkpoint clear conflicts create diff export fork history \
        import list ls merge pack peek permissions permit points quarantine release rule rules run \
        show snapshot unpack usage validate rm; do
        "$VALISE" bp "$verb" --help | sed -n '/^example:/,$p' | sed -n 2p >line
        [ -s line ]
        case $verb in
        create) sed -i 's/run-1$/run-9/' line ;;
        fork) sed -i 's/run-1b/run-1c/' line ;;
        esac
        run sh -c "PATH=$(dirname "$VALISE"):\$PATH; $(cat line)"
    done
}
t 'the examples of the help work as they stand' examples_work

packing() {
    "$VALISE" -q init
    run "$VALISE" bp pack run-1 query --text "What is AI?"
    masked "commit 1 ID  v1"
    run "$VALISE" bp unpack run-1 query
    stdout_is '"What is AI?"'
    printf 'two\nlines' >text
    run "$VALISE" bp pack run-1 long --text @text
    run "$VALISE" bp unpack run-1 long
    stdout_is '"two\nlines"'
    echo "[1, 2.0]" | run "$VALISE" bp pack run-1 list -
    run "$VALISE" bp unpack run-1 list
    stdout_is "[1,2]"
    expect_exit 6 "$VALISE" bp pack run-1 x "plain words"
    stderr_has "a text is '\"plain words\"' or --text 'plain words'"
    expect_exit 6 "$VALISE" bp pack run-1 x "it's"
    stderr_has "--text 'it'\\''s'"
    expect_exit 6 "$VALISE" bp pack run-1 x '{"a"'
    stderr_lacks --text
    expect_exit 2 "$VALISE" bp pack run-1 x 1 --text a
    stderr_has "has its VALUE from --text"
    expect_exit 2 "$VALISE" bp pack run-1 x --value 1 --text a
    expect_exit 2 "$VALISE" bp pack run-1 x
    stderr_has "needs: BACKPACK KEY VALUE"
    expect_exit 2 "$VALISE" bp unpack run-1 query --text a
    stderr_has "one too many"
    run "$VALISE" bp pack -q run-1 x 1
    stdout_is_empty
    run "$VALISE" bp pack --json run-1 x 1
    json_is applied true
    json_is version 2
    [ "$(json_get commitId | wc -c)" = 37 ]
}
t 'pack says which commit it made; text needs no JSON; a bare word gets the right quoting [L4]' packing

t 'what is absent prints nothing and exits with 3; what is denied with 4 [L5]' '
    run_1
    expect_exit 3 "$VALISE" bp unpack run-1 nix
    stdout_is_empty
    stderr_is_empty
    expect_exit 3 "$VALISE" bp unpack run-1 nix --json
    stdout_is_empty
    expect_exit 3 "$VALISE" bp peek run-1 nix
    stdout_is_empty
    expect_exit 3 "$VALISE" bp unpack run-1 nix --required
    stderr_has "there is no '"'nix'"'" "bp ls run-1"
    expect_exit 3 "$VALISE" bp ls run-2
    stderr_has "no backpack '"'run-2'"'" "run-1"
    run "$VALISE" bp permit run-1 summary --read "q*" --write summary
    stdout_is_empty
    expect_exit 4 "$VALISE" bp unpack run-1 fact --node summary
    stdout_is_empty
    stderr_has "node '"'summary'"' may not read '"'fact'"'"
    expect_exit 4 "$VALISE" bp pack run-1 fact 1 --node summary
    run "$VALISE" bp unpack run-1 query --node summary
    stdout_is "\"Capital of France?\""
    run "$VALISE" bp permissions run-1
    stdout_is <<EOF
NODE     READ  WRITE
summary  q*    summary
EOF
    expect_exit 5 "$VALISE" bp pack run-1 fact 1 --expect 1
    stderr_has "it is now 2"
    expect_exit 5 "$VALISE" bp pack run-1 fact 1 --expect 1 --json
    stderr_has "\"code\":\"CONFLICT\",\"current\":2"
    run "$VALISE" bp access-log run-1
    masked <<EOF
KEY    ACTION  OUTCOME  VERSION  NODE     TIME
nix    unpack  absent         0  unknown  TIME
nix    unpack  absent         0  unknown  TIME
nix    unpack  absent         0  unknown  TIME
fact   unpack  denied         0  summary  TIME
query  unpack  found          1  summary  TIME
EOF
'

t 'ls and snapshot are aligned; list says what was forked from what' '
    run_1
    run "$VALISE" bp ls run-1
    masked <<EOF
KEY    VERSION  COMMIT  NODE        TIME                  TAGS        VALUE
email        1       4  unknown     TIME  pii         [redacted]
fact         2       3  research-2  TIME              {"capital":"Lyon"}
query        1       1  unknown     TIME  user-input  "Capital of France?"
EOF
    run "$VALISE" bp snapshot run-1 2
    stdout_is <<EOF
KEY    VERSION  NODE        VALUE
fact         1  research-1  {"capital":"Paris"}
query        1  unknown     "Capital of France?"
EOF
    run "$VALISE" bp quarantine run-1 fact --reason "It is wrong."
    run "$VALISE" bp ls run-1 --quarantined
    stdout_has "REASON" "It is wrong."
    run "$VALISE" bp release run-1 fact
    run "$VALISE" bp fork run-1 run-1b --point 2
    stdout_matches "^backpack [0-9a-f]{8} at commit 2$"
    run "$VALISE" bp list
    masked <<EOF
NAME    COMMITS  ID        CREATED               BY     FORK OF  AT
run-1         6  ID  TIME  local
run-1b        0  ID  TIME  local  run-1     2
EOF
    run "$VALISE" bp usage run-1
    stdout_matches "^items:  +3$"
    stdout_matches "^state bytes:  +[0-9.]+ (B|KiB)$"
    run "$VALISE" bp checkpoint run-1 good
    stdout_is "checkpoint at commit 6"
    run "$VALISE" bp points run-1
    stdout_matches "^good +6  checkpoint$"
    stdout_matches "^before:research-2 +2  before +research-2$"
'

t 'history reads like git log, times to the second; --oneline; blame and show [L7]' '
    run_1
    run "$VALISE" bp history run-1 fact
    masked <<EOF
commit 3 ID  pack fact v2
Node:   research-2
Date:   TIME

    {"capital":"Lyon"}

commit 2 ID  pack fact v1
Node:   research-1 in sales.research
Date:   TIME

    {"capital":"Paris"}

EOF
    run "$VALISE" bp history run-1 --oneline
    masked <<EOF
4 ID pack email v1 unknown  [redacted]
3 ID pack fact v2 research-2  {"capital":"Lyon"}
2 ID pack fact v1 research-1  {"capital":"Paris"}
1 ID pack query v1 unknown  "Capital of France?"
EOF
    run "$VALISE" bp blame run-1 fact --oneline
    masked <<EOF
3 ID pack fact v2 research-2  {"capital":"Lyon"}
2 ID pack fact v1 research-1  {"capital":"Paris"}
EOF
    run "$VALISE" bp unpack run-1 fact
    run "$VALISE" bp history run-1 fact --reads --oneline --limit 1
    stdout_is "3 unpack fact v2 found unknown"
    run "$VALISE" bp show run-1 3
    masked <<EOF
commit 3 ID  pack fact v2
Node:   research-2
Date:   TIME

    - /capital  "Paris"
    + /capital  "Lyon"
EOF
    expect_exit 2 "$VALISE" bp ls run-1 --oneline
    stderr_has "takes no --oneline"
    run "$VALISE" bp history run-1 --json --limit 1
    json_is nodeId unknown
    json_is valueSummary "[redacted]"
    stdout_has commitId
    stdout_lacks outcome
'

t 'names of nodes, tags and reasons; what a lenient backpack did not do' '
    "$VALISE" -q init
    bp create run-1 --lenient
    bp pack run-1 k 1 --node-id n --node-name Node --tag b --tag a
    bp quarantine run-1 k --reason "No good."
    run "$VALISE" bp history run-1
    masked <<EOF
commit 2 ID  quarantine k v1
Node:   unknown
Date:   TIME
Tags:   a, b
Reason: No good.

    1

commit 1 ID  pack k v1
Node:   n (Node)
Date:   TIME
Tags:   a, b

    1

EOF
    bp permit run-1 m --deny k
    run "$VALISE" bp pack run-1 k 2 --node m
    stdout_is "denied: nothing was done"
    run "$VALISE" bp pack run-1 k 2 --node m --json
    json_is applied false
    expect_exit 3 "$VALISE" bp unpack run-1 k --node m
    stdout_is_empty
    run "$VALISE" bp history run-1 --reads --limit 1
    masked <<EOF
read  unpack k denied
Node:   m
Date:   TIME

EOF
    run "$VALISE" bp access-log run-1 m --access write
    stdout_has denied
'

t 'a graph shows forks where they branch off [L7]' '
    run_1
    bp fork run-1 run-1b --point 2
    bp fork run-1 run-1c --point 3
    bp pack run-1b fact 1 --node-id b
    bp fork run-1b run-1bb
    bp pack run-1c fact 2 --node-id c
    bp pack run-1 fact 3 --node-id a
    bp pack run-1bb fact 4 --node-id bb
    run "$VALISE" bp history run-1 --graph
    masked <<EOF
* 1 ID (run-1bb) pack fact v3 bb  4
| * 5 ID (run-1) pack fact v3 a  3
| | * 1 ID (run-1c) pack fact v3 c  2
* | | 1 ID (run-1b) pack fact v2 b  1
| * | 4 ID pack email v1 unknown  [redacted]
| |/
| * 3 ID pack fact v2 research-2  {"capital":"Lyon"}
|/
* 2 ID pack fact v1 research-1  {"capital":"Paris"}
* 1 ID pack query v1 unknown  "Capital of France?"
EOF
    run "$VALISE" bp history run-1b --graph
    masked <<EOF
* 1 ID (run-1bb) pack fact v3 bb  4
* 1 ID (run-1b) pack fact v2 b  1
o forked from run-1 at 2
EOF
    bp fork run-1 run-1d --point 2
    bp fork run-1d run-1dd
    run "$VALISE" bp history run-1 --graph --limit 9
    stdout_has "(run-1d, run-1dd) pack fact v1"
    expect_exit 2 "$VALISE" bp history run-1 --graph --reverse
    expect_exit 3 "$VALISE" bp history nope --graph
'

t 'lanes that join from further right, and those beside them' '
    "$VALISE" -q init
    bp pack a k 1
    bp pack a k 2
    bp fork a b --point 1
    bp fork a c --point 2
    bp fork a d --point 1
    bp pack c k 3
    bp pack b k 4
    bp pack a k 5
    bp pack d k 6
    run "$VALISE" bp history a --graph
    masked <<EOF
* 1 ID (d) pack k v2 unknown  6
| * 3 ID (a) pack k v3 unknown  5
| | * 1 ID (b) pack k v2 unknown  4
| | | * 1 ID (c) pack k v3 unknown  3
| |_|/
| * | 2 ID pack k v2 unknown  2
|_|/
|/
* 1 ID pack k v1 unknown  1
EOF
'

t 'diff shows JSON changes, and fails on them when asked to [L5]' '
    run_1
    run "$VALISE" bp diff run-1 2
    masked <<EOF
added email  by unknown, commit 4 ID
  + "a@b.c"
modified fact  by research-2, commit 3 ID
  - /capital  "Paris"
  + /capital  "Lyon"
EOF
    expect_exit 8 "$VALISE" bp diff run-1 2 --exit-code
    run "$VALISE" bp diff run-1 now --exit-code
    stdout_is_empty
    expect_exit 8 "$VALISE" bp diff run-1 before:research-2 after:research-2 --exit-code --json
    json_is patch "[{\"op\":\"replace\",\"path\":\"/capital\",\"value\":\"Lyon\"}]"
    json_is nodeId research-2
'

t 'a merge that cannot be shows what is in the way [L5]' '
    run_1
    bp fork run-1 run-1b --point 2
    bp pack run-1b fact "{\"capital\":\"Nice\"}" --node-id r3
    expect_exit 5 "$VALISE" bp merge run-1 run-1b
    stdout_is <<EOF
conflict fact
  ours, by research-2
    - /capital  "Paris"
    + /capital  "Lyon"
  theirs, by r3
    - /capital  "Paris"
    + /capital  "Nice"
EOF
    stderr_has "both changed 1 key: fact" "merge again"
    expect_exit 5 "$VALISE" bp merge run-1 run-1b --json
    json_is theirs "{\"capital\":\"Nice\"}"
    stderr_has "\"code\":\"CONFLICT\""
    expect_exit 5 "$VALISE" bp merge run-1 run-1b -q
    stdout_is_empty
    bp pack run-1b fact "{\"capital\":\"Lyon\"}"
    bp pack run-1b more 1
    run "$VALISE" bp merge run-1 run-1b
    stdout_is "1 key merged"
'

t 'a second merge brings what is new, and no runs [B12] [B17]' '
    run_1
    bp fork run-1 run-1b
    bp pack run-1b fact "{\"capital\":\"Paris\"}" --node-id r3
    run "$VALISE" bp merge run-1 run-1b
    stdout_is "1 key merged"
    bp pack run-1b fact "{\"capital\":\"Nice\"}" --node-id r3
    bp pack run-1 query "\"?\""
    run "$VALISE" bp merge run-1 run-1b
    stdout_is "1 key merged"
    run "$VALISE" bp unpack run-1 fact
    stdout_is "{\"capital\":\"Nice\"}"
    run "$VALISE" bp merge run-1b run-1
    stdout_is "1 key merged"
    run "$VALISE" bp blame run-1 fact
    stdout_has "Node:   r3"
    expect_exit 3 "$VALISE" bp snapshot run-1 before:r3
    stderr_has "has not run here"
    run "$VALISE" bp snapshot run-1b before:r3
'

t 'what a fork began with in quarantine has numbers of its own [B25]' '
    run_1
    bp quarantine run-1 fact --reason old
    bp fork run-1 run-1b
    bp pack run-1b fact 1
    bp quarantine run-1b fact --reason new
    run "$VALISE" bp ls run-1b --quarantined --json
    stdout_has "\"reason\":\"old\",\"seq\":-1" "\"reason\":\"new\",\"seq\":2"
    run "$VALISE" bp release run-1b fact --entry -1
    run "$VALISE" bp unpack run-1b fact
    stdout_is "{\"capital\":\"Lyon\"}"
    expect_exit 3 "$VALISE" bp release run-1b fact --entry -1
'

t 'bisect with a program: state on stdin, names in its environment [B16]' '
    run_1
    run "$VALISE" bp bisect run-1 -- grep -q Lyon
    masked <<EOF
commit 3 ID  pack fact v2
Node:   research-2
Date:   TIME

    {"capital":"Lyon"}

EOF
    stderr_is_empty
    run "$VALISE" bp bisect run-1 --json -- grep -q Lyon
    json_is action pack
    json_is seq 3
    cp "$OUT" by-program
    run "$VALISE" bp bisect run-1 --json --rule "{\"==\":[{\"var\":\"fact.capital\"},\"Lyon\"]}"
    stdout_is "$(cat by-program)"
    cat >ask <<EOF
#!/bin/sh
cat >state.\$VALISE_SEQ
echo "\$VALISE_BACKPACK \$VALISE_SEQ \$*" >>asked
echo noise
"$VALISE" bp peek "\$VALISE_BACKPACK" fact --point "\$VALISE_SEQ" >>asked
[ "\$VALISE_SEQ" -ge 2 ]
EOF
    chmod +x ask
    run "$VALISE" bp bisect run-1 0 now -- ./ask -x "two words"
    stdout_has "commit 2 "
    stdout_lacks noise
    run cat asked
    stdout_is <<EOF
run-1 4 -x two words
{"capital":"Lyon"}
run-1 0 -x two words
run-1 2 -x two words
{"capital":"Paris"}
run-1 1 -x two words
EOF
    run "$VALISE" json canonical @state.2
    stdout_is "{\"fact\":{\"capital\":\"Paris\"},\"query\":\"Capital of France?\"}"
    run "$VALISE" bp bisect run-1 before:research-2 3 -- grep -q Lyon
    stdout_has "commit 3 "
'

t 'bisect and snapshot leave out a value that was erased [B16 K20]' '
    run_1
    run "$VALISE" bp erase run-1 query
    run "$VALISE" bp snapshot run-1 now
    stdout_has query fact
    stdout_lacks France
    run "$VALISE" bp bisect run-1 -- grep -q Lyon
    stdout_has "commit 3 "
    run "$VALISE" bp bisect run-1 0 now -- sh -c "cat >seen; test \$VALISE_SEQ -gt 0"
    run cat seen
    stdout_is "{}"
'

t 'bisect: programs that do not answer, and words that make no sense' '
    run_1
    expect_exit 3 "$VALISE" bp bisect run-1 -- false
    stderr_has "does not hold after commit 4"
    expect_exit 1 "$VALISE" bp bisect run-1 -- sh -c "exit 125"
    stderr_has "exited with 125" "cannot be skipped"
    expect_exit 1 "$VALISE" bp bisect run-1 -- sh -c "exit 126"
    stderr_has "'"'sh'"' exited with 126"
    expect_exit 1 "$VALISE" bp bisect run-1 -- sh -c "kill -9 \$\$"
    stderr_has "ended by signal 9"
    expect_exit 1 "$VALISE" bp bisect run-1 -- ./nothing-here
    stderr_has "cannot run ./nothing-here"
    expect_exit 1 "$VALISE" bp bisect run-1 -- .
    expect_exit 6 "$VALISE" bp bisect run-1 3 2 -- true
    expect_exit 6 "$VALISE" bp bisect run-1 3 2 --rule true
    expect_exit 3 "$VALISE" bp bisect run-1 nope -- true
    expect_exit 3 "$VALISE" bp bisect run-9 -- true
    expect_exit 2 "$VALISE" bp bisect run-1
    stderr_has "--rule" "--"
    expect_exit 2 "$VALISE" bp bisect run-1 --rule true -- true
    expect_exit 2 "$VALISE" bp bisect run-1 --node n -- true
    expect_exit 2 "$VALISE" bp bisect run-1 --at 2 -- true
    expect_exit 2 "$VALISE" bp bisect run-1 1 2 3 -- true
    stderr_has "[-- PROGRAM...]"
    run "$VALISE" bp bisect run-1 --at 4 --rule "{\"var\":\"fact\"}"
    run "$VALISE" commands
    stdout_has "backpack:bisect"
    run "$VALISE" run backpack:bisect "{\"backpack\":\"run-1\",\"rule\":{\"var\":\"fact\"}}"
    stdout_has "commit 2 "
'

t 'Ctrl-C ends a bisect and the program it waits for' '
    run_1
    printf "#!/bin/sh\necho \$\$ >pid\nexec sleep 100\n" >slow
    chmod +x slow
    env --default-signal=INT "$VALISE" bp bisect run-1 -- ./slow >out 2>err &
    pid=$!
    for _ in $(seq 1000); do [ -s pid ] && break; sleep 0.01; done
    kill -INT $pid $(cat pid)
    code=0
    wait $pid || code=$?
    run echo $code
    stdout_is 130
'

t 'show takes a commit by its id or place [L7]' '
    run_1
    id=$("$VALISE" bp history run-1 --json --limit 1 --key fact | sed "s/.*\"commitId\":\"//; s/\".*//")
    for name in "$id" "${id#*-*-*-*-}" "${id: -8}" "${id: -4}"; do
        run "$VALISE" show "$name"
        masked <<EOF
backpack run-1
commit 3 ID  pack fact v2
Node:   research-2
Date:   TIME

    - /capital  "Paris"
    + /capital  "Lyon"
EOF
    done
    run "$VALISE" show --json "$id"
    json_is kind backpack_commit
    json_is value.key fact
    place=$(json_get id)
    run "$VALISE" show "$place"
    stdout_has "commit 3 "
    expect_exit 3 "$VALISE" show 01a1dff0-2090-7452-be65-50b54b43e46f
    expect_exit 3 "$VALISE" show "00000000${id:8}"
    expect_exit 3 "$VALISE" show "${place%/*}/99"
    run "$VALISE" show --at 4 "$place"
    stdout_has "kind:" "backpack_commit"
'

t 'colours and cut values on a terminal, neither elsewhere; progress of bisect [L4 L6]' '
    need python3
    run_1
    bp pack run-1 long "\"$(printf %0300d 7)\""
    run "$VALISE" bp history run-1 --oneline
    stdout_has "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    stdout_lacks "$(printf "\033")"
    on_terminal 60 "$VALISE" bp history run-1 --oneline
    stdout_has "$(printf "\033[33m5 ")"
    run sh -c "sed \"s/\$(printf "\\\\033")\\[[0-9;]*m//g\" $OUT | LC_ALL=C.UTF-8 awk \"length > 60\""
    stdout_is_empty
    on_terminal 60 "$VALISE" bp ls run-1
    stdout_has "…"
    on_terminal 80 "$VALISE" --color never bp ls run-1
    stdout_has "{\"capital\":\"Lyon\"}" # a value says more than when it came
    stdout_lacks "TIME"
    on_terminal 60 "$VALISE" bp diff run-1 2 3
    stdout_has "$(printf "\033[31m- /capital")" "$(printf "\033[32m+ /capital")"
    on_terminal 80 "$VALISE" bp bisect run-1 -- grep -q Lyon
    stdout_has "Bisecting: trying commit 5; 4 left after this (roughly 3 steps)"
    on_terminal 80 "$VALISE" bp bisect -q run-1 -- grep -q Lyon
    stdout_lacks Bisecting
    bp pack run-1 evil --text "$(printf "\033]0;title\007")"
    on_terminal 80 "$VALISE" bp history run-1 --oneline --limit 1
    stdout_lacks "$(printf "\033]0")"
'

t 'validate says every error with its place, and exits with 6 [B26 L5]' '
    run_1
    run "$VALISE" bp validate run-1 "{\"required\":[\"query\"]}"
    stdout_is valid
    expect_exit 6 "$VALISE" bp validate run-1 "{\"required\":[\"zip\"],\"properties\":{\"query\":{\"type\":\"number\"}}}"
    stdout_is <<EOF
(whole value): must have the property "zip"
/query: must be a number, is "Capital of France?"
EOF
'

t 'export, import, and a snapshot in the shape of the first specification [B27]' '
    run_1
    run "$VALISE" bp export run-1 --all
    cp "$OUT" run-1.json
    run "$VALISE" bp import copy @run-1.json
    stdout_matches "^backpack [0-9a-f]{8}  3 items, 4 commits$"
    run "$VALISE" bp diff run-1 now --other copy
    stdout_is_empty
    cat >snapshot.json <<EOF
{"items": [
  ["userQuery", {"key": "userQuery", "value": "What is AI?", "metadata": {"sourceNodeId": "input-1",
    "sourceNodeName": "InputNode", "sourceNamespace": "sales.input", "timestamp": 1767323045000,
    "version": 1, "tags": ["user-input"]}}],
  ["answer", {"key": "answer", "value": {"text": "A field of study."}, "metadata": {
    "sourceNodeId": "chat-1", "sourceNodeName": "ChatNode", "timestamp": 1767323046000,
    "version": 2, "tags": []}}]],
 "history": [{"commitId": "x", "timestamp": 1767323045000, "nodeId": "input-1", "action": "pack",
    "key": "userQuery"}],
 "permissions": {"summary": {"read": ["answer"], "write": ["summary"], "deny": ["secret*"]}}}
EOF
    run "$VALISE" bp import old @snapshot.json
    stdout_matches "^backpack [0-9a-f]{8}  2 items, 2 commits$"
    run "$VALISE" bp ls old --values
    stdout_is <<EOF
KEY        VERSION  COMMIT  NODE     NAMESPACE    TIME                  TAGS        VALUE
answer           2       2  chat-1                2026-01-02T03:04:06Z              {"text":"A field of study."}
userQuery        1       1  input-1  sales.input  2026-01-02T03:04:05Z  user-input  "What is AI?"
EOF
    run "$VALISE" bp history old --oneline
    masked <<EOF
2 ID import answer v2 chat-1  {"text":"A field of study."}
1 ID import userQuery v1 input-1  "What is AI?"
EOF
    run "$VALISE" bp permissions old
    stdout_is <<EOF
NODE     READ    WRITE    DENY
summary  answer  summary  secret*
EOF
    expect_exit 4 "$VALISE" bp unpack old userQuery --node summary
    echo "{\"items\":[[\"a\",3]],\"history\":[],\"permissions\":{}}" >bad.json
    expect_exit 6 "$VALISE" bp import bad @bad.json
    stderr_has "items[0]"
    expect_exit 3 "$VALISE" bp ls bad
    expect_exit 1 "$VALISE" bp import old @snapshot.json
    stderr_has "old"
    run "$VALISE" validate
'

offers() {
    lib_checked
    "$VALISE" __complete -- "$@" | cut -f1 | tr '\n' ' '
}

t 'names, keys, nodes and points are completed [L8]' '
    run_1
    bp fork run-1 other
    bp checkpoint run-1 good
    [ "$(offers bp pa)" = "pack " ]
    [ "$(offers b | tr " " "\n" | sort | tr "\n" " ")" = "backpack batch blob bp " ]
    [ "$(offers bp unpack "")" = "other run-1 " ]
    [ "$(offers bp unpack run-1 "")" = "email fact query " ]
    [ "$(offers bp unpack --backpack run-1 "")" = "email fact query " ]
    [ "$(offers bp unpack --backpack=run-1 f)" = "fact " ]
    [ "$(offers bp unpack run-9 "")" = "" ]
    [ "$(offers bp history run-1 --by "")" = "unknown research-2 research-1 " ]
    [ "$(offers bp history run-1 --by=re)" = "--by=research-2 --by=research-1 " ]
    [ "$(offers bp snapshot run-1 g)" = "good " ]
    [ "$(offers bp snapshot run-1 before:r)" = "before:research-1 before:research-2 " ]
    [ "$(offers bp diff run-1 1 after:research-2)" = "after:research-2 " ]
    [ "$(offers bp merge run-1 o)" = "other " ]
    [ "$(offers bp show run-1 "")" = "4 3 2 1 " ]
    [ "$(offers bp pack run-1 k --te)" = "--text " ]
    [ "$(offers bp pack run-1 k --text "")" = " " ]
    [ "$("$VALISE" __complete -- bp bisect run-1 -- "")" = "$(printf "\tfiles")" ]
    [ "$(offers bp history run-1 --one)" = "--oneline " ]
    [ "$(offers run backpack:bis)" = "backpack:bisect " ]
'

done_testing
