#!/usr/bin/env bash
# 83-memory.sh -- roles, preferences, context entries and topics. [W12] [W13] [W16] [W18]
. "$(dirname "$0")/lib.sh"

t 'a role and its versions [W12]' '
    "$VALISE" -q init
    echo "You write C." >persona
    run "$VALISE" role add coder --persona @persona --constraints "{\"model\":\"m\",\"temperature\":0.2}" --topics code
    stdout_has "version: 1"
    run "$VALISE" role update coder --constraints "{\"temperature\":1}" --label "The coder"
    stdout_has "version: 2"
    run "$VALISE" role show coder
    stdout_has "You write C." "{\"model\":\"m\",\"temperature\":1}" "The coder"
    run "$VALISE" role show coder --version 1
    stdout_has "{\"model\":\"m\",\"temperature\":0.2}"
    run "$VALISE" role history coder --json
    [ "$(wc -l <"$OUT")" -eq 2 ]
    expect_exit 6 "$VALISE" role add x --constraints "{\"temperature\":3}"
    stderr_has "between 0 and 2"
    "$VALISE" -q session create --role coder
    expect_exit 5 "$VALISE" role delete coder
    stderr_has "1 session uses role"
    run "$VALISE" role delete coder --force
    run "$VALISE" role add coder
    stdout_has "version: 3"
'

t 'preferences, by the end of their ids too [W13]' '
    "$VALISE" -q init
    id=$("$VALISE" preference add "Be brief." --slot length --json | sed "s/.*\"id\":\"\([^\"]*\).*/\1/")
    run "$VALISE" preference update "${id: -8}" --priority 5
    stdout_has "version: 2"
    run "$VALISE" preference list --slot length
    stdout_has "Be brief."
    run "$VALISE" preference delete "${id: -8}"
    run "$VALISE" preference history "$id"
    stdout_has "Be brief." "true"
    [ "$(wc -l <"$OUT")" -eq 4 ]
'

t 'context entries: text, value, file; `memory` is the same word [W13]' '
    "$VALISE" -q init
    printf "\211PNG\r\n\032\n----" >picture.png
    run "$VALISE" context add team/style "We write C11." --topics code --metadata "{\"by\":\"eve\"}"
    run "$VALISE" memory add team/limits --value "{\"lines\":100}" --ttl 30d
    run "$VALISE" context add picture --file picture.png
    run "$VALISE" context list team/
    stdout_has "team/style" "team/limits"
    [ "$(wc -l <"$OUT")" -eq 3 ]
    run "$VALISE" context show picture
    stdout_has "image/png" "picture.png"
    run "$VALISE" blob list --json
    [ "$(wc -l <"$OUT")" -eq 1 ]
    run "$VALISE" memory show team/limits
    stdout_has "{\"lines\":100}" "expires"
    expect_exit 6 "$VALISE" context add nothing
    stderr_has "needs some content"
    run "$VALISE" context delete picture
    run "$VALISE" blob list --json
    [ ! -s "$OUT" ]
    run "$VALISE" validate
'

t 'delete --erase leaves no byte [W13] [K20]' '
    "$VALISE" -q init
    "$VALISE" -q context add k "the first secret"
    "$VALISE" -q context update k "the second secret"
    id=$("$VALISE" preference add "a preferred secret" --json | sed "s/.*\"id\":\"\([^\"]*\).*/\1/")
    grep -rq "secret" .valise
    expect_exit 2 "$VALISE" context delete k --reason because
    stderr_has "--erase"
    run "$VALISE" context delete k --erase --reason because
    stdout_has "context/k"
    run "$VALISE" preference delete "${id: -8}" --erase
    "$VALISE" -q gc --grace 0s
    ! grep -rq "secret" .valise || fail "the secret is still there"
    run "$VALISE" erasure list
    stdout_has "because"
    run "$VALISE" context history k
    run "$VALISE" validate
'

t 'topics are counted and merged [W13] [W16]' '
    "$VALISE" -q init
    "$VALISE" -q context add a x --topics go --topics lists
    "$VALISE" -q preference add y --topics golang
    "$VALISE" -q session create --topics golang
    run "$VALISE" topic list --json
    [ "$(wc -l <"$OUT")" -eq 3 ]
    run "$VALISE" topic merge go --from golang
    run "$VALISE" topic list --json
    stdout_has "{\"entries\":1,\"preferences\":1,\"roles\":0,\"sessions\":1,\"topic\":\"go\"}"
    run "$VALISE" index count topics go/
    stdout_has "count: 3"
    run "$VALISE" workspace sync
'

t 'events and payloads of memory are for those who may read memory [K12] [K15]' '
    "$VALISE" -q init
    "$VALISE" -q agent add frames --role none --capability event:read --capability log:read --capability context:read
    "$VALISE" -q agent add memory --role none --capability event:read --capability log:read --capability memory:read
    "$VALISE" -q context add salary/joe 4711
    run "$VALISE" --actor frames events --json
    stdout_lacks "salary/joe"
    run "$VALISE" --actor frames log --json
    stdout_lacks "salary/joe"
    run "$VALISE" --actor memory events --json
    stdout_has "salary/joe"
    run "$VALISE" --actor memory log --json
    stdout_has "salary/joe"
'

t 'what a workspace is called [W18]' '
    "$VALISE" -q init
    run "$VALISE" workspace update --label "My project"
    run "$VALISE" status
    stdout_has "My project"
'

t 'lists show what things say, in one line; ids that are none [W12] [W13]' '
    "$VALISE" -q init
    printf "You write C.\n\n\tAnd only C." >persona
    "$VALISE" -q role add coder --persona @persona
    run "$VALISE" role list
    stdout_matches "^NAME +PERSONA +VERSION +UPDATED"
    stdout_has "You write C. And only C."
    printf "%%PDF-1.4" >manual.pdf
    "$VALISE" -q memory add a "Open from  8
to 18."
    "$VALISE" -q memory add b --value "{\"lines\":100}"
    "$VALISE" -q memory add c --file manual.pdf
    "$VALISE" -q memory add d "$(printf "x%.0s" $(seq 5000))"
    run "$VALISE" memory list
    stdout_matches "^KEY +CONTENT +TYPE +VERSION +UPDATED +ACTOR"
    stdout_has "Open from 8 to 18." "{\"lines\":100}" manual.pdf
    run "$VALISE" memory list --json
    [ "$(wc -c <"$OUT")" -lt 2000 ]
    expect_exit 6 "$VALISE" preference delete nope
    stderr_has "'"'nope' is not an id"'" "valise preference list"
    expect_exit 3 "$VALISE" preference show abcdabcd
    stderr_has "valise preference list"
'

t 'one topic more, one less [W13]' '
    "$VALISE" -q init
    "$VALISE" -q role add coder --topic a
    "$VALISE" -q role update coder --add-topic b --remove-topic a
    "$VALISE" -q memory add k text --topic a
    "$VALISE" -q memory update k --add-topic b --remove-topic a
    id=$("$VALISE" preference add "Be brief." --topic a --json | sed "s/.*\"id\":\"\([^\"]*\).*/\1/")
    "$VALISE" -q preference update "$id" --add-topic b --remove-topic a
    run "$VALISE" topic list --json
    stdout_has "\"entries\":1" "\"preferences\":1" "\"roles\":1" "\"topic\":\"b\""
    [ "$(wc -l <"$OUT")" -eq 1 ]
'

done_testing
