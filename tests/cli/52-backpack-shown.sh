#!/usr/bin/env bash
# 52-backpack-shown.sh -- what people are shown of backpacks, and how lists are taken away.
. "$(dirname "$0")/lib.sh"

bp() {
    "$VALISE" -q bp "$@"
}

t 'tags and lists of nodes are taken away with --no-tags and the like [B19]' '
    "$VALISE" -q init
    bp pack run-1 k 1 --tag pii --tag b --read n --write n
    bp pack run-1 k 2
    run "$VALISE" bp ls run-1 --json
    json_is tags "[\"b\",\"pii\"]"
    json_is read "[\"n\"]"
    bp pack run-1 k 3 --no-tags --no-read --no-write
    run "$VALISE" bp ls run-1 --json
    json_is tags "[]"
    stdout_lacks "\"read\"" "\"write\""
    expect_exit 2 "$VALISE" bp pack run-1 k 4 --no-tags --tag x
    stderr_has "--no-tags" "--tag"
    expect_exit 2 "$VALISE" bp history run-1 --no-action
    run "$VALISE" bp pack --help
    stdout_has "--tag TEXT, --no-tags" "--read TEXT, --no-read"
    stdout_lacks "--tags TEXT"
    "$VALISE" -q agent add joe --capability backpack:write
    "$VALISE" -q agent update joe --role reader --no-capabilities
    run "$VALISE" agent show joe --json
    json_is capabilities "[]"
'

t 'a conflict with a deletion says who deleted it [B17]' '
    "$VALISE" -q init
    bp pack run-1 k 1
    bp fork run-1 run-2
    bp pack run-1 k 2 --node-id us
    bp rm run-2 k --node-id them
    run "$VALISE" bp conflicts run-1 run-2
    stdout_is <<END
conflict k
  ours, by us
    - 1
    + 2
  theirs, deleted by them
    - 1
END
    run "$VALISE" bp conflicts run-1 run-2 --json
    json_is theirNode them
    run "$VALISE" bp conflicts run-2 run-1 --json
    json_is ourNode them
'

t 'the error of a quarantine is shown, and what was written harms no line [B25]' '
    "$VALISE" -q init
    bp pack run-1 k 1
    bp quarantine run-1 k --reason "$(printf "bad\033[31m\nthing")" --error "{\"code\":7}"
    run "$VALISE" bp ls run-1 --quarantined
    stdout_has ERROR code=7
    run "$VALISE" bp ls run-1 --quarantined --json
    json_is error.code 7
    for command in "show run-1 2" "history run-1" "blame run-1 k --point 1"; do
        run "$VALISE" bp $command
        ! grep -q "$(printf "\033")" "$OUT"
    done
    run "$VALISE" bp show run-1 2
    stdout_has "Reason: bad\\x1b[31m\\nthing" "Error:  {\"code\":7}"
'

t 'what is not found comes with where to look' '
    "$VALISE" -q init
    bp pack run-1 k 1 --node-id n
    expect_exit 3 "$VALISE" bp show run-1 99
    stderr_has "bp history"
    expect_exit 3 "$VALISE" bp show run-1 ffffffff
    stderr_has "bp history"
    expect_exit 3 "$VALISE" bp blame run-1 none
    stderr_has "bp ls"
    expect_exit 3 "$VALISE" bp release run-1 k
    stderr_has "bp ls --quarantined"
    expect_exit 3 "$VALISE" bp snapshot run-1 "before:n#4"
    stderr_has "has run 1 time here" "bp points"
    expect_exit 3 "$VALISE" bp snapshot run-1 before:nobody
    stderr_has "has not run here" "bp points"
    expect_exit 3 "$VALISE" bp erase run-1 none
    stderr_has "bp history"
    expect_exit 6 "$VALISE" bp import new "{\"items\":[[\"k\",{\"key\":\"k\",\"value\":1,\"metadata\":{\"version\":-1}}]]}"
    stderr_has "must be a number from 1 on, is -1"
'

t 'a program that cannot decide is no answer of a bisect [B16]' '
    "$VALISE" -q init
    bp pack run-1 k 1
    bp pack run-1 k 2
    expect_exit 3 "$VALISE" bp bisect run-1 -- false
    expect_exit 1 "$VALISE" bp bisect run-1 -- ./no-such-program
    stderr_has "cannot run ./no-such-program" PATH
    expect_exit 1 "$VALISE" bp bisect run-1 -- sh -c "kill -9 \$\$"
    stderr_has "signal 9" "by hand"
    stderr_lacks disk
    expect_exit 1 "$VALISE" bp bisect run-1 -- sh -c "exit 200"
    stderr_has "exited with 200" "1 to 124"
'

t 'who may read one backpack only can have it drawn [B31]' '
    "$VALISE" -q init
    bp pack run-1 k 1
    bp fork run-1 run-2
    bp pack run-2 k 2
    "$VALISE" -q agent add joe --capability "backpack:read backpack=run-1"
    run "$VALISE" --actor joe bp history run-1 --graph
    stdout_has "* 1" "(run-1) pack k v1"
    stdout_lacks run-2
    expect_exit 4 "$VALISE" --actor joe bp history run-2 --graph
    run "$VALISE" bp history run-1 --graph
    stdout_has run-2
'

done_testing
