#!/usr/bin/env bash
# 51-backpack-access.sh -- backpacks that an operation reads besides the one it is about: the actor and
# the node are asked for each of them. [K23 B31]
. "$(dirname "$0")/lib.sh"

bp() {
    "$VALISE" -q bp "$@"
}

# Ann may use run-1 and what is called mine*; secret is not hers.
ann_and_a_secret() {
    "$VALISE" -q init
    bp pack run-1 query 1
    bp pack secret token '"HIDDEN"'
    "$VALISE" -q agent add ann --capabilities "backpack:read backpack=run-1" \
        --capabilities "backpack:write backpack=run-1" --capabilities "backpack:read backpack=mine*" \
        --capabilities "backpack:write backpack=mine*"
}

ann() {
    "$VALISE" -q --actor ann bp "$@"
}

denied() {
    expect_exit 4 "$VALISE" --actor ann bp "$@"
    stdout_lacks HIDDEN
    stderr_lacks HIDDEN
    stderr_lacks token
    stderr_has "needs backpack:"
}

comparing() {
    ann_and_a_secret
    denied diff run-1 0 --other secret
    stderr_has "other" "backpack:read" "backpack=run-1"
    run ann diff run-1 0 --other run-1
    stdout_has query
    # What is not there looks the same, and no name is proposed.
    denied diff run-1 0 --other secre
    stderr_lacks "did you mean"
}
t 'diff --other needs backpack:read of the other one' comparing

merging() {
    ann_and_a_secret
    denied merge run-1 secret --base run-1 --base-point 0
    stderr_has "theirs" "backpack:read"
    denied conflicts run-1 secret --base run-1 --base-point 0
    denied merge run-1 run-1 --base secret
    stderr_has "base" "backpack:read"
    denied conflicts run-1 run-1 --base secret
    run bp ls run-1
    stdout_lacks token
}
t 'merge and conflicts need backpack:read of theirs and of the base' merging

# Names that are proposed are those of what may be read.
proposing() {
    ann_and_a_secret
    bp pack mina k 1
    expect_exit 3 "$VALISE" --actor ann bp ls mine
    stderr_lacks mina
    expect_exit 3 "$VALISE" bp ls mine
    stderr_has "did you mean 'mina'?"
}
t 'no name is proposed of what may not be read' proposing

# The base that is found by itself is asked for as well; one that may be read can be said.
found_base() {
    ann_and_a_secret
    bp fork secret mine-1
    bp fork secret mine-2
    bp pack mine-1 token '"ours"'
    bp pack mine-2 token '"theirs"'
    expect_exit 4 "$VALISE" --actor ann bp conflicts mine-1 mine-2
    stderr_has "base" "backpack:read"
    stdout_is_empty
    expect_exit 4 "$VALISE" --actor ann bp merge mine-1 mine-2
    stderr_has "base" "backpack:read"
    run ann conflicts mine-1 mine-2 --base mine-1 --base-point 0
    stdout_has ours theirs
}
t 'so does a base that is found by itself' found_base

forking() {
    ann_and_a_secret
    denied fork secret mine-1
    denied fork run-1 other
    stderr_has "name" "backpack:write"
    run ann fork run-1 mine-1
    # Who only writes cannot read by way of a fork.
    "$VALISE" -q agent add wim --capabilities "backpack:write" --capabilities "backpack:read backpack=mine*"
    expect_exit 4 "$VALISE" --actor wim bp fork secret mine-2
    stderr_has "backpack:read"
    run bp list
    stdout_lacks mine-2
    stdout_lacks other
}
t 'fork needs backpack:read of the origin and backpack:write of the new name' forking

# The id says which one is meant, not which one may be used.
by_id() {
    local id
    ann_and_a_secret
    run bp list --json
    id=$(json_get '[1].id')
    stdout_has '"name":"secret"'
    for verb in "unpack run-1 token" "ls run-1 --values" "history run-1" "export run-1"; do
        # shellcheck disable=SC2086
        expect_exit 3 "$VALISE" --actor ann bp $verb --backpack-id "$id"
        stdout_lacks HIDDEN
        stderr_has "that was opened is gone"
    done
    expect_exit 3 "$VALISE" --actor ann bp pack run-1 token 2 --backpack-id "$id"
    expect_exit 3 "$VALISE" --actor ann bp merge run-1 run-1 --theirs-id "$id" --base run-1 --base-point 0
    expect_exit 3 "$VALISE" --actor ann bp merge run-1 run-1 --base run-1 --base-id "$id"
    run bp unpack secret token
    stdout_is '"HIDDEN"'
}
t 'an id of another backpack than the one that is named opens nothing' by_id

# A node is under the rules of each backpack that it reads. [B31]
a_node() {
    "$VALISE" -q init
    bp create x
    bp pack run-1 query '"HIDDEN"'
    bp pack run-1 fact 1
    bp permit run-1 summary --read fact
    expect_exit 4 "$VALISE" bp unpack run-1 query --node summary
    run bp diff run-1 now --other x --node summary
    stdout_has fact
    stdout_lacks HIDDEN
    stdout_lacks query
    run bp diff x now --other run-1 --node summary
    stdout_has fact
    stdout_lacks HIDDEN
    stdout_lacks query
    run bp conflicts x run-1 --base x --base-point 0 --node summary
    run "$VALISE" bp merge x run-1 --base x --base-point 0 --node summary
    run bp ls x --values
    stdout_has fact
    stdout_lacks HIDDEN
    stdout_lacks query
    # Who may not be that node there cannot merge as it.
    "$VALISE" -q agent add ann --capabilities backpack:read --capabilities backpack:write \
        --capabilities "backpack:as-node backpack=x"
    expect_exit 4 "$VALISE" --actor ann bp merge x run-1 --base x --base-point 0 --node summary
    stderr_has "backpack:as-node"
    expect_exit 4 "$VALISE" --actor ann bp diff x 0 --other run-1 --node summary
}
t 'a node sees of each side what it may read there' a_node

# What a node may not touch it learns nothing of by asking for a version.
versions() {
    "$VALISE" -q init
    bp pack run-1 plan 1
    bp pack run-1 plan 2
    bp permit run-1 summary --read fact --write fact
    for expect in null 1 2; do
        expect_exit 4 "$VALISE" bp pack run-1 plan 3 --node summary --expect "$expect"
        stderr_has "may not write 'plan'"
        stderr_lacks "but there is"
        expect_exit 4 "$VALISE" bp rm run-1 plan --node summary --expect "$expect"
        stderr_lacks "but there is"
        expect_exit 4 "$VALISE" bp pack run-1 nothing 3 --node summary --expect "$expect"
        stderr_has "may not write 'nothing'"
    done
    run bp access-log run-1 summary --access write
    stdout_has "plan" denied
    expect_exit 5 "$VALISE" bp pack run-1 fact 3 --node summary --expect 1
    stderr_has "but there is null"
}
t 'a node that may not write does not learn the version' versions

# A permission that was taken away does not come back by looking at the past.
the_past() {
    local at
    "$VALISE" -q init
    bp pack run-1 query '"HIDDEN"'
    run bp history run-1 --json
    at=$(json_get logSeq)
    bp permit run-1 summary --deny query
    expect_exit 4 "$VALISE" bp unpack run-1 query --node summary
    expect_exit 4 "$VALISE" bp unpack run-1 query --node summary --point 1
    expect_exit 4 "$VALISE" bp unpack run-1 query --node summary --at "$at"
    for verb in "ls run-1 --values" "export run-1" "history run-1"; do
        # shellcheck disable=SC2086
        run bp $verb --node summary --at "$at"
        stdout_lacks HIDDEN
    done
    run bp unpack run-1 query --at "$at"
    stdout_is '"HIDDEN"'
}
t 'a node is under the rules of today, also in a state of the past' the_past

# Who moves what it may not read does not learn its hash.
hashes() {
    "$VALISE" -q init
    bp pack run-1 k '"HIDDEN"'
    bp permit run-1 mover --read nothing --write k
    run "$VALISE" bp quarantine run-1 k --reason x --node mover --json
    stdout_has '"version":1'
    stdout_lacks valueId
    run "$VALISE" bp release run-1 k --node mover --json
    stdout_has '"version":2'
    stdout_lacks valueId
    run "$VALISE" bp quarantine run-1 k --reason x --json
    stdout_has valueId
}
t 'a node that moves what it may not read gets no hash of it' hashes

t 'messages say what is wrong and what to do' '
    "$VALISE" -q init
    bp pack run-1 a 1 --tag t --read x
    bp pack run-1 a 2
    bp pack run-1 a 3
    expect_exit 6 "$VALISE" bp bisect run-1 3 1 --rule true
    stderr_has "the end (commit 1) must come after the start (commit 3)"
    expect_exit 6 "$VALISE" bp run run-1
    stderr_has "--node NODE"
    bp permit run-1 n --deny a
    expect_exit 4 "$VALISE" bp clear run-1 --tag t --node n
    stderr_has "may not remove some of these items"
    stderr_lacks "not shown"
'

done_testing
