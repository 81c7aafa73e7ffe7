#!/usr/bin/env bash
# 89-chat.sh -- asking and chatting: replay, a server of our own, a terminal. [P7] [P11] [P12] [P15]
. "$(dirname "$0")/lib.sh"

export PTY="$LIB_DIR/chat_pty.py" SERVER="$LIB_DIR/chat_server.py"

answers() {
    cat >answers.jsonl <<'EOF'
{"answer":{"blocks":[{"type":"text","text":"It is on its way, and \u001b[31mred\u001b[0m."}],"stop":"end","usage":{"input":90,"output":7},"model":"m-1"},"expect":"parcel"}
{"answer":{"blocks":[{"type":"thinking","text":"Let me look."},{"type":"text","text":"The second answer."},{"type":"tool_use","callId":"c1","name":"look","args":{"at":"it"}}],"stop":"calls"}}
{"answer":{"blocks":[{"type":"text","text":"The third answer."}],"stop":"end"}}
EOF
}
export -f answers

# A server that ends with the test; $1: its option.
serve() {
    need python3
    rm -f port
    python3 "$SERVER" port ${1:+"$1"} >/dev/null 2>&1 &
    SERVING=$!
    trap 'kill $SERVING 2>/dev/null' EXIT
    for _ in $(seq 600); do
        [ ! -e port ] || break
        sleep 0.05
    done
    "$VALISE" config set --user provider.near.adapter compatible
    "$VALISE" config set --user provider.near.url "http://127.0.0.1:$(cat port)/v1"
    "$VALISE" config set --user provider.near.model small-1
}
export -f serve

t 'ask: two turns, a prompt, usage and where it came from [P11]' '
    "$VALISE" -q init; answers
    "$VALISE" -q session create --label s
    run "$VALISE" ask s "Where is my parcel?" --provider openai --model m --replay answers.jsonl --json
    stdout_has "It is on its way" "\"stop\":\"end\"" "\"model\":\"m-1\"" "\"usage\":{"
    run "$VALISE" turn log s
    stdout_has "user" "Where is my parcel?" "assistant" "It is on its way"
    prompt=$("$VALISE" prompt list --json | sed "s/.*\"id\":\"\([0-9a-f]*\).*/\1/")
    run "$VALISE" turn show HEAD --session-id s --json
    stdout_has "\"manifest\":\"$prompt\"" "\"usage\":{\"input\":90,\"output\":7}" "\"stop\":\"end\"" \
        "\"provider\":\"openai\"" "\"model\":\"m-1\""
    run "$VALISE" prompt show "$prompt"
    run "$VALISE" validate
'

t 'ask prints the text of the answer, byte for byte, and nothing else [P11]' '
    "$VALISE" -q init; answers
    "$VALISE" -q session create --label s
    run "$VALISE" ask s "Where is my parcel?" --provider openai --model m --replay answers.jsonl
    stderr_is_empty
    printf "It is on its way, and \033[31mred\033[0m.\n" | cmp - "$OUT"
    # Thinking is no text; that tools are called is told beside it.
    sed -n 2p answers.jsonl >calls.jsonl
    run "$VALISE" ask s "And then?" --provider openai --model m --replay calls.jsonl
    stdout_is "The second answer."
    stderr_has "it calls look" "ask again without a text"
    run "$VALISE" ask s "Quietly." --provider openai --model m --replay answers.jsonl -q
    stdout_is_empty
    run "$VALISE" ask s "Whole?" --provider openai --model m --replay answers.jsonl --stream=false
    stdout_has "It is on its way"
    # What failed is told on standard error alone, and what came of it stands.
    echo "{\"stream\":[\"data: {\\\"choices\\\":[{\\\"index\\\":0,\\\"delta\\\":{\\\"content\\\":\\\"Half of\\\"}}]}\"]}" >cut.jsonl
    expect_exit 1 "$VALISE" ask s more --provider openai --model m --replay cut.jsonl
    stdout_is "Half of"
    stderr_has "cut" "kept as turn"
    expect_exit 3 "$VALISE" ask nosuch more --provider openai --model m --replay cut.jsonl
    stdout_is_empty
    expect_exit 2 "$VALISE" ask
    expect_exit 6 "$VALISE" ask s x --provider openai --replay cut.jsonl
    stderr_has "model"
'

t 'a refused request leaves what the user said; a file that runs out is told [P11]' '
    "$VALISE" -q init
    echo "{\"error\":{\"status\":400,\"message\":\"too blue\"}}" >answers.jsonl
    "$VALISE" -q session create --label s
    expect_exit 1 "$VALISE" ask s hello --provider openai --model m --replay answers.jsonl
    stderr_has "too blue"
    run "$VALISE" turn log s --json
    [ "$(wc -l <"$OUT")" -eq 1 ]
    : >answers.jsonl
    expect_exit 3 "$VALISE" ask s hello --provider openai --model m --replay answers.jsonl
    stderr_has "no more answers"
    expect_exit 3 "$VALISE" ask s hello --provider nobody --model m
    stderr_has "nobody"
    run "$VALISE" turn log s --json
    [ "$(wc -l <"$OUT")" -eq 2 ]
'

t 'a cut answer is kept as far as it came, or not [P11]' '
    "$VALISE" -q init
    echo "{\"stream\":[\"data: {\\\"choices\\\":[{\\\"index\\\":0,\\\"delta\\\":{\\\"content\\\":\\\"Half of\\\"}}]}\"]}" >cut.jsonl
    "$VALISE" -q session create --label s
    expect_exit 1 "$VALISE" ask s hello --provider openai --model m --replay cut.jsonl --stream
    stderr_has "cut" "kept as turn"
    run "$VALISE" turn show HEAD --session-id s --json
    stdout_has "Half of" "\"partial\":true"
    expect_exit 1 "$VALISE" ask s again --provider openai --model m --replay cut.jsonl --stream --drop-partial
    run "$VALISE" turn log s --json
    [ "$(wc -l <"$OUT")" -eq 3 ]
'

t 'two processes at once: equal builds are one prompt, and no answer is lost [P8] [P11]' '
    "$VALISE" -q init; answers
    "$VALISE" -q session create --label s
    "$VALISE" -q turn add s user "Where is my parcel?"
    for i in 1 2 3 4; do
        "$VALISE" prompt build s --provider openai --model m --time 2026-01-01T00:00:00Z --json >"built.$i" &
    done
    wait
    [ "$(sed "s/.*\"id\":\"\([0-9a-f]*\).*/\1/" built.? | sort -u | wc -l)" -eq 1 ] || fail "$(cat built.?)"
    [ "$(grep -l "\"existed\":false" built.? | wc -l)" -eq 1 ] || fail "$(cat built.?)"
    for i in 1 2 3; do
        "$VALISE" ask s "My parcel $i?" --provider openai --model m --replay answers.jsonl --json >"asked.$i" &
    done
    wait
    for i in 1 2 3; do
        ref=$(sed "s/.*\"ref\":\"\([^\"]*\).*/\1/" "asked.$i")
        run "$VALISE" turn show "$ref" --session-id s
        stdout_has "It is on its way"
    done
    run "$VALISE" validate
'

t 'chat: a message a line, one message, JSON [P12]' '
    "$VALISE" -q init; answers
    printf "Where is my parcel?\nAnd then?\n/usage\n" >typed
    run "$VALISE" chat --model m --replay answers.jsonl <typed
    stdout_has "It is on its way" "Let me look." "The second answer." "[calls look]" \
        "2 answers, 90 tokens in, 7 tokens out"
    run "$VALISE" chat --model m --replay answers.jsonl -m "My parcel?"
    stdout_has "It is on its way"
    run "$VALISE" chat --model m --replay answers.jsonl --json -m "My parcel?"
    stdout_has "\"type\":\"session:STREAM_CHUNK\"" "\"type\":\"answer\"" "\"stop\":\"end\""
    run "$VALISE" session list --json
    [ "$(wc -l <"$OUT")" -eq 3 ]
    expect_exit 2 "$VALISE" chat -m hello
    stderr_has "provider"
    expect_exit 3 "$VALISE" chat nosuch --replay answers.jsonl -m hello
    printf "/nope\nhello\n" >typed
    expect_exit 2 "$VALISE" chat --model m --replay answers.jsonl <typed
    stderr_has "/nope"
'

t 'chat on a terminal: fork, edit, checkout, prompt; what steers it is shown [P12]' '
    need python3
    "$VALISE" -q init; answers
    "$VALISE" -q session create --label s
    cat >script <<EOF
wait /help
type Where is my parcel?
wait red
wait >
type /prompt
wait tokens
type /fork other
wait session
type /edit HEAD~1 Where is the parcel now?
wait The second answer.
wait >
type /branches
wait other
type /checkout HEAD~1
wait >
type /nothing
wait there is no /nothing
type /quit
EOF
    run python3 "$PTY" script env NO_COLOR=1 "$VALISE" chat s --model m --replay answers.jsonl
    ! grep -q "$(printf "\033\[31m")" "$OUT" || fail "the answer steers the terminal"
    run "$VALISE" turn log s
    stdout_has "Where is my parcel?"
    run "$VALISE" session list --json
    stdout_has "\"other\""
    [ "$(wc -l <"$OUT")" -eq 2 ]
    run "$VALISE" turn log other
    stdout_has "Where is the parcel now?"
    run "$VALISE" validate
'

t 'chat on a terminal: what is no message, and the ways to the end [P12]' '
    need python3
    "$VALISE" -q init; answers
    "$VALISE" -q session create --label s
    cat >script <<EOF
wait >
type $(printf " ")
wait >
type $(printf " \t ")
wait >
type /help
wait /usage
wait >
type /prompt
wait nothing has been asked
wait >
type /edit HEAD
wait text:
press C
wait once more
wait text:
type $(printf " ")
wait there is no new text
wait >
type /checkout
wait it is /checkout TURN
wait >
type //parcel
wait red
wait >
type /fork side
wait session
wait >
press C
wait once more
wait >
type /log
wait /parcel
wait >
press D
EOF
    run python3 "$PTY" script env NO_COLOR=1 "$VALISE" chat s --model m --replay answers.jsonl
    stdout_matches "^session [0-9a-f]{8}$"
    run "$VALISE" turn log s --json
    [ "$(wc -l <"$OUT")" -eq 2 ]
'

t 'chat against a server; Ctrl-C cancels, and what came is kept [P12]' '
    need python3
    "$VALISE" -q init
    serve --slow
    "$VALISE" -q session create --label s
    cat >script <<EOF
wait >
type hello
wait It is
press C
wait kept as turn
wait >
press C
wait once more
press C
EOF
    expect_exit 130 python3 "$PTY" script "$VALISE" chat s --provider near
    run "$VALISE" turn show HEAD --session-id s --json
    stdout_has "It is " "\"partial\":true" "\"stop\":\"cancelled\""
'

t 'chat against a server streams, and the estimate learns [P16]' '
    need python3
    "$VALISE" -q init
    serve
    long=$(printf "word %.0s" $(seq 80))
    run "$VALISE" chat --provider near -m "$long"
    stdout_is "It is on its way."
    run "$VALISE" show token_scale/small-1 --json
    stdout_has "\"samples\":1"
'

t 'a key is nowhere: not in answers, errors, events, files [Q25]' '
    need python3
    "$VALISE" -q init
    serve --echo
    "$VALISE" config set --user provider.near.key-env PLANTED
    export PLANTED=sk-planted-0123456789abcdef
    expect_exit 4 "$VALISE" chat --provider near -m hello
    ! grep -q "planted-0123456789" "$OUT" "$ERR" || fail "the key is told"
    expect_exit 4 "$VALISE" chat --provider near --json -m hello
    ! grep -q "planted-0123456789" "$OUT" "$ERR" || fail "the key is told"
    run "$VALISE" events --json
    ! grep -q "planted-0123456789" "$OUT" || fail "the key is in an event"
    ! grep -rq "planted-0123456789" . || fail "the key is in a file"
    # What a workspace says of providers is ignored: no key goes where it says. [K34]
    printf "[provider \"near\"]\n\turl = http://127.0.0.1:1/v1\n" >>.valise/config
    expect_exit 4 "$VALISE" chat --provider near -m hello
    stderr_has "401"
'

t 'compact: what it saves, the summary, the way back [P7] [P15]' '
    "$VALISE" -q init
    "$VALISE" -q session create --label s
    for i in 1 2 3 4 5 6; do
        "$VALISE" -q turn add s user "Message $i is about the parcel and the blue van. It rains a lot in spring."
        "$VALISE" -q turn add s assistant "Answer $i: the parcel is in the van, and the van is on the road to the coast."
    done
    run "$VALISE" prompt compact s --keep 2 --target 60 --dry-run
    stdout_has "compacted:" "true" "What was said before, shortened:" "turns:" "10"
    cp "$OUT" dry
    run "$VALISE" prompt compact s --keep 2 --target 60 --json
    stdout_has "\"compacted\":true" "\"summarizer\":\"extractive/1\""
    head=$(sed "s/.*\"head\":\"\([^\"]*\).*/\1/" "$OUT")
    before=$(sed "s/.*\"tokensBefore\":\([0-9]*\).*/\1/" "$OUT")
    after=$(sed "s/.*\"tokensAfter\":\([0-9]*\).*/\1/" "$OUT")
    [ "$after" -lt "$before" ]
    run "$VALISE" prompt build s --provider openai --model m --neutral --json
    stdout_has "What was said before, shortened:" "Message 6"
    [ "$(grep -o "\"role\":" "$OUT" | wc -l)" -eq 3 ] || fail "what is covered is still there"
    run "$VALISE" prompt compact s --keep 2
    stdout_has "nothing to summarize"
    run "$VALISE" turn checkout s "$head"
    run "$VALISE" prompt build s --provider openai --model m --neutral --json
    [ "$(grep -o "\"role\":" "$OUT" | wc -l)" -eq 12 ] || fail "what was covered is not back"
    run "$VALISE" validate
'

t 'compact: a text that is given, a model that writes it; pairs stay together [P7] [P15]' '
    "$VALISE" -q init
    "$VALISE" -q session create --label s
    "$VALISE" -q turn add s user "Look at the files."
    "$VALISE" -q run turn:add "{\"sessionId\":\"s\",\"turn\":{\"role\":\"assistant\",\"blocks\":[{\"type\":\"tool_use\",\"callId\":\"c1\",\"name\":\"ls\",\"args\":{}}]}}"
    "$VALISE" -q run turn:add "{\"sessionId\":\"s\",\"turn\":{\"role\":\"tool\",\"blocks\":[{\"type\":\"tool_result\",\"callId\":\"c1\",\"content\":\"a.c b.c and some more files in the folder of the project\"}]}}"
    "$VALISE" -q turn add s assistant "There are two."
    run "$VALISE" prompt compact s --keep 2 --text "They looked." --json
    stdout_has "\"turns\":1" "\"summarizer\":\"given\""
    "$VALISE" -q turn add s user "Thanks."
    echo "{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"Two files were found.\"}],\"usage\":{\"input\":50,\"output\":5},\"model\":\"m-1\"},\"expect\":\"calls ls\"}" >answers.jsonl
    run "$VALISE" prompt compact s --keep 1 --provider openai --model m --replay answers.jsonl --json
    stdout_has "\"compacted\":true" "\"model\":\"m-1\"" "\"summarizer\":\"openai\""
    run "$VALISE" turn show HEAD --session-id s --json
    stdout_has "Two files were found." "\"usage\":{\"input\":50,\"output\":5}"
    run "$VALISE" prompt build s --provider openai --model m --neutral --json
    ! grep -q "They looked" "$OUT" || fail "the older summary is still there"
    expect_exit 6 "$VALISE" prompt compact s --from HEAD --to HEAD~3
    expect_exit 6 "$VALISE" prompt compact s --text x --provider openai
    run "$VALISE" validate
'

done_testing
