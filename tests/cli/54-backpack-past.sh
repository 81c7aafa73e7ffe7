#!/usr/bin/env bash
# 54-backpack-past.sh -- backpacks and what they were: who sees it, versions, forks, copies. [L3]
. "$(dirname "$0")/lib.sh"

bp() {
    "$VALISE" -q bp "$@"
}

five() {
    for i in 1 2 3 4 5; do
        bp pack "$1" "$2" "$i"
    done
}

at_is_seen_today() {
    "$VALISE" -q init
    bp pack A secret '"s3"' # entry 2
    bp permit A n --deny secret
    expect_exit 4 "$VALISE" bp unpack A secret --node n --at 2
    stdout_is_empty
    for verb in "snapshot A now" "history A" "export A" "ls A"; do
        # shellcheck disable=SC2086
        run "$VALISE" bp $verb --node n --at 2
        stdout_lacks s3
    done
    run "$VALISE" bp unpack A secret --at 2
    stdout_is '"s3"'
}
t 'a node sees the past under its permissions of today [B19]' at_is_seen_today

versions() {
    "$VALISE" -q init
    five R k
    bp quarantine R k --reason x
    five R z
    "$VALISE" -q retention set backpack --keep-latest 2
    "$VALISE" -q gc
    run "$VALISE" bp pack R k 99 --json
    json_is version 6
    bp rm R k
    run "$VALISE" bp release R k --json
    json_is version 7
}
t 'versions count on while the quarantine holds something of the key [B2]' versions

copies() {
    "$VALISE" -q init
    five R k
    bp rm R k
    five R z
    "$VALISE" bp export R --commits 2 >copy.json
    bp import C @copy.json
    run "$VALISE" bp pack C k 1 --json
    json_is version 6
    sed 's/"edge":[0-9]*/"edge":9223372036854775807/' copy.json >bad.json
    expect_exit 6 "$VALISE" bp import D @bad.json
    stderr_has "edge"
}
t 'a copy counts on; an edge that nobody can count on from is refused [B27]' copies

forks() {
    "$VALISE" -q init
    bp pack A k 1 --node-id orig
    bp pack A j 1
    bp quarantine A j --reason bad
    bp fork A G1
    bp fork G1 G2
    run "$VALISE" bp ls G2 --quarantined
    stdout_has j bad
    bp release G2 j
    run "$VALISE" bp unpack G2 j
    stdout_is 1
    run "$VALISE" bp ls A --quarantined
    stdout_has bad
    bp pack G2 k 2
    run "$VALISE" bp diff G2 now --other A
    stdout_lacks orig
    run "$VALISE" bp show G2 2
    stdout_has "- 1" "+ 2"
    expect_exit 1 "$VALISE" bp snapshot G2 2000-01-01T00:00:00Z
    stderr_has "2000-01-01" "origin"
}
t 'a fork has the quarantine, knows its origins, and does not reach back behind them [B13]' forks

removed_since() {
    "$VALISE" -q init
    five A k # entries 2 to 6
    "$VALISE" -q retention set backpack --keep-latest 1
    "$VALISE" -q gc
    for verb in "ls A" "unpack A k" "history A"; do
        # shellcheck disable=SC2086
        expect_exit 1 "$VALISE" bp $verb --at 3
        stdout_is_empty
        stderr_has "expired" "after commit 4"
    done
    run "$VALISE" bp unpack A k --at 6
    stdout_is 5
    run "$VALISE" bp list --at 3
    stdout_has A
}
t 'what has expired is not shown as it never was [B25]' removed_since

dropped_since() {
    "$VALISE" -q init
    bp pack A k 1
    bp fork A B
    bp pack B k 2 # entry 4
    bp drop B
    expect_exit 3 "$VALISE" bp unpack B k --at 4
    stdout_is_empty
    stderr_has "dropped since"
}
t 'what was dropped since is not shown as its origin [B13] [B19]' dropped_since

done_testing
