#!/usr/bin/env bash
# 88-prompt.sh -- building prompts, and showing where they come from. [P6] [P7] [P8] [P9] [P13] [P14]
. "$(dirname "$0")/lib.sh"

# A session with a role, a preference, two entries (one older than it) and three turns.
setup() {
    "$VALISE" -q init
    "$VALISE" -q role add dev --persona "You are terse." --topics code \
        --constraints '{"model":"gpt-4o","maxTokens":1000,"window":20000}'
    "$VALISE" -q preference add "Prefer planted-preference." --slot tone
    "$VALISE" -q context add old "planted-old" --topics code
    "$VALISE" -q session create --label s1 --role dev --topics code
    "$VALISE" -q context add new "planted-new" --topics code
    "$VALISE" -q turn add s1 user "What is 2+2?"
    "$VALISE" -q turn add s1 assistant "4, says planted-turn."
    "$VALISE" -q turn add s1 user "And 3+3?"
}
# The newest prompt.
newest() {
    "$VALISE" prompt list --json | head -1 | sed 's/.*"id":"\([0-9a-f]*\)".*/\1/'
}
build() {
    "$VALISE" -q prompt build s1 --provider openai "$@"
    newest
}
export -f setup newest build

t 'a build says what is in it; the same again adds nothing [P6] [P8]' '
    setup
    run "$VALISE" prompt build s1 --provider openai
    stdout_has "openai gpt-4o" "of 19000 tokens" "system" "context" "history" "tail"
    stdout_lacks "there already"
    one=$(newest)
    run "$VALISE" prompt build s1 --provider openai
    stdout_has "(there already)"
    [ "$(newest)" = "$one" ]
    [ "$("$VALISE" prompt list --json | wc -l)" -eq 1 ]
    run "$VALISE" prompt build s1 --provider mistral --no-record
    stdout_has "not recorded" "mistral"
    [ "$("$VALISE" prompt list s1 --json | wc -l)" -eq 1 ]
'

t 'texts go out as they are, and hash as the manifest says [P6]' '
    setup
    "$VALISE" prompt build s1 --provider openai --wire >wire
    "$VALISE" prompt build s1 --provider openai --neutral >neutral
    id=$(newest)
    "$VALISE" prompt show "$id" --json >shown
    grep -q "\"wireHash\":\"$(sha256sum <wire | cut -c1-64)\"" shown
    grep -q "\"neutralHash\":\"$(sha256sum <neutral | cut -c1-64)\"" shown
    "$VALISE" prompt show "${id:0:6}" --wire | cmp - wire
    "$VALISE" prompt show "$id" --neutral | cmp - neutral
    "$VALISE" prompt show "$id" --wire --output file >/dev/null
    cmp file wire
    expect_exit 1 "$VALISE" prompt show "$id" --wire --output file
    stderr_has "already exists"
    "$VALISE" prompt render --provider openai @neutral | cmp - wire
    run "$VALISE" prompt lint --provider openai @neutral
    run "$VALISE" prompt lint --provider openai --request @wire
    stdout_is_empty
'

t 'the session goes on, the prompt stays as it was [P8]' '
    setup
    id=$(build)
    "$VALISE" prompt show "$id" --wire >before
    "$VALISE" -q turn add s1 assistant "6."
    "$VALISE" -q context update new "something else"
    "$VALISE" -q context delete old
    "$VALISE" -q role update dev --persona "Another one."
    "$VALISE" -q gc --grace 0s
    run "$VALISE" prompt show "$id"
    stdout_has "it can be shown as it was"
    "$VALISE" prompt show "$id" --wire | cmp - before
    run "$VALISE" validate
'

t 'blame says who said what [P8]' '
    setup
    id=$(build --tools "[{\"name\":\"read\",\"inputSchema\":{\"type\":\"object\"}}]")
    run "$VALISE" prompt blame "$id"
    stdout_has "entry old@1" "entry new@1" "turn " "preference " "role dev@1" "given tools[0]" "planted-turn" \
        "its topics fit, and it is older than the session"
    # What is one text is shown as that, in one line; the rest as it stands in the prompt.
    stdout_has "Memory new:\\nplanted-new  (" " 4, says planted-turn.  (said" "{\"inputSchema\""
    [ "$(wc -l <"$OUT")" -eq "$("$VALISE" prompt blame "$id" --json | wc -l)" ]
    # A terminal gets lines that fit; one part alone is shown with all its text.
    for columns in 60 80 140; do
        run env NO_COLOR=1 LC_ALL=C.UTF-8 python3 "$LIB_DIR/on_terminal.py" --columns "$columns" "$VALISE" --no-pager prompt blame "$id"
        python3 -c "import sys; assert max(len(l) for l in open(sys.argv[1]).read().splitlines()) <= int(sys.argv[2])" "$OUT" "$columns"
    done
    stdout_has "(said in this session)"
    # Any id that is printed can be shown: that of a manifest is the prompt.
    run "$VALISE" show "$id"
    stdout_has "openai"
    content=$("$VALISE" prompt blame "$id" --json | grep "\"name\":\"new\"" | sed "s/.*\"content\":\"\([0-9a-f]*\)\".*/\1/")
    run "$VALISE" show "$content"
    stdout_has "planted-new"
    run "$VALISE" prompt blame "$id" --part 0
    stdout_has "given tools"
    [ "$(wc -l <"$OUT")" -eq 1 ]
    # Without gaps: each stretch begins where the one before ends.
    "$VALISE" prompt blame "$id" --all --json |
        sed "s/.*\"length\":\([0-9]*\).*\"offset\":\([0-9]*\).*/\2 \1/" |
        awk "\$1 != at { exit 1 } { at = \$1 + \$2 } END { print at }" >end
    [ "$(cat end)" -eq "$("$VALISE" prompt show "$id" --neutral | wc -c)" ]
    expect_exit 3 "$VALISE" prompt blame "$id" --part 99
    stderr_has "there is no part 99"
'

t 'a session stands for its prompts, the last one first' '
    setup
    a=$(build)
    "$VALISE" -q turn add s1 assistant "6."
    b=$(build)
    id_of() { "$VALISE" prompt show "$1" --json | sed "s/.*\"id\":\"\([0-9a-f]*\)\".*/\1/"; }
    [ "$(id_of s1)" = "$(id_of "$b")" ]
    [ "$(id_of s1~0)" = "$(id_of "$b")" ]
    [ "$(id_of s1~)" = "$(id_of "$a")" ]
    [ "$(id_of s1~1)" = "$(id_of "$a")" ]
    expect_exit 3 "$VALISE" prompt show s1~2
    stderr_has "has only 2 prompts"
    for wrong in s1~x s1~-1 s1~99999999999999999999 nobody ~ ~1 0000; do
        expect_exit 3 "$VALISE" prompt show "$wrong"
        stderr_has "there is no prompt"
    done
    run "$VALISE" prompt diff s1~1 s1
    stdout_has "+ turn "
    "$VALISE" -q prompt delete s1
    [ "$(id_of s1)" = "$(id_of "$a")" ]
'

t 'diff and explain-miss [P9] [P14]' '
    setup
    a=$(build)
    "$VALISE" -q turn add s1 assistant "6."
    b=$(build)
    run "$VALISE" prompt diff "$a" "$b"
    stdout_has "+ turn " "history" "+11 tokens"
    [ "$(wc -l <"$OUT")" -eq 1 ]
    run "$VALISE" prompt diff "$a" "$a"
    stdout_is_empty
    expect_exit 8 "$VALISE" prompt diff "$a" "$b" --exit-code
    run "$VALISE" prompt explain-miss "$a" "$b"
    stdout_has "miss in history" "was  entry new@1" "is   turn "
    run "$VALISE" prompt explain-miss "$a" "$a"
    stdout_has "hit: all"
    "$VALISE" -q preference add "Be kind." --slot manner
    c=$(build)
    run "$VALISE" prompt explain-miss "$b" "$c"
    stdout_has "miss in "
    d=$(build --model other)
    expect_exit 6 "$VALISE" prompt explain-miss "$c" "$d"
    stderr_has "do not share a cache"
'

t 'a window, what is trimmed, and policies [P7] [P15]' '
    setup
    for i in 1 2 3 4 5 6; do
        "$VALISE" -q turn add s1 assistant "$(printf "word%.0s " $(seq 150))"
        "$VALISE" -q turn add s1 user "and $i?"
    done
    run "$VALISE" prompt budget s1 --provider openai --window 1000 --reserve 100
    stdout_has "of 900 tokens" "trimmed" "largest:" "left out:" "history"
    run "$VALISE" prompt build s1 --provider openai --window 1000 --reserve 100 --json
    stdout_has "\"limit\":900"
    expect_exit 1 "$VALISE" prompt build s1 --provider openai --window 1010 --reserve 1000
    stderr_has "tools and instructions take 28 tokens; the prompt may have 10"
    expect_exit 6 "$VALISE" prompt build s1 --provider openai --window 100 --reserve 100
    stderr_has "reserved for the answer"
    expect_exit 6 "$VALISE" prompt build s1 --provider openai --window 99999999999999999
    "$VALISE" -q turn add s1 --turn.role assistant --turn.blocks "[{\"type\":\"tool_use\",\"callId\":\"c1\",\"name\":\"read\",\"args\":{}}]"
    "$VALISE" -q turn add s1 --turn.role tool --turn.blocks "[{\"type\":\"tool_result\",\"callId\":\"c1\",\"content\":[{\"type\":\"text\",\"text\":\"$(printf "word%.0s " $(seq 2000))\"}]}]"
    run "$VALISE" prompt budget s1 --provider openai --policies "{\"cutResults\":{\"over\":1000,\"head\":100,\"tail\":100}}"
    stdout_has "policies save 2"
'

t 'mistakes are told with the way out' '
    setup
    expect_exit 3 "$VALISE" prompt build s1 --provider nobody
    stderr_has "nobody" "openai"
    expect_exit 3 "$VALISE" prompt build nosuch --provider openai
    expect_exit 2 "$VALISE" prompt build s1
    "$VALISE" -q session create --label empty
    expect_exit 3 "$VALISE" prompt build empty --provider openai
    stderr_has "has no turns yet" "valise turn add"
    expect_exit 6 "$VALISE" prompt build s1 --provider openai --tools "{}"
    stderr_has "tools must be an array"
    expect_exit 6 "$VALISE" prompt build s1 --provider openai --params "[]"
    stderr_has "params must be a JSON object"
    expect_exit 6 "$VALISE" prompt build s1 --provider openai --backpack b
    stderr_has "give \`node\`"
    expect_exit 3 "$VALISE" prompt show 0123abcd
    stderr_has "valise prompt list"
    expect_exit 3 "$VALISE" prompt show "../../etc"
    expect_exit 6 "$VALISE" prompt lint --provider openai
    stderr_has "either a neutral prompt or a request"
    expect_exit 6 "$VALISE" prompt lint --provider openai "{\"version\":1,\"messages\":[{\"role\":\"who\"}]}"
    stderr_has "messages[0]"
'

t 'lint says what is repaired, and what is not [P13]' '
    echo "{\"version\":1,\"messages\":[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"text\":\"Hi\"}]},{\"role\":\"assistant\",\"blocks\":[{\"type\":\"tool_use\",\"callId\":\"c1\",\"name\":\"read\",\"args\":{}}]}]}" >n
    run "$VALISE" prompt lint --provider openai @n
    stdout_has "R1.1" "a build repairs it"
    echo "{\"model\":\"gpt-4o\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"y\"}]}" >r
    expect_exit 6 "$VALISE" prompt lint --provider openai --request @r
    stdout_has "R1.2"
'

t 'answers become blocks [P11]' '
    echo "{\"id\":\"a1\",\"model\":\"gpt-4o\",\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"Hi\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}" >whole
    run "$VALISE" prompt parse --provider openai whole --json
    stdout_has "\"text\":\"Hi\"" "\"stop\":\"end\"" "\"input\":5" "\"output\":2" "\"partial\":false"
    printf "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n" >cut
    run "$VALISE" prompt parse --provider openai --stream cut --json
    stdout_has "\"text\":\"Hi\"" "\"partial\":true"
    expect_exit 6 "$VALISE" prompt parse --provider openai
    python3 - >frames <<EOF
import struct, sys, zlib
def frame(name, payload):
    header = b":event-type"
    headers = bytes([len(header)]) + header + b"\x07" + struct.pack(">H", len(name)) + name
    message = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    message += struct.pack(">I", zlib.crc32(message)) + headers + payload
    return message + struct.pack(">I", zlib.crc32(message))
sys.stdout.buffer.write(
    frame(b"messageStart", b"{\"role\":\"assistant\"}")
    + frame(b"contentBlockDelta", b"{\"contentBlockIndex\":0,\"delta\":{\"text\":\"Hi\"}}")
    + frame(b"contentBlockStop", b"{\"contentBlockIndex\":0}")
    + frame(b"messageStop", b"{\"stopReason\":\"end_turn\"}")
    + frame(b"metadata", b"{\"usage\":{\"inputTokens\":5,\"outputTokens\":1}}"))
EOF
    run "$VALISE" prompt parse --provider bedrock --stream frames --json
    stdout_has "\"text\":\"Hi\"" "\"stop\":\"end\"" "\"partial\":false"
    head -c 180 frames >less
    run "$VALISE" prompt parse --provider bedrock --stream less --json
    stdout_has "\"partial\":true"
'

done_testing
