#!/usr/bin/env bash
# 91-corpus.sh -- prompts of the corpus that come out of sessions. [P1] [P5] [P6] [P15]
#
# Summaries, merges, roles, memory and policies are the builder's: tests/data/prompts/session-*.json is what
# `prompt build --neutral` makes of the sessions below, and unit-corpus writes it for every adapter.
# VALISE_UPDATE_GOLDEN=1 writes them anew.
. "$(dirname "$0")/lib.sh"

prompts=$(cd "$LIB_DIR/../data/prompts" && pwd)
turns=0

# Turns have ids that are the same each time: what is cleared or summed up is named by them.
says() { # ROLE BLOCKS
    turns=$((turns + 1))
    "$VALISE" -q turn add s --turn.id "$(printf '00000000-0000-7000-8000-%012d' "$turns")" --turn.role "$1" \
        --turn.blocks "$2"
}
say() { # ROLE TEXT
    says "$1" "[{\"type\":\"text\",\"text\":\"$2\"}]"
}
call() { # ID NAME ARGS
    says assistant "[{\"type\":\"tool_use\",\"callId\":\"$1\",\"name\":\"$2\",\"args\":$3}]"
}
result() { # ID TEXT
    says tool "[{\"type\":\"tool_result\",\"callId\":\"$1\",\"content\":\"$2\"}]"
}
# What is built is as the corpus has it, and a build again is the same.
built() { # NAME OPTIONS...
    local name=$1
    shift
    run "$VALISE" prompt build s --provider anthropic --model claude-opus-5 --window 100000 --neutral --no-record \
        --time 2030-01-01T00:00:00Z "$@"
    cp "$OUT" first
    if [ "${VALISE_UPDATE_GOLDEN:-}" = 1 ]; then
        cp first "$prompts/session-$name.json"
    fi
    diff -u "$prompts/session-$name.json" first || fail "another prompt (VALISE_UPDATE_GOLDEN=1 writes it)"
    "$VALISE" prompt build s --provider anthropic --model claude-opus-5 --window 100000 --neutral --no-record \
        --time 2030-01-01T00:00:00Z "$@" | cmp - first
}
tools='[{"name":"read","description":"Reads a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}}]'

begin() {
    "$VALISE" -q init
    "$VALISE" -q session create --label s
}

summary() {
    begin
    say user "Where is the parcel? It is blue, and there is a book in it."
    call c1 read '{"path":"parcels"}'
    result c1 "in the van"
    say assistant "In the van."
    say user "And the van?"
    say assistant "On its way to the coast."
    "$VALISE" -q prompt compact s --keep 2 --text "They looked for a parcel. It is in the van."
    say user "Which coast?"
    built summary --tools "$tools"
}
t 'a summary stands for what it covers' summary

merge() {
    begin
    say user "Paint a house."
    local root
    root=$("$VALISE" --json turn log s | sed -n 's/.*"ref":"\([^"]*\)".*/\1/p' | tail -1)
    [ -n "$root" ] || fail "no turn"
    say assistant "A red one."
    say user "Why red?"
    local red
    red=$("$VALISE" session show s --json | sed 's/.*"head":"\([^"]*\)".*/\1/')
    "$VALISE" -q turn checkout s "$root"
    call c1 read '{"path":"colours"}'
    result c1 "blue"
    say assistant "A blue one."
    "$VALISE" -q turn merge s user "Both, then." --parents HEAD --parents "$red"
    built merge --tools "$tools"
}
t 'branches that were joined stand one behind the other' merge

roles() {
    "$VALISE" -q init
    "$VALISE" -q role add painter --persona "You paint." --topics art
    "$VALISE" -q role add critic --persona "You judge." --topics art
    "$VALISE" -q session create --label s --role painter --topics art
    say user "Paint a house."
    say assistant "Done."
    "$VALISE" -q session role switch s critic
    say user "Judge it."
    say assistant "It is crooked."
    say system "The house is for sale."
    say user "Go on."
    built roles
}
t 'a role that comes later, and words of the system' roles

policies() {
    begin
    local long n
    long=$(printf 'word %.0s' $(seq 400))
    say user "Read all."
    for n in 1 2 3; do
        call "c$n" read "{\"path\":\"f$n\"}"
        result "c$n" "$n $long"
        says assistant "[{\"type\":\"thinking\",\"text\":\"Hm $n.\",\"signature\":\"c2ln\"},{\"type\":\"text\",\"text\":\"Read $n.\"}]"
    done
    say user "And?"
    built policies --tools "$tools" \
        --policies '{"cutResults":{"over":500,"head":60,"tail":20},"dropThinking":{"keep":1},"clearResults":{"keep":2}}'
}
t 'results that were cut or cleared, and thinking that was dropped' policies

memory() {
    "$VALISE" -q init
    "$VALISE" -q role add dev --persona "You are terse." --topics code
    "$VALISE" -q preference add "Prefer tabs." --slot style
    "$VALISE" -q context add old "The build is in the basement." --topics code
    "$VALISE" -q session create --label s --role dev --topics code
    "$VALISE" -q context add new "The build moved upstairs." --topics code
    say user "Where is the build?"
    call c1 read '{"path":"build"}'
    result c1 "upstairs"
    built memory --tools "$tools"
}
t 'memory before and behind the history' memory

attached() {
    begin
    printf 'GIF89a' >a.gif
    printf '%%PDF-1.4' >a.pdf
    "$VALISE" -q turn add s user "Look at these." --attach a.gif --attach a.pdf
    say assistant "I see."
    say user "And?"
    built attached
}
t 'files' attached

done_testing
