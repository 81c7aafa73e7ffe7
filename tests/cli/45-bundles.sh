#!/usr/bin/env bash
# 45-bundles.sh -- bundles that somebody made: well-formed, with a right hash, and wrong.
# [K36 K22 Q26]
# And what a part takes along.
# shellcheck disable=SC2016  # commands are text
. "$(dirname "$0")/lib.sh"
BUNDLE=$(cd "$(dirname "$0")" && pwd)/bundle.py

# in DIR COMMAND...: there
in_() {
    local dir=$1
    shift
    (cd "$dir" && "$@")
}

# A workspace in a new folder
place() {
    mkdir -p "$1"
    (cd "$1" && "$VALISE" -q init)
}

# forge COLLECTION STATEMENTS: good.b becomes bad.b
forge() {
    python3 "$BUNDLE" forge good.b bad.b "$@"
}

# Nobody takes bad.b, an empty workspace or another; and nothing is left of it.
refused() {
    place there
    expect_exit "${2:-6}" in_ there "$VALISE" import ../bad.b
    stderr_has "$1" "nothing was imported"
    run in_ there "$VALISE" log --json
    [ "$(grep -c "" "$OUT")" = 1 ]
    run in_ there "$VALISE" validate
    rm -rf there
}

t 'a content that is another one: no checkpoint is made of it [K36]' '
    place here
    printf "one\n" >here/f1
    printf "two\n" >here/f2
    in_ here "$VALISE" -q checkpoint c
    tree=$(in_ here "$VALISE" checkpoint list --json | head -1 | "$VALISE" json get - /tree | tr -d \")
    in_ here "$VALISE" -q export ../good.b "checkpoint/$tree/c"
    forge tree_content "row[\"object\"] = rows[0][\"object\"]"
    refused "does not match its hash"
'

t 'a checkpoint of files that must not be [C31 K36]' '
    place here
    printf "one\n" >here/f1
    in_ here "$VALISE" -q checkpoint c
    tree=$(in_ here "$VALISE" checkpoint list --json | head -1 | "$VALISE" json get - /tree | tr -d \")
    in_ here "$VALISE" -q export ../good.b "checkpoint/$tree/c"
    forge checkpoint "row[\"manifest\"] = put(\"data\", b\"valise manifest 1\\n\\0\\2\\0\\0\\2\\2..\\0\")"
    refused "a checkpoint is damaged"
'

t 'another content under the id of a frame [K36]' '
    place here
    printf "one\n" >here/f1
    printf "the truth\n" >here/note
    in_ here "$VALISE" -q scan
    in_ here "$VALISE" -q put-frame f1 note
    frame=$(in_ here "$VALISE" get-head f1 --json | head -1 | "$VALISE" json get - /frameId | tr -d \")
    in_ here "$VALISE" -q export ../good.b "frame/$frame"
    forge frame "row[\"content\"] = put(\"data\", b\"forged, now\"); row[\"size\"] = 11"
    refused "its id does not match its contents"
'

# A backpack of two commits: good.b
packed() {
    place here
    in_ here "$VALISE" -q bp pack b k 1
    in_ here "$VALISE" -q bp pack b k 2
    in_ here "$VALISE" bp list --json >bags
    in_ here "$VALISE" -q export ../good.b "backpack/$("$VALISE" json get @bags /id | tr -d \")"
}

t 'two backpacks of one name: neither takes the place of the other [K36]' '
    packed
    place there
    in_ there "$VALISE" -q bp pack b k "\"ours\""
    expect_exit 5 in_ there "$VALISE" import ../good.b
    stderr_has "is in the bundle, and another here" "nothing was imported"
    run in_ there "$VALISE" bp unpack b k
    stdout_has ours
    in_ there "$VALISE" -q bp drop b
    run in_ there "$VALISE" import ../good.b
    run in_ there "$VALISE" bp unpack b k
    stdout_has 2
'

t 'numbers and names that no backpack has [K36 Q26]' '
    packed
    big=9223372036854775807
    forge backpack_commit "row[\"seq\"] += $big - 2"
    refused "seq: $((big - 1)) is impossible"
    forge backpack_commit "row[\"version\"] = $big"
    refused "version: $big is impossible"
    forge backpack "row[\"edge\"] = $big"
    refused "edge: $big is impossible"
    forge backpack "row[\"edge\"] = -5"
    refused "edge: -5 is impossible"
    forge backpack "row[\"origin\"] = row[\"id\"]; row[\"originSeq\"] = 1"
    refused "at the end of a chain"
    forge backpack "row[\"name\"] = \"\\x1b[2Jb\""
    refused "control character"
    forge backpack_commit "row[\"key\"] = \"k\\n\""
    refused "control character"
    forge backpack_commit "row[\"valueSize\"] = -1"
    refused "valueSize: -1 is impossible"
    forge backpack_commit "row[\"valueSize\"] = 7"
    refused "its value has 1 bytes, not 7"
    forge backpack_commit "row[\"valueSummary\"] = \"another\""
    refused "its summary is not that of its value"
    forge backpack_commit "row = None if row[\"seq\"] == 1 else row"
    refused "the commit before it is missing"
    forge backpack_run "row[\"number\"] = $big"
    refused "number: $big is impossible"
    forge backpack_commit "pass"
    place there
    run in_ there "$VALISE" import ../bad.b # nothing was changed in it
'

t 'a fork takes along what it was forked from [K36]' '
    packed
    in_ here "$VALISE" -q bp fork b f
    in_ here "$VALISE" -q bp fork f ff
    in_ here "$VALISE" -q bp pack ff own 3
    in_ here "$VALISE" bp list --json >bags
    id=$(grep "\"name\":\"ff\"" bags | "$VALISE" json get - /id | tr -d \")
    in_ here "$VALISE" -q export --force ../good.b "backpack/$id"
    place there
    run in_ there "$VALISE" import ../good.b
    run in_ there "$VALISE" bp unpack ff k
    stdout_has 2
    run in_ there "$VALISE" bp unpack ff own
    run in_ there "$VALISE" validate
    rm -r there
    forge backpack "row = None if row[\"name\"] == \"f\" else row"
    refused "the backpack that it was forked from is missing"
'

id_of() {
    "$VALISE" json get "${1:--}" /id | tr -d \"
}

t 'a session takes along what is preferred in it, and nothing else [W13 W20 K36]' '
    place here
    session=$(in_ here "$VALISE" session create --json | id_of)
    other=$(in_ here "$VALISE" session create --json | id_of)
    in_ here "$VALISE" -q preference add --scope session --of "$other" "of another"
    in_ here "$VALISE" -q preference add "of all"
    preference=$(in_ here "$VALISE" preference add --scope session --of "$session" "be short" \
        --json | id_of)
    in_ here "$VALISE" -q export ../s.b "session/$session"
    place there
    run in_ there "$VALISE" import ../s.b
    run in_ there "$VALISE" preference list
    stdout_has "be short"
    stdout_lacks "of a"
    in_ here "$VALISE" -q preference update "$preference" --content "be brief"
    in_ here "$VALISE" -q export --force ../s.b "session/$session"
    run in_ there "$VALISE" import ../s.b
    run in_ there "$VALISE" preference list
    stdout_has "be brief"
    run in_ there "$VALISE" validate
'

t 'a prompt takes along what it was made with, also what has changed since [P8 K36]' '
    place here
    session=$(in_ here "$VALISE" session create --json | id_of)
    in_ here "$VALISE" -q turn add "$session" user hello
    preference=$(in_ here "$VALISE" preference add "of all" --json | id_of)
    in_ here "$VALISE" -q prompt build "$session" --provider anthropic --model m >sent
    prompt=$(in_ here "$VALISE" prompt list --json | id_of)
    in_ here "$VALISE" -q preference update "$preference" --content "of nobody"
    in_ here "$VALISE" -q export ../p.b "prompt/$prompt"
    place there
    run in_ there "$VALISE" import ../p.b
    run in_ there "$VALISE" prompt show "$prompt"
    stdout_has "it can be shown as it was"
    run in_ there "$VALISE" prompt show "$prompt" --neutral
    stdout_has "of all"
    stdout_lacks "of nobody"
    run in_ there "$VALISE" validate
'

done_testing
