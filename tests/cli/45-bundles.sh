#!/usr/bin/env bash
# 45-bundles.sh -- bundles that somebody made: well-formed, with a right hash, and wrong.
# [K36 K22 Q26]
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

done_testing
