#!/usr/bin/env bash
# 89-prompt-keeping.sh -- what prompts keep, what they do not keep, and from whom. [P8] [K20] [K30]
. "$(dirname "$0")/lib.sh"

setup() {
    "$VALISE" -q init
    "$VALISE" -q preference add "Prefer planted-preference."
    "$VALISE" -q context add old "planted-old" --topics code
    "$VALISE" -q session create --label s1 --topics code
    "$VALISE" -q context add new "planted-new" --topics code
    printf "planted-file %s" "$(seq 100 | tr "\n" " ")" >file
    "$VALISE" -q context add file --file file --topics code
    rm file
    "$VALISE" -q turn add s1 user "What is 2+2?"
    "$VALISE" -q turn add s1 assistant "4, says planted-turn."
    "$VALISE" -q turn add s1 user "And 3+3?"
}
newest() {
    "$VALISE" prompt list --json | head -1 | sed 's/.*"id":"\([0-9a-f]*\)".*/\1/'
}
build() {
    "$VALISE" -q prompt build s1 --provider openai --model gpt-4o "$@"
    newest
}
export -f setup newest build

t 'an erasure takes the text, whatever prompts were made with it [P8] [K20]' '
    setup
    id=$(build)
    pref=$("$VALISE" preference list --json | sed "s/.*\"id\":\"\([^\"]*\)\".*/\1/")
    run "$VALISE" preference erase "$pref"
    stdout_has "objects: 1"
    stdout_lacks "others"
    run "$VALISE" context erase old
    stdout_has "objects: 1"
    run "$VALISE" context erase new
    run "$VALISE" context erase file
    turn=$("$VALISE" turn log s1 --json | grep planted-turn | sed "s/.*\"ref\":\"\([^\"]*\)\".*/\1/")
    run "$VALISE" erase "turn/${turn/@//}"
    run "$VALISE" gc --grace 0s
    if grep -ra planted- .valise; then
        echo "something is left of it"
        exit 1
    fi
    run "$VALISE" prompt show "$id" --json
    stdout_has "\"erased\":5" "\"neutralSame\":false" "\"wireSame\":false"
    run "$VALISE" prompt show "$id" --neutral
    stdout_has "Memory new:\n[erased]" "What is 2+2?" "Preference: [erased]"
    stderr_has "this is not what was sent: 5 parts erased"
    run "$VALISE" prompt blame "$id"
    stdout_has "[erased]"
    run "$VALISE" validate
'

t 'an object can be erased by its id; holds are no places of it [K20]' '
    setup
    id=$(build)
    content=$("$VALISE" prompt blame "$id" --json | grep "\"name\":\"new\"" | sed "s/.*\"content\":\"\([0-9a-f]*\)\".*/\1/")
    run "$VALISE" erase --content "$content"
    stdout_has "context/new"
    stdout_lacks "prompt_hold"
    if grep -ra planted-new .valise; then exit 1; fi
    run "$VALISE" prompt show "$id" --neutral
    stdout_has "Memory new:\n[erased]"
'

t 'what expires stays while a prompt needs it, and goes with it [P8] [K30]' '
    setup
    "$VALISE" -q context add brief "planted-brief" --topics code
    id=$(build)
    "$VALISE" -q context update brief --ttl 1s
    "$VALISE" -q context update file --ttl 1s
    sleep 1.5
    "$VALISE" -q context update new "another text"
    "$VALISE" -q retention set log --keep-latest 1
    "$VALISE" -q gc --grace 0s
    expect_exit 3 "$VALISE" context show brief
    run "$VALISE" prompt show "$id"
    stdout_has "it can be shown as it was"
    run "$VALISE" validate
    run "$VALISE" prompt delete "${id:0:8}"
    "$VALISE" -q gc --grace 0s
    "$VALISE" -q context update new "one more" # the log keeps its last entry
    "$VALISE" -q gc --grace 0s
    if grep -ra "planted-brief\|planted-file\|planted-new" .valise; then exit 1; fi
    run "$VALISE" prompt list
    stdout_is_empty
    run "$VALISE" validate
'

t 'automatic retention passes over sessions with prompts; deleting does not [P8] [K30]' '
    setup
    "$VALISE" -q session create --label s2
    "$VALISE" -q turn add s2 user "Hi"
    "$VALISE" -q session create --label s3
    "$VALISE" -q turn add s3 user "Hi"
    id=$(build)
    "$VALISE" -q retention set session --keep-latest 1
    "$VALISE" -q gc
    run "$VALISE" session list --json
    stdout_has "\"label\":\"s1\""
    stdout_lacks "\"label\":\"s2\""
    run "$VALISE" prompt show "$id"
    stdout_has "it can be shown as it was"
    "$VALISE" -q session delete s1
    "$VALISE" -q gc
    run "$VALISE" prompt list --json
    stdout_is_empty
    run "$VALISE" validate
'

t 'who may not read a source sees no text and no name of it [P8]' '
    setup
    id=$(build)
    "$VALISE" -q agent add eve --role none --capability prompt:read --capability session:read
    run "$VALISE" --actor eve prompt show "$id" --neutral
    stdout_has "[denied]" "What is 2+2?"
    stdout_lacks "planted-new" "planted-old" "planted-preference" "Memory" "\"blob\""
    stderr_has "that you may not read"
    run "$VALISE" --actor eve prompt blame "$id" --json
    stdout_has "\"denied\":true"
    stdout_lacks "\"name\":\"new\"" "planted-new" "\"name\":\"file\""
    expect_exit 4 "$VALISE" --actor eve prompt show "$id" --manifest
    expect_exit 4 "$VALISE" --actor eve prompt build s1 --provider openai
    "$VALISE" -q agent add bob --role none --capability prompt:write --capability session:read
    expect_exit 4 "$VALISE" --actor bob prompt build s1 --provider openai
    "$VALISE" -q agent add joe --role none --capability prompt:read
    expect_exit 4 "$VALISE" --actor joe prompt show "$id"
'

t 'prompts expire when somebody says so; lists show short ids [P8] [K30]' '
    setup
    first=$(build)
    "$VALISE" -q turn add s1 assistant "6."
    second=$(build)
    run "$VALISE" prompt list
    stdout_matches " [0-9a-f]{8}@1 "
    head=$("$VALISE" prompt list --json | head -1 | sed "s/.*\"head\":\"\([^\"]*\)\".*/\1/")
    stdout_lacks "$head"
    run "$VALISE" retention set prompt --keep-latest 1
    run "$VALISE" gc
    run "$VALISE" prompt list --json
    stdout_has "$second"
    stdout_lacks "$first"
    expect_exit 3 "$VALISE" prompt show "$first"
    expect_exit 6 "$VALISE" retention set prompt --bytes 100
    run "$VALISE" retention list --json
    stdout_has "\"kind\":\"prompt\""
    run "$VALISE" validate
'

t 'an erasure takes what an entry was before, from prompts too [P8] [K20]' '
    setup
    id=$(build)
    printf "planted-other %s" "$(seq 100 | tr "\n" " ")" >file
    "$VALISE" -q context update file --file file
    rm file
    "$VALISE" -q context update new "planted-second"
    "$VALISE" -q retention set log --keep-latest 1
    "$VALISE" -q gc --grace 0s
    run "$VALISE" prompt show "$id"
    stdout_has "it can be shown as it was"
    run "$VALISE" context erase new
    run "$VALISE" context erase file
    if grep -ra "planted-new\|planted-second\|planted-file\|planted-other" .valise; then
        echo "something is left of it"
        exit 1
    fi
    run "$VALISE" prompt show "$id" --json
    stdout_has "\"erased\":2" "\"neutralSame\":false"
    run "$VALISE" validate
'

t 'gc lets go of nothing while a manifest cannot be read [P8] [K18]' '
    setup
    need python3
    id=$(build)
    "$VALISE" -q context update new "planted-second"
    "$VALISE" -q retention set log --keep-latest 1
    "$VALISE" -q gc --grace 0s
    exchange() { # what is there becomes VALUE, and is kept in the file `kept`
        python3 -c "
import sqlite3, sys
db = sqlite3.connect(\".valise/valise.db\")
where = \"where hash = (select manifest from prompt)\"
(was,) = db.execute(\"select body from object \" + where).fetchone()
db.execute(\"update object set body = ? \" + where, (open(sys.argv[1], \"rb\").read(),))
db.commit()
open(\"kept\", \"wb\").write(was)
" "$1"
    }
    echo "no manifest" >damage
    exchange damage
    "$VALISE" -q gc --grace 0s || true
    expect_exit 7 "$VALISE" prompt show "$id"
    exchange kept
    run "$VALISE" prompt show "$id"
    stdout_has "it can be shown as it was"
    run "$VALISE" validate
'

done_testing
