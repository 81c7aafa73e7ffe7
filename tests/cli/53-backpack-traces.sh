#!/usr/bin/env bash
# 53-backpack-traces.sh -- what backpacks keep of who looked, and what they keep to themselves.
. "$(dirname "$0")/lib.sh"

bp() {
    "$VALISE" -q bp "$@"
}

t 'reads of a state of the past are recorded, and so are those that were denied [B7 B20]' '
    "$VALISE" -q init
    bp pack run-1 fact 1
    bp pack run-1 fact 2
    bp permit run-1 n --deny fact
    run "$VALISE" bp unpack run-1 fact --point 1
    stdout_is 1
    expect_exit 4 "$VALISE" bp unpack run-1 fact --point 1 --node n
    run "$VALISE" bp access-log run-1 unknown
    stdout_has fact found
    run "$VALISE" bp access-log run-1 n
    stdout_has fact denied
'

t 'who may not write an item does not learn its version from --expect, and the attempt is recorded [B18 B20]' '
    "$VALISE" -q init
    bp pack run-1 secret 1
    bp permit run-1 n --deny secret
    expect_exit 4 "$VALISE" bp pack run-1 secret 2 --node n --expect 99
    stderr_lacks "it is now"
    expect_exit 4 "$VALISE" bp rm run-1 secret --node n --expect 99
    expect_exit 5 "$VALISE" bp pack run-1 secret 2 --expect 99
    stderr_has "it is now 1"
    run "$VALISE" bp access-log run-1 n --access write
    stdout_has "pack" "delete" denied
'

t 'reads by many processes beside a writer are all recorded [B7 B29]' '
    "$VALISE" -q init
    bp pack run-1 k 1
    for p in 1 2 3; do
        (for i in 1 2 3 4 5 6 7 8; do bp unpack run-1 k >/dev/null; done) &
    done
    for i in 1 2 3 4 5 6 7 8; do bp pack run-1 other "$i"; done
    wait
    run "$VALISE" bp access-log run-1 unknown --json
    [ "$(grep -c "\"key\":\"k\"" "$OUT")" -eq 24 ]
'

t 'events tell why something was quarantined, but not with which value [B32]' '
    "$VALISE" -q init
    bp pack run-1 email "\"a@b.c\"" --tag pii
    bp pack run-1 plain "\"x\""
    bp quarantine run-1 email --reason "a@b.c looks odd" --error "{\"got\":\"a@b.c\"}"
    bp quarantine run-1 plain --reason "odd too" --error "{\"got\":\"plain-error\"}"
    run "$VALISE" events --json
    stdout_lacks "a@b.c" "plain-error"
    stdout_has "odd too" "[redacted]"
'

t 'bisect wants a start where it does not hold yet [B16]' '
    "$VALISE" -q init
    for i in 1 2 3 4; do bp pack run-1 k "$i"; done
    expect_exit 6 "$VALISE" bp bisect run-1 1 4 -- true
    stderr_has "the condition already holds after commit 1"
    run "$VALISE" bp bisect run-1 -- grep -q "[34]"
    stdout_has "commit 3"
'

t 'a merge brings tags, lists, quarantine and authors along [B17 B2]' '
    "$VALISE" -q init
    bp pack run-1 a 1 --node-id writer
    bp pack run-1 b 1 --node-id writer
    bp pack run-1 c 1 --node-id writer
    bp fork run-1 theirs
    bp pack theirs a 1 --tag secret --read auth --node-id tagger
    bp pack theirs c 2 --node-id changer
    bp quarantine theirs b --reason "looks wrong" --node-id checker
    run "$VALISE" bp merge run-1 theirs
    stdout_has 3
    run "$VALISE" bp blame run-1 a --json
    stdout_has "\"nodeId\":\"tagger\"" "\"tags\":[\"secret\"]" "\"read\":[\"auth\"]"
    run "$VALISE" bp blame run-1 c --json
    stdout_has "\"nodeId\":\"changer\""
    run "$VALISE" bp ls run-1 --quarantined --json
    stdout_has "\"key\":\"b\"" "looks wrong"
    run "$VALISE" bp history run-1 b --json
    stdout_has "\"nodeId\":\"checker\""
    bp release run-1 b
    run "$VALISE" bp unpack run-1 b
    stdout_is 1
'

t 'a merge brings the quarantine along, whatever ours has of the key [B17 B25]' '
    "$VALISE" -q init
    bp pack run-1 x 1
    bp pack run-1 gone 1
    bp pack run-1 back 1
    bp quarantine run-1 back --reason "not sure"
    bp fork run-1 theirs
    bp pack theirs x 5
    bp quarantine theirs x --reason "is 5"
    bp pack theirs new 7
    bp quarantine theirs new --reason "made and taken away"
    bp quarantine theirs never --reason "was never there"
    bp quarantine theirs gone --reason "odd"
    bp release theirs back
    bp rm run-1 gone
    run "$VALISE" bp merge run-1 theirs
    stdout_has "5 keys merged"
    run "$VALISE" bp ls run-1 --quarantined --json
    stdout_has "is 5" "made and taken away" "was never there" odd
    stdout_lacks "not sure"
    run "$VALISE" bp unpack run-1 back
    stdout_is 1
    bp release run-1 x
    run "$VALISE" bp unpack run-1 x
    stdout_is 5
    run "$VALISE" bp merge run-1 theirs --base theirs
    stdout_has "0 keys merged"
    run "$VALISE" -q validate
'

t 'an item whose value was erased on the other side is named [B17]' '
    "$VALISE" -q init
    bp pack run-1 a 1
    bp fork run-1 theirs
    bp pack theirs e 2
    bp erase theirs e
    expect_exit 3 "$VALISE" bp merge run-1 theirs
    stderr_has "the value of '"'e'"' was erased on the other side" "remove the item there"
    bp rm theirs e
    run "$VALISE" bp merge run-1 theirs
'

t 'tags that both sides changed are a conflict too [B17]' '
    "$VALISE" -q init
    bp pack run-1 a 1
    bp fork run-1 theirs
    bp pack theirs a 1 --tag x
    bp pack run-1 a 1 --tag y
    expect_exit 5 "$VALISE" bp merge run-1 theirs
    stdout_has "the same value, with another namespace, tags or lists"
    bp pack run-1 a 1 --tag x
    run "$VALISE" bp merge run-1 theirs
'

t 'what was denied to validate and blame is on record, with its time [B20]' '
    "$VALISE" -q init
    bp pack run-1 k 1
    bp permit run-1 n --deny k
    expect_exit 4 "$VALISE" bp validate run-1 "{}" --key k --node n
    expect_exit 4 "$VALISE" bp blame run-1 k --node n
    run "$VALISE" bp access-log run-1 n --json
    stdout_lacks "1970-01-01"
    [ "$(grep -c denied "$OUT")" -eq 2 ]
'

done_testing
