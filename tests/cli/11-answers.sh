#!/usr/bin/env bash
# 11-answers.sh -- what every command prints with --json fits the schema that it has of it. [L4 L5]
#
# Each command of the registry answers here at least once, and so does each that is no operation;
# whoever adds one adds a line below, or the last test is red.
. "$(dirname "$0")/lib.sh"

ANSWERS=$LIB_ROOT/answers
DATA=$LIB_DIR/../unit/exchange/data
mkdir "$ANSWERS"
export ANSWERS DATA

# expect CODE words...: with --json, kept for the last test.
expect() {
    local want=$1 number
    shift
    number=$(find "$ANSWERS" -name '*.words' | wc -l)
    expect_exit "$want" "$VALISE" --json "$@"
    cp "$OUT" "$ANSWERS/$number.out"
    cp "$ERR" "$ANSWERS/$number.err"
    printf '%s\n' "$@" >"$ANSWERS/$number.words"
}

says() {
    expect 0 "$@"
    [ -s "$OUT" ] || fail "no answer: $*"
}
export -f expect says

t 'what is there, and the workspace' '
    says init
    says version
    says help pin
    says completion fish
    says commands
    says commands pin add
    says status
    says workspace update --label "My project" --metadata "{\"a\":1}"
    says agent add --role writer planner
    says agent add narrow --capability "context:write type=summary"
    says agent list
    says agent show narrow
    says agent update --role reader planner
    says agent remove planner
    says config set core.durability normal
    says config get core.durability
    says config list --show-origin --all
    says config unset core.durability
    echo "echo hi" >program
    chmod +x program
    says trust program
    says pin add v1
    says pin add v2 --dry-run
    says pin list
    says retention set log --age 90d
    says retention list
    says log --limit 3
    says log --graph
    expect 4 --actor narrow pin add x
    says log reads
    says events --since 1
    says show 2
    says run index:list
    "$VALISE" -q role add coder --persona "You write C."
    says index count roles
    says index query roles
    says workspace hash
    says sync
    expect 0 validate
    says repair
    says gc
    says pin remove v1
    printf "%s\n" "{\"type\":\"pin:add\",\"payload\":{\"name\":\"a\"}}" "{\"type\":\"pin:list\"}" \
        "{\"type\":\"pin:add\",\"payload\":{\"name\":\"\"}}" "nonsense" >lines
    expect 1 batch lines --keep-going
    head -1 lines | sed s/a\"/b\"/ >one
    says batch one
    says export all.valise
    mkdir other
    says -C other init
    says -C other import ../all.valise
    printf "%s\n" "{\"id\":1,\"op\":\"read_context\",\"args\":{\"node\":\".\"}}" "{\"id\":2}" no >asked
    expect 0 agent serve <asked
    expect 6 pin add ""
    expect 2 pin
    expect 2 pin add
    expect 3 pin remove nothing
    expect 5 pin add a --expect null
    expect 6 json get "{" /a
    expect 3 --workspace /nowhere status
    printf "xxxxxxxx" | dd of=.valise/valise.db bs=1 seek=8192 conv=notrunc 2>/dev/null
    expect 7 validate
    [ -s "$OUT" ]
'

t 'JSON' '
    says json canonical "{\"b\":1.50}"
    says json diff "{\"a\":1,\"c\":[1]}" "{\"a\":2,\"b\":3}"
    says json get "{\"a\":[true]}" /a
    says json logic "{\">\":[{\"var\":\"a\"},1]}" "{\"a\":2}"
    says json patch "{\"a\":1}" "[{\"op\":\"add\",\"path\":\"/b\",\"value\":2}]"
    says json pretty "[1]"
    says json validate "{\"n\":1}" "{}"
    expect 6 json validate "{\"n\":3}" "{\"properties\":{\"n\":{\"maximum\":2}}}"
'

t 'backpacks' '
    "$VALISE" -q init
    says bp create run-1 --items "{\"query\":\"What is AI?\"}"
    says bp pack run-1 answer "{\"text\":\"Lyon\"}" --node chat-1 --tag pii --namespace sales.reports
    says bp pack run-1 answer "{\"text\":\"Paris\"}" --node chat-1 --expect 1
    says bp pack run-1 answer "{\"text\":\"Paris\"}" --node chat-1 --dry-run
    says bp unpack run-1 answer --node chat-2
    expect 3 bp unpack run-1 nothing
    says bp peek run-1 answer
    says bp run run-1 --node research-2
    says bp checkpoint run-1 named
    says bp quarantine run-1 answer --reason "A retry." --error "{\"code\":1}"
    says bp ls run-1 --quarantined
    says bp release run-1 answer
    says bp permit run-1 summary --read "research*" --write summary --deny x
    says bp permissions run-1
    says bp rule run-1 pii --read chat-1
    says bp rules run-1
    says bp access-log run-1
    says bp ls run-1
    says bp history run-1
    says bp history run-1 --graph
    says bp blame run-1 answer
    says bp show run-1 2
    says bp points run-1
    says bp snapshot run-1 named
    says bp diff run-1 1
    expect 8 bp diff run-1 1 3 --exit-code
    says bp bisect run-1 -- grep -q Paris
    says bp bisect run-1 --rule "{\"==\":[{\"var\":\"answer.text\"},\"Paris\"]}"
    says bp usage run-1
    says bp list
    says bp fork run-1 run-1b
    says bp pack run-1b answer 3
    says bp pack run-1b other 4
    says bp pack run-1 answer 4
    says bp conflicts run-1 run-1b
    expect 5 bp merge run-1 run-1b
    [ -s "$OUT" ] # what is in the way
    says bp pack run-1 answer 3
    says bp merge run-1 run-1b
    says bp merges run-1
    says bp validate run-1 "{}"
    expect 6 bp validate run-1 "{\"required\":[\"nothing\"]}"
    says bp pack run-1 old 1 --tag temporary
    says bp clear run-1 --tag temporary
    says bp rm run-1 query
    says bp erase run-1 query --reason "asked for"
    says erasure list
    says bp export run-1 --all
    cp "$OUT" data
    says bp import run-2 @data
    says bp drop run-2
    says context add secret "a key"
    says workspace erase context/secret --reason "a leaked key"
'

t 'the tree, and what is known about it' '
    "$VALISE" -q init
    mkdir -p src build
    echo one >src/a.c
    echo two >src/b.c
    echo "build/" >.gitignore
    ln -s a.c src/link
    : >build/x.o
    says scan
    says check-ignore build/x.o
    expect 1 check-ignore src/a.c
    says tree list
    says tree ls src
    echo "It prints." >notes
    says put-frame src/a.c notes --type summary --metadata "{\"lines\":1}"
    frame=$(json_get frameId)
    says put-frame src/b.c notes --type summary
    says get-node src/a.c
    says get-node src
    says get-head src/a.c
    says list-frames src/a.c
    says frame show "$frame"
    says synthesize src --type notes
    says compose src/a.c --query prints
    says frame proof src/a.c --type summary
    says frame verify "$(json_get contextRoot)" "$(json_get slotKey)" "$(json_get contextProof)"
    says checkpoint first
    says checkpoint list
    says checkpoint show first
    echo three >>src/a.c
    mv src/b.c src/c.c
    says scan
    says report
    says diff v1 v2 --patch
    says checkpoint diff first --patch
    says regenerate src
    says invalidate src/a.c --type summary --reason "it was about another"
    says reaffirm src/a.c --type summary
    says get-node src/a.c
    says restore first src --dry-run
    says restore first
    says checkpoint remove first
    says prune --versions 1 --dry-run
    (sleep 1; echo four >>src/a.c) &
    says watch --timeout 3s --once
    says watch --regenerate --timeout 100ms
'

t 'what was said, and what is known' '
    "$VALISE" -q init
    says role add coder --persona "You write C." --constraints "{\"model\":\"m\"}" --topic code
    says role add lawyer --persona "You know the law."
    says role update coder --constraints "{\"temperature\":0.5}" --unset label
    says role history coder
    says role show coder
    says role list
    says context add team/style "We write C11." --topic code --metadata "{\"a\":1}"
    says context add team/facts --value "{\"tabs\":false}"
    says context update team/style "We write C23."
    says context history team/style
    says context list team/
    says context show team/facts
    says preference add "Answer briefly." --slot length --topic code
    id=$(json_get id)
    says preference update "$id" --priority 5
    says preference history "$id"
    says preference show "$id"
    says preference list
    says session create support --topic parcels --role coder --metadata "{\"customer\":7}"
    says turn add support user "Where is my parcel?"
    says turn add support assistant "On its way."
    says turn edit support HEAD "It is on its way."
    says turn branch support HEAD~1 assistant "Somewhere else."
    tip=$(json_get turnId)
    says turn log support
    says turn show support HEAD
    says turn branches support HEAD
    says turn checkout support HEAD~1
    says turn merge support user "Both, then." --parent HEAD --parent "$tip"
    says session role switch support lawyer
    says session show support
    says session list
    says session graph support
    says session update support --label parcel
    says session fork parcel --label again
    says turn add again user "Something else."
    says turn diff parcel again --patch
    says search parcel
    says topic list
    says topic merge --from parcels post
    printf "hello" >hello.txt
    says blob register hello.txt --hold handbook
    blob=$(json_get sha256)
    says blob list
    says blob show "$blob"
    says blob get "$blob"
    says blob record-file-id "$blob" openai file-1
    says blob retain "$blob" --hold other
    says blob release "$blob" --hold other
    says session export parcel --format openai
    says session import "$DATA/openai.jsonl"
    says turn delete again HEAD --reason "a leaked key"
    says session delete again
    says session erase parcel --reason "asked for"
    says preference delete "$id"
    says preference erase "$id"
    says context delete team/facts
    says context delete team/style --erase --reason "asked for"
    says context erase team/facts
    says role delete coder
    says erasure list
'

t 'prompts' '
    "$VALISE" -q init
    "$VALISE" -q role add dev --persona "You are terse." --constraints "{\"model\":\"gpt-4o\",\"window\":20000}"
    "$VALISE" -q preference add "Prefer short answers." --slot tone
    "$VALISE" -q session create s1 --role dev
    for i in 1 2 3 4; do
        "$VALISE" -q turn add s1 user "What is $i+$i?"
        "$VALISE" -q turn add s1 assistant "It is $((i + i))."
    done
    "$VALISE" -q turn add s1 user "And now?"
    says prompt build s1 --provider openai --neutral --wire
    one=$(json_get id)
    says prompt budget s1 --provider openai
    echo "{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"Now it is six.\"}],\"stop\":\"end\",\"usage\":{\"input\":90,\"output\":7},\"model\":\"m-1\"}}" >answers
    cat answers answers >more
    says ask s1 "And 3+3?" --provider openai --model m --replay answers
    says chat s1 --message "And then?" --provider openai --model m --replay more
    says prompt list
    two=$(json_get "[0].id")
    says prompt show "$one" --neutral --wire
    says prompt blame "$one" --part 1
    says prompt blame "$one"
    says prompt build s1 --provider openai
    other=$(json_get id)
    says prompt diff "$one" "$two"
    says prompt explain-miss "$one" "$other"
    says prompt calibrate small-1 12000 11200
    says prompt compact s1 --keep 2 --dry-run
    neutral="{\"messages\":[{\"blocks\":[{\"text\":\"Hi\",\"type\":\"text\"}],\"role\":\"user\"}],\"version\":1}"
    says prompt render "$neutral" --provider openai --model m
    says prompt lint "{\"messages\":[{\"blocks\":[{\"text\":\"Hi\",\"type\":\"text\"}],\"role\":\"assistant\"}],\"version\":1}" --provider anthropic
    echo "{\"choices\":[{\"finish_reason\":\"stop\",\"index\":0,\"message\":{\"content\":\"Hi\",\"role\":\"assistant\"}}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}" >response
    says prompt parse response --provider openai
    says prompt delete "$one"
'

t 'flows' '
    "$VALISE" -q init
    echo "{\"nodes\":[{\"id\":\"say\",\"type\":\"SetNode\",\"params\":{\"values\":{\"greeting\":\"hello\"}}},{\"id\":\"end\",\"type\":\"FinalAnswerNode\",\"params\":{\"from\":\"{{greeting}} {{name}}\"}}],\"edges\":[{\"from\":\"say\",\"to\":\"end\"}]}" >flow.json
    says flow check flow.json
    says flow graph flow.json
    says flow run flow.json --set "name=\"you\"" --backpack b
    says flow rerun b flow.json --from end
    echo "{\"nodes\":[{\"id\":\"say\",\"type\":\"ExecNode\",\"params\":{\"command\":[\"false\"]}}]}" >broken.json
    expect 1 flow run broken.json --backpack c
    expect 1 flow resume c broken.json
    echo "{\"nodes\":[{\"id\":\"say\",\"type\":\"ExecNode\",\"params\":{\"command\":[\"false\"]}},{\"id\":3}]}" >wrong.json
    expect 6 flow check wrong.json
    says flow runs
'

t 'each answer fits its schema, closed, and no command is missing [L4 L5]' '
    need python3
    run python3 "$LIB_DIR/answers.py" "$ANSWERS"
'

done_testing
