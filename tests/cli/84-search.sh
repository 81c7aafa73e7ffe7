#!/usr/bin/env bash
# 84-search.sh -- words are found in turns, entries and frames. [W14]
. "$(dirname "$0")/lib.sh"

start() {
    "$VALISE" -q init
    "$VALISE" -q session create --label shop --topic food
    "$VALISE" -q turn add shop user "Buy milk and two pints of chocolate"
    "$VALISE" -q turn add shop assistant "Where is the farm?"
    "$VALISE" -q context add team/milk "We drink it raw." --topic health
    mkdir lib
    echo 'int x;' >lib/cow.c
    "$VALISE" -q scan
    echo "where the milk comes from" | "$VALISE" -q put-frame lib/cow.c - --type summary
}

words() {
    start
    run "$VALISE" search milk
    stdout_matches "^context  team/milk  20.*Z  health$"
    stdout_matches "^frame    lib/cow.c \[summary\]  20.*Z$"
    stdout_has "    We drink it raw." "    where the milk comes from" \
        "    Buy milk and two pints of chocolate"
    run "$VALISE" search '"two pints" choc*'
    [ "$(wc -l <"$OUT")" = 2 ]
    run "$VALISE" search '"pints two"'
    [ ! -s "$OUT" ]
    run "$VALISE" search milk --kind turn --json
    json_is kind turn
    json_is marks '[4,8]'
    run "$VALISE" search farm --session shop
    stdout_has "Where is the farm?"
    run "$VALISE" search milk --topic food
    [ "$(wc -l <"$OUT")" = 2 ]
}
t 'words, phrases, beginnings; kinds, topics, sessions' words

wrong() {
    start
    expect_exit 6 "$VALISE" search ' - '
    stderr_has "there is no word to look for"
    expect_exit 3 "$VALISE" search milk --session nobody
    expect_exit 1 "$VALISE" search milk --at 2
    stderr_has "the past cannot be searched"
    expect_exit 6 "$VALISE" search milk --kind luck
}
t 'what cannot be searched is refused' wrong

care() {
    start
    run "$VALISE" search milk
    [ "$(stat -c %a .valise/search.db)" = 600 ]
    grep -q "drink it raw" .valise/search.db*
    run "$VALISE" erase context/team%2Fmilk
    if grep -q "drink it raw" .valise/search.db* .valise/valise.db*; then fail 'it is there'; fi
    run "$VALISE" search raw
    [ ! -s "$OUT" ]
    run "$VALISE" validate
    head -c 20000 /dev/urandom >.valise/search.db
    expect_exit 7 "$VALISE" validate
    stdout_has "index search"
    run "$VALISE" repair
    run "$VALISE" validate
    rm .valise/search.db*
    run "$VALISE" search milk
    stdout_has "lib/cow.c"
    run "$VALISE" sync
    stdout_matches "^search +[0-9]+ +3 +0 +0"
}
t 'the index is forgotten, found damaged, and made again' care
done_testing
