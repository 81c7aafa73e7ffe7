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
        ! grep -q "$(printf "\033")" "$OUT" || fail "an escape went through"
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

# Ids and nodes of commits differ each time.
plain_graph() {
    sed -E 's/ ([0-9]+) [0-9a-f]{8} / \1 /; s/ unknown  .*//'
}

a_graph() {
    "$VALISE" -q init
    bp create run-1
    bp fork run-1 early
    run "$VALISE" bp history run-1 --graph
    stdout_is 'o (early, run-1) empty'
    bp pack run-1 a 1
    bp pack run-1 b 1
    bp fork run-1 run-2
    bp pack run-2 c 1
    bp pack run-2 d 1
    bp pack run-1 a 2
    bp merge run-1 run-2
    bp fork run-1 tip
    "$VALISE" bp history run-1 --graph | plain_graph >drawn
    diff drawn - <<'END'
*   5 (run-1, tip) merge d v1
|\
* | 4 merge c v1
* | 3 pack a v2
| * 2 (run-2) pack d v1
| * 1 pack c v1
|/
* 2 pack b v1
* 1 pack a v1
o (early) empty
END
    run "$VALISE" bp history run-2 --graph
    stdout_has "o forked from run-1 at 2"
    run "$VALISE" bp history run-1 --graph --limit 2
    stdout_lacks empty
}
t 'the graph shows merges, and forks without commits [B31]' a_graph

# What a merge took away has no entry on the other side: its row says that there was one.
a_graph_of_less() {
    "$VALISE" -q init
    bp pack m b 1
    bp pack m c 1
    bp fork m f
    bp fork m g
    bp rm g b
    bp merge f g
    bp pack f d 1
    bp merge m f
    bp quarantine g c --reason bad --forget
    bp merge m g
    bp merge g m
    bp merge m g
    "$VALISE" bp history m --graph | plain_graph >drawn
    diff drawn - <<'END'
*   3 (g) merge d v1
|\
| *   5 (m) quarantine c v1 unknown
| |\
|_|/
* | 2 quarantine c v1 unknown
| *   4 merge d v1
| |\
| * | 3 delete b v1 unknown
| | * 2 (f) pack d v1
| | *   1 delete b v1 unknown
| | |\
|_|_|/
* | | 1 delete b v1 unknown
|_|/
|/
* 2 pack c v1
* 1 pack b v1
END
    run "$VALISE" bp merges m
    stdout_has "UP TO"
}
t 'the graph shows merges that only took something away [B31]' a_graph_of_less

t 'what settles a conflict is said, also where one side has deleted [B17]' '
    "$VALISE" -q init
    bp pack m k 1
    bp fork m g
    bp rm g k
    bp pack m k 2
    expect_exit 5 "$VALISE" bp merge m g
    stderr_has "make them equal (pack or rm), then merge again"
    bp rm m k
    bp merge m g
'

a_cut_graph() {
    "$VALISE" -q init
    for i in 1 2 3 4 5; do
        bp pack run-1 k "$i"
    done
    bp fork run-1 old --point 2
    bp fork run-1 other --point 1
    bp pack other z 1
    "$VALISE" -q retention set backpack --keep-latest 2
    "$VALISE" -q gc
    "$VALISE" bp history run-1 --graph | plain_graph >drawn
    diff drawn - <<'END'
* 1 (other) pack z v1
| * 5 (run-1) pack k v5
| * 4 pack k v4
|/
o (old) commits up to 3 were dropped
END
    run "$VALISE" bp history run-1 --graph --first 5
    stdout_lacks dropped
    run "$VALISE" bp list
    stdout_has "run-1        2"
    run "$VALISE" bp points run-1
    stdout_lacks before:unknown
    stdout_has after:unknown
}
t 'the graph, the list and the points show where history was cut [B31]' a_cut_graph

runs_are_joined() {
    "$VALISE" -q init
    bp pack run-1 a 1 --node-id other
    run "$VALISE" bp run run-1 --node n --json
    json_is run 2
    bp pack run-1 b 1 --node n --run 2
    bp pack run-1 c 1 --node-id other
    bp pack run-1 d 1 --node n --run 2
    run "$VALISE" bp history run-1 d --json
    json_is run 2
    run "$VALISE" bp points run-1
    stdout_has "after:n              4  after   n"
    bp run run-1 --node n --end 2
    run "$VALISE" bp points run-1
    stdout_has "after:n              4" "after:other          1"
    run "$VALISE" bp snapshot run-1 before:n -q
    stdout_has a
    stdout_lacks b
    expect_exit 6 "$VALISE" bp pack run-1 e 1 --node n --run 2
    stderr_has "run 2 has already ended" "bp run"
    expect_exit 6 "$VALISE" bp pack run-1 e 1 --run 2
    stderr_has "--node"
    expect_exit 3 "$VALISE" bp rm run-1 a --node n --run 9
    stderr_has "there is no run 9"
    for verb in pack rm clear quarantine release; do
        run "$VALISE" bp "$verb" --help
        stdout_has "--run NUMBER"
    done
}
t 'what is packed with --run belongs to a run that was started before [B12]' runs_are_joined

owners_only() {
    "$VALISE" -q init
    bp pack run-1 a 1
    for verb in fork checkpoint permit permissions points rules usage; do
        run "$VALISE" bp "$verb" --help
        stdout_lacks "--node "
    done
    expect_exit 4 "$VALISE" bp fork run-1 run-2 --node n
    stderr_has "only the owner may" "leave out --node"
}
t 'what only the owner may offers no --node [B19]' owners_only

gone_and_cut() {
    "$VALISE" -q init
    bp pack run-1 a '"sesame"'
    bp pack run-1 n null
    bp pack run-1 long "\"$(printf 'x%.0s' {1..300})\""
    bp erase run-1 a
    for verb in "ls run-1" "ls run-1 --values" "snapshot run-1 now" "history run-1" \
        "history run-1 --oneline" "blame run-1 a" "show run-1 1" "diff run-1 0"; do
        # shellcheck disable=SC2086
        run "$VALISE" bp $verb
        stdout_has "(erased)"
    done
    run "$VALISE" bp ls run-1 --values
    stdout_has "  null"
    for verb in "ls run-1" "history run-1" "history run-1 --oneline" "blame run-1 long"; do
        # shellcheck disable=SC2086
        run "$VALISE" bp $verb
        stdout_has "xxx…"
    done
    run "$VALISE" bp history run-1 n
    stdout_lacks "…"
    run "$VALISE" bp ls run-1 --json
    stdout_lacks "…" erased
    run "$VALISE" bp ls run-1 --color always
    stdout_has "$(printf '\033[2m(erased)')"
}
t 'what was erased or cut says so [B25]' gone_and_cut

jailed_conflict() {
    "$VALISE" -q init
    bp pack run-1 k 1
    bp fork run-1 run-2
    bp pack run-1 k 2 --node-id us
    bp quarantine run-2 k --reason bad --node-id them
    run "$VALISE" bp conflicts run-1 run-2
    stdout_has "theirs, quarantined by them"
    run "$VALISE" bp conflicts run-1 run-2 --json
    json_is theirAction quarantine
    json_is ourAction pack
}
t 'a conflict with the quarantine says who put it there [B17]' jailed_conflict

narrow() {
    key=$(printf 'k%.0s' {1..60})
    "$VALISE" -q init
    bp pack run-1 "$key" 1 --tag user-input --node-id research-2
    bp rule run-1 pii --read n
    bp rule "" secret --read n
    run "$VALISE" bp rules run-1
    stdout_has "secret  n     workspace" "pii     n     backpack"
    run "$VALISE" bp ls run-1
    stdout_has "$key" TIME VERSION
    PAGER="cat" "$LIB_DIR/on_terminal.py" --columns 80 "$VALISE" --color never bp ls run-1 >shown
    grep -q "^kkkkkkkkkkkkkkkkkkkkkkkk" shown
    if grep -q TIME shown; then return 1; fi
    PAGER="cat" "$LIB_DIR/on_terminal.py" --columns 80 "$VALISE" --color never bp history run-1 --graph >shown
    grep -q "^[*] 1 ........ (run-1) pack kkkkk.*… v1 research-2" shown
}
t 'a narrow terminal has room for what is given back; rules say where they hold' narrow

hints_keep() {
    "$VALISE" -q init
    bp pack run-1 k 1
    "$VALISE" -q agent add joe --capability log:read --capability "backpack:read backpack=run-1"
    expect_exit 4 "$VALISE" --actor joe agent list
    stderr_has "valise agent update joe --grant agent:read"
    "$VALISE" -q agent update joe --grant agent:read --grant log:read
    run "$VALISE" agent show joe --json
    json_is capabilities '["log:read","backpack:read backpack=run-1","agent:read"]'
    run "$VALISE" --actor joe agent list
    "$VALISE" -q agent add ann --role reader
    expect_exit 4 "$VALISE" --actor ann bp drop run-1
    hint=$(sed -n 's/^hint: valise //p' "$ERR")
    eval "\"\$VALISE\" -q $hint"
    run "$VALISE" agent show ann --json
    json_is capabilities '["*:read","backpack:drop"]'
    "$VALISE" -q agent add sue --role synthesis
    expect_exit 4 "$VALISE" --actor sue bp pack run-1 k 2
    stderr_has "--grant backpack:write"
}
t 'what a hint grants takes nothing away [K12]' hints_keep

concrete_hints() {
    "$VALISE" -q init
    expect_exit 2 "$VALISE" bp pack
    stderr_has "for example: valise bp pack run-1 query"
    expect_exit 2 "$VALISE" bp pack a b --tagg x
    stderr_has "did you mean '--tag'? 'valise bp pack --help' lists the options"
    expect_exit 2 "$VALISE" bp ls a --nope
    stderr_has "'valise bp ls --help' lists the options"
    bp pack r k 1
    expect_exit 1 "$VALISE" bp create r
    stderr_has "bp list"
    bp checkpoint r c
    bp pack r k 2
    expect_exit 1 "$VALISE" bp checkpoint r c
    stderr_has "--remove"
}
t 'hints name the command that helps' concrete_hints

done_testing
