#!/usr/bin/env bash
# 80-sessions.sh -- conversations on the command line: say, edit, branch, merge, fork, delete. [W2]
# [W3] [W4] [W5] [W6]
. "$(dirname "$0")/lib.sh"

start() {
    "$VALISE" -q init
    "$VALISE" -q session create support
    "$VALISE" -q turn add support user 'Where is my parcel?'
    "$VALISE" -q turn add support assistant 'On its way.'
}

# A member of the answer of a command.
member() {
    local name=$1
    shift
    "$VALISE" "$@" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[sys.argv[1]])' "$name"
}

says() {
    start
    run "$VALISE" turn log support
    stdout_has 'Where is my parcel?' 'On its way.'
    run "$VALISE" validate
}
t 'what was said is read again' says

edits() {
    local old
    start
    old=$(member ref turn show support)
    "$VALISE" -q turn edit support HEAD 'It was lost.'
    run "$VALISE" turn log support
    stdout_has 'It was lost.'
    stdout_lacks 'On its way.'
    "$VALISE" -q turn checkout support "$old"
    run "$VALISE" turn log support
    stdout_has 'On its way.'
    run "$VALISE" validate
}
t 'an edit keeps what was said before' edits

branches() {
    local head
    start
    head=$(member ref turn show support)
    "$VALISE" -q turn branch support HEAD~1 assistant 'Which one?'
    "$VALISE" -q turn merge support user 'Both, then.' --parents HEAD --parents "$head"
    run "$VALISE" turn log support
    stdout_has 'Which one?' 'On its way.' 'Both, then.'
    run "$VALISE" validate
}
t 'branches are joined' branches

forks() {
    start
    "$VALISE" -q session fork support --label other
    "$VALISE" -q turn add other user 'Only here.'
    run "$VALISE" turn log support
    stdout_lacks 'Only here.'
    run "$VALISE" turn log other
    stdout_has 'Where is my parcel?' 'Only here.'
    "$VALISE" -q session delete support
    run "$VALISE" turn log other
    stdout_has 'Where is my parcel?' 'Only here.'
    run "$VALISE" validate
}
t 'a fork shares the past' forks

attaches() {
    start
    printf 'some bytes' >file.bin
    "$VALISE" -q turn add support user 'See this.' --attach file.bin
    run "$VALISE" blob list
    stdout_has 'file.bin'
    "$VALISE" -q session delete support
    run "$VALISE" blob list
    stdout_lacks 'file.bin'
    run "$VALISE" validate
}
t 'files go with the turns that hold them' attaches

deletes() {
    start
    "$VALISE" -q turn add support user 'A secret: hunter2.'
    "$VALISE" -q session fork support --label other
    expect_exit 5 "$VALISE" turn delete support HEAD
    "$VALISE" -q turn delete support HEAD --force --reason 'a leaked password'
    "$VALISE" -q gc
    run "$VALISE" turn log other
    stdout_lacks 'hunter2'
    ! grep -r hunter2 .valise || fail 'the bytes are still there'
    run "$VALISE" validate
}
t 'what is deleted is in no file' deletes

# A line each, with what can be given back.
answers() {
    local line ref
    start
    run "$VALISE" role add judge
    run "$VALISE" session create court --role judge
    grep -qxE 'session [0-9a-f]{8}, role judge' "$OUT" || fail 'session create'
    run "$VALISE" turn add court user 'Hello.'
    grep -qxE 'turn [0-9a-f]{8}' "$OUT" || fail 'turn add'
    ref=$(sed 's/turn //' "$OUT")
    run "$VALISE" turn edit court "$ref" 'Hello!'
    # shellcheck disable=SC2119
    stdout_is <<<"turn $ref@2"
    run "$VALISE" session show court
    stdout_has "$ref@2" "$ref@1"
    run "$VALISE" turn checkout court "$ref@1"
    # shellcheck disable=SC2119
    stdout_is <<<"head $ref@1"
    run "$VALISE" session fork court "$ref@2" --label 'second try'
    grep -qxE "session [0-9a-f]{8} at $ref@2, role judge" "$OUT" || fail 'session fork'
    run "$VALISE" search Hello
    stdout_has "$ref@1" "$ref@2"
    stdout_lacks "-$ref"
    expect_exit 5 "$VALISE" turn delete court "$ref@2"
    grep -q 'second try (' "$ERR" || fail 'the session is not named'
    run "$VALISE" turn delete court "$ref@2" --force
    # shellcheck disable=SC2119
    stdout_is <<<"turn $ref@2 erased and removed, head $ref@1"
    run "$VALISE" session delete 'second try'
    grep -qxE 'session [0-9a-f]{8} deleted' "$OUT" || fail 'session delete'
    "$VALISE" -q session create short
    "$VALISE" -q turn add short user Hm
    run "$VALISE" session delete short
    stdout_has "deleted, and 1 turn or tip that nobody else has"
    # Programs see all of it.
    line=$(member ref turn add court user again)
    [ ${#line} = 38 ] || fail "no whole ref: $line"
}
t 'answers are a line, and what they name can be given back [W2] [W4] [W5]' answers

# SESSION comes first everywhere; a word alone is a session or a turn.
orders() {
    local first
    start
    first=$(member ref turn show support HEAD~1)
    run "$VALISE" turn show support
    stdout_has 'On its way.'
    run "$VALISE" turn show support HEAD~1
    stdout_has 'Where is my parcel?'
    run "$VALISE" turn show "$first"
    stdout_has 'Where is my parcel?'
    run "$VALISE" turn show "${first:28}"
    stdout_has 'Where is my parcel?'
    run "$VALISE" turn branches support HEAD~1
    stdout_has '* ' 'head of support'
    run "$VALISE" turn branches "$first"
    stdout_lacks '* '
    expect_exit 6 "$VALISE" turn show
    stderr_has 'no turn given' 'SESSION TURN'
    expect_exit 6 "$VALISE" turn show HEAD
    stderr_has 'none was given' 'SESSION HEAD'
    expect_exit 3 "$VALISE" turn show HEAD support
    stderr_has "no session 'HEAD'" 'give the session first'
    expect_exit 3 "$VALISE" turn show nobody
    stderr_has 'neither a session nor a turn'
}
t 'a session comes before its turns, and either may stand alone [W7]' orders

topics() {
    start
    "$VALISE" -q session update support --topic parcels --topic mail
    "$VALISE" -q session update support --add-topic lost --add-topic lost --remove-topic mail --remove-topic none
    [ "$(member topics session show support)" = "['lost', 'parcels']" ]
    expect_exit 6 "$VALISE" session update support --topic x --add-topic y
    stderr_has 'addTopics'
    expect_exit 6 "$VALISE" session update support $(seq -f '--add-topic t%g' 63)
    stderr_has '65 topics: at most 64 are allowed'
    [ "$(member topics session show support)" = "['lost', 'parcels']" ]
    run "$VALISE" run session:update '{"sessionId":"support","updates":{"label":"lost parcel","addTopics":["mail"]}}'
    [ "$(member topics session show 'lost parcel')" = "['lost', 'mail', 'parcels']" ]
    run "$VALISE" log --type session:update --limit 1 --json
    stdout_lacks updates
    expect_exit 6 "$VALISE" run session:update '{"sessionId":"lost parcel","label":"x","updates":{"label":"y"}}'
    stderr_has 'either `updates`'
    run "$VALISE" validate
}
t 'one topic more, one less; updates as one object [W2]' topics

texts() {
    start
    printf 'From a pipe.' | "$VALISE" -q turn add support user -
    printf 'From a file.' >said.txt
    "$VALISE" -q turn edit support HEAD~1 @said.txt
    run "$VALISE" turn log support --oneline
    stdout_has 'From a file.'
    "$VALISE" -q turn add support user '@@eve: hello'
    run "$VALISE" turn show support
    stdout_has '@eve: hello'
    expect_exit 3 "$VALISE" turn add support user '@eve: hello'
    stderr_has 'cannot open eve: hello' '@@'
    expect_exit 6 "$VALISE" turn add support user ''
    stderr_has 'the text is empty' 'standard input'
    expect_exit 6 "$VALISE" turn add support user - </dev/null
    stderr_has 'the text is empty'
    expect_exit 6 "$VALISE" turn add support user
    stderr_has 'the turn is empty'
    expect_exit 6 "$VALISE" turn add support user hi --attach .
    stderr_has 'attach[0]' 'is a folder'
    expect_exit 6 "$VALISE" turn add support human hi
    stderr_has 'user, assistant, system, tool'
    expect_exit 6 "$VALISE" turn add support user $'bad\xff'
    stderr_has 'not UTF-8'
    expect_exit 3 "$VALISE" session role switch support nobody
    stderr_has "no role 'nobody'" 'role add'
    expect_exit 6 "$VALISE" session create "$(printf '%0300d' 0)"
    stderr_has 'label' '256'
    "$VALISE" -q session create support
    expect_exit 5 "$VALISE" turn log support
    stderr_has "'support' is ambiguous: the sessions" 'give an id'
}
t 'texts from pipes and files; what is refused says why [W4]' texts

done_testing
