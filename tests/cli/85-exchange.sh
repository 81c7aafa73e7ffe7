#!/usr/bin/env bash
# 85-exchange.sh -- conversations of other programs, in and out. [W20]
. "$(dirname "$0")/lib.sh"

DATA=$LIB_DIR/../unit/exchange/data

there_and_back() {
    "$VALISE" -q init
    run "$VALISE" session import "$DATA/openai.jsonl" --label talk --topic parcels
    stdout_has "imported 3 sessions, 10 turns, 1 blob"
    stderr_has "not understood: image_url (1)" "1 result without a call, kept as x-orphan-tool_result"
    run "$VALISE" log --json
    lines=$(wc -l <"$OUT")
    run "$VALISE" session import "$DATA/openai.jsonl"
    stdout_has "imported 0 sessions, 0 turns, 0 blobs; there already: 10 turns"
    run "$VALISE" log --json
    [ "$(wc -l <"$OUT")" = "$lines" ]
    run "$VALISE" session export --all --format openai --output out.jsonl
    stdout_has "exported 3 sessions, 10 turns"
    expect_exit 1 "$VALISE" session export --all --format openai --output out.jsonl
    run "$VALISE" session export --all --format openai --output out.jsonl --force
    run "$VALISE" session import out.jsonl
    stdout_has "imported 0 sessions, 0 turns"
    run "$VALISE" validate
}
t 'OpenAI lines, in, in again, out, and in again' there_and_back

for_people() {
    "$VALISE" -q init
    run "$VALISE" session import "$DATA"
    stdout_has "11 turns  Weather" "imported 2 sessions, 14 turns, 1 blob"
    stderr_has "skipped: conversations.json, line 21, byte"
    run "$VALISE" session export 'Weather é'
    stdout_has "# Weather é" '**calls** `python`, call `chatgpt-n2`' "*image file-ABC-photo.png* (image/png)"
    stdout_lacks "Thought for 3 s"
    stderr_has "left out: 2 branches, 2 blocks of thinking"
    run "$VALISE" session export 'Weather é' --turn-id HEAD~1
    stdout_lacks "Sunny"
    run "$VALISE" -q session import - <"$DATA/claude-code.jsonl"
    stderr_has "incomplete"
    run "$VALISE" session export 'Fix the bug, agent ag' --json
    json_is turns 1
    run "$VALISE" validate
}
t 'a folder, standard input, and Markdown' for_people

wrong() {
    "$VALISE" -q init
    printf '{"messages":[{"role":"user","content":"one"}]}\nbad\n' >some.jsonl
    expect_exit 6 "$VALISE" session import some.jsonl --strict
    stderr_has "line 2: invalid JSON" "without \`strict\` it is reported and skipped"
    run "$VALISE" session list
    stdout_is_empty
    run "$VALISE" session import some.jsonl
    stdout_has "1 session, 1 turn"
    printf 'PK\003\004' >export.zip
    expect_exit 1 "$VALISE" session import export.zip
    stderr_has "this is a zip file" "unpack it"
    expect_exit 6 "$VALISE" session import /etc/hostname
    stderr_has "not a file of a known format"
    expect_exit 6 "$VALISE" session export
    stderr_has "give one session"
    printf '{"messages":[{"role":"user","content":"\\u001b[2J\\u202e"}]}\n' >esc.jsonl
    run "$VALISE" session import esc.jsonl --label esc
    run "$VALISE" session export esc
    ! grep -q "$(printf '\033')" "$OUT" || fail "an escape went through"
}
t 'what cannot be imported' wrong
done_testing
