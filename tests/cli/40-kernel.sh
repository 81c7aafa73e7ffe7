#!/usr/bin/env bash
# 40-kernel.sh -- the log, events and following them, refusals, a partial log, settings.
. "$(dirname "$0")/lib.sh"

# A shell lets background jobs ignore SIGINT.
start() {
    env --default-signal=INT "$VALISE" "$@" >out 2>err &
    pid=$!
}

# until_lines N: the follower has written so many.
until_lines() {
    for _ in $(seq 1000); do
        [ "$(wc -l <out)" -ge "$1" ] && return
        sleep 0.01
    done
    cat out err
    false
}

# Exit code of the follower.
ended() {
    local code=0
    wait "$pid" || code=$?
    [ "$code" = "$1" ] || { echo "exit code $code"; cat err; false; }
}

t 'log: one aligned line a command, the newest first, payloads in few words [L4]' '
    "$VALISE" -q init
    "$VALISE" -q pin add first 1
    "$VALISE" -q pin add "a b" 1
    run "$VALISE" log
    stdout_matches "^SEQ  ID        TIME                  ACTOR  TYPE              PAYLOAD$"
    stdout_matches "^  3  [0-9a-f]{8}  [-0-9T:]+Z  local  pin:add           name=\"a b\" target=1$"
    stdout_matches "^  2  [0-9a-f]{8}  [-0-9T:]+Z  local  pin:add           name=first target=1$"
    stdout_matches "^  1  [0-9a-f]{8}  [-0-9T:]+Z  local  workspace:create  id=[0-9a-f]{8}$"
    id=$("$VALISE" -q log --limit 1 | cut -c4-12)
    run "$VALISE" show $id
    stdout_has "seq:    3"
'

t 'log --graph has a line a command, with the names of pins [L7]' '
    "$VALISE" -q init
    "$VALISE" -q pin add first 1
    "$VALISE" -q pin add second 1
    "$VALISE" -q pin add later 2
    "$VALISE" -q agent add somebody --capability log:read
    run "$VALISE" log --graph --limit 4
    stdout_matches "^\* 4 [0-9a-f]{8} local pin:add  name=later target=2$"
    stdout_matches "^\* 2 [0-9a-f]{8} \(later\) local pin:add  name=first target=1$"
    run "$VALISE" log --graph
    stdout_matches "^\* 1 [0-9a-f]{8} \((first, second|second, first)\) local workspace:create"
    run "$VALISE" log --graph --type pin:add
    [ "$(wc -l <"$OUT")" -eq 3 ]
    [ "$("$VALISE" log --graph --json | wc -l)" -eq 5 ]
    # Who may not see pins sees the log.
    run "$VALISE" --actor somebody log --graph
    stdout_lacks "(later)"
    stdout_has "local pin:add"
    expect_exit 2 "$VALISE" log --graph --reverse
    stderr_has "cannot be used with --reverse"
'

t 'status says in words how much there is of what; much of it is not counted [L2]' '
    "$VALISE" -q init
    run "$VALISE" status
    stdout_matches "^store: +[a-z]+, format [0-9]+, [0-9.]+ KiB$"
    stdout_matches "^log entries: +1 \(newest [-0-9T:]+Z\)$"
    stdout_matches "^history since: +entry 0$"
    stdout_lacks "pins" "seq" "oldest" "backpacks" "sessions" "memory" "blobs" "flow runs"
    run "$VALISE"
    stdout_lacks "backpacks" "blobs"
    echo "{\"nodes\":[{\"id\":\"a\",\"type\":\"SetNode\",\"params\":{\"values\":{\"a\":1}}}]}" >flow.json
    run "$VALISE" flow run flow.json --backpack one
    "$VALISE" -q bp create two
    "$VALISE" -q bp create three
    "$VALISE" -q bp drop three
    "$VALISE" -q session create first
    echo text | "$VALISE" -q blob register -
    "$VALISE" -q pin add here 1
    for i in $(seq 100); do echo "{\"type\":\"context:add\",\"payload\":{\"key\":\"$i\",\"text\":\"x\"}}"; done >some
    "$VALISE" -q batch some
    run "$VALISE" status
    stdout_matches "^backpacks: +2$"
    stdout_matches "^sessions: +1$"
    stdout_matches "^blobs: +1$"
    stdout_matches "^flow runs: +1$"
    stdout_matches "^memory entries: +100$"
    stdout_matches "^pins: +1 \(the oldest at entry 1\)$"
    "$VALISE" -q memory add more --text x
    run "$VALISE" status
    stdout_matches "^memory entries: +100 or more$"
    run "$VALISE" status --json
    stdout_has "{\"area\":\"memory\",\"name\":\"memory entries\",\"value\":{\"count\":100,\"more\":true}}"
    stdout_has "{\"area\":\"chat\",\"name\":\"sessions\",\"value\":{\"count\":1,\"more\":false}}"
    run "$VALISE"
    stdout_matches "^  backpacks +2$"
    stdout_matches "^  memory entries +100 or more$"
    # As it was, and without what is over.
    run "$VALISE" status --at 1
    stdout_lacks "backpacks" "memory"
    "$VALISE" -q memory delete more
    "$VALISE" -q memory update 7 --expires "$(date -u -d "+1 second" +%Y-%m-%dT%H:%M:%SZ)"
    sleep 1.1
    run "$VALISE" status
    stdout_matches "^memory entries: +99$"
    # Those that are over, however many, do not hide one that is there.
    soon=$(date -u -d "+2 seconds" +%Y-%m-%dT%H:%M:%SZ)
    mkdir other && cd other && "$VALISE" -q init
    for i in $(seq 101); do
        echo "{\"type\":\"context:add\",\"payload\":{\"key\":\"a$i\",\"text\":\"x\",\"expires\":\"$soon\"}}"
    done >some
    "$VALISE" -q batch some
    "$VALISE" -q memory add zz --text x
    sleep 2.1
    run "$VALISE" status
    stdout_matches "^memory entries: +1$"
'

t 'follow shows what is there, then what another process writes; Ctrl-C ends it [K11 K15 L5]' '
    "$VALISE" -q init
    start events --follow
    until_lines 2
    "$VALISE" -q pin add one 1
    until_lines 3
    printf "%s\n%s\n" "{\"type\":\"pin:add\",\"payload\":{\"name\":\"two\",\"target\":\"1\"}}" \
        "{\"type\":\"pin:add\",\"payload\":{\"name\":\"three\",\"target\":\"1\"}}" | "$VALISE" -q batch
    until_lines 5
    kill -INT $pid
    ended 130
    run sh -c "echo \$(cut -c1-3 out | tail -n +2)"
    stdout_is "1 2 3 4"
    run "$VALISE" validate
'

t 'follow with --json: a line an event, the same as those of the list' '
    "$VALISE" -q init
    start events --follow --json --since 2 --types "pin:*"
    "$VALISE" -q pin add one 1
    "$VALISE" -q agent add ann --role reader
    "$VALISE" -q pin add two 1
    until_lines 2
    kill -INT $pid
    ended 130
    run "$VALISE" events --json --since 2 --types "pin:*"
    stdout_is "$(cat out)"
    run cat err
    stdout_has CANCELLED
'

t 'follow ends quietly when nobody reads, also while nothing happens' '
    "$VALISE" -q init
    "$VALISE" events --follow 2>err | head -n 1 >out
    run cat out err
    stdout_matches "^SEQ .*PAYLOAD$"
    [ ! -s err ]
'

t 'follow ends with its limit; an end or a past makes no sense' '
    "$VALISE" -q init
    start events -f --limit 2 --json
    until_lines 1
    "$VALISE" -q pin add one 1
    "$VALISE" -q pin add two 1
    ended 0
    [ "$(wc -l <out)" = 2 ]
    expect_exit 2 "$VALISE" events --follow --until 3
    expect_exit 2 "$VALISE" events --follow --at 1
    expect_exit 2 "$VALISE" log --follow
    stderr_has "its answer has an end"
'

t 'who is refused is in the read log [K5 K24]' '
    "$VALISE" -q init
    "$VALISE" -q agent add ann --role reader
    expect_exit 4 "$VALISE" --actor ann pin add x
    expect_exit 4 "$VALISE" --actor bob status
    run "$VALISE" -q log reads --denied
    stdout_matches "^2  [-0-9T:]+Z  bob  workspace:status  DENIED$"
    stdout_matches "^1  [-0-9T:]+Z  ann  pin:add           DENIED$"
'

t 'a log that lost its beginning is told of, and is no problem [K32]' '
    "$VALISE" -q init
    run "$VALISE" validate
    stdout_is_empty
    "$VALISE" -q retention set log --keep-latest 1
    run "$VALISE" gc
    stdout_matches "^removed 1 expired log entry"
    run "$VALISE" validate
    stdout_matches "^note log: .*cannot be replayed$" "^    nothing to do: "
    run python3 "$LIB_DIR/on_terminal.py" --columns 40 "$VALISE" --no-pager validate
    stdout_has "cannot be replayed" "nothing to do: the chain and the rows were checked"
    run "$VALISE" -q validate
    stdout_is_empty
'

# sql TEXT: into the store, behind its back.
sql() {
    python3 -c "import sqlite3, sys; c = sqlite3.connect(\".valise/valise.db\"); c.executescript(sys.argv[1]); c.close()" "$1"
}

t 'repair says what was wrong, what it mended and what is left [K22 L5]' '
    "$VALISE" -q init
    run "$VALISE" repair --json
    json_is found 0
    json_is rebuilt 0
    sql "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = \"CREATE INDEX log_id8 ON log(id8) WHERE 0\"
        WHERE name = \"log_id8\"; PRAGMA writable_schema=RESET; REINDEX log_id8; PRAGMA writable_schema=ON;
        UPDATE sqlite_schema SET sql = \"CREATE INDEX log_id8 ON log(id8)\" WHERE name = \"log_id8\""
    expect_exit 7 "$VALISE" validate
    cp -r .valise again
    run "$VALISE" repair
    stdout_matches "^mended store: .*log_id8" "^3 problems mended, [0-9]+ indexes of the store built anew$"
    stdout_lacks "left"
    rm -rf .valise && mv again .valise
    run "$VALISE" repair --json
    json_is found 3
    json_is problems[0].mended true
    run "$VALISE" validate
    sql "CREATE TABLE stray(a); CREATE TABLE other(a); PRAGMA writable_schema=ON; UPDATE sqlite_schema SET rootpage =
        (SELECT rootpage FROM sqlite_schema WHERE name = \"other\") WHERE name = \"stray\""
    expect_exit 7 "$VALISE" repair --json
    json_is mended 0
    json_is problems[0].mended false
    expect_exit 7 "$VALISE" repair
    stdout_matches "^left   [a-z]+" "^[0-9]+ problems? left.*; .valise validate. says what to do$"
    expect_exit 7 "$VALISE" -q repair
'

t 'gc and repair say what they did, and nothing of what they did not [L2 L4]' '
    "$VALISE" -q init
    run "$VALISE" gc
    stdout_matches "^nothing to remove"
    [ "$(wc -l <"$OUT")" -eq 1 ]
    run "$VALISE" repair
    stdout_is "what can be derived is in order; '"'"'valise validate'"'"' checks the rest"
    # Damage that repair does not look for is not denied either.
    cp -r .valise whole
    "$VALISE" -q bp pack other key "\"a value\""
    sql "UPDATE object SET body = CAST(\"another\" AS BLOB) WHERE kind = \"value\""
    expect_exit 7 "$VALISE" validate
    run "$VALISE" repair
    stdout_has "what can be derived is in order" "valise validate"
    rm -rf .valise && mv whole .valise
    "$VALISE" -q bp create b
    for n in 1 2 3; do "$VALISE" -q bp pack b key "$n"; done
    "$VALISE" -q retention set backpack --keep-latest 1
    run "$VALISE" gc
    stdout_matches "^removed [0-9]+ expired rows? of other histories"
    run "$VALISE" gc --json
    json_is rows 0
    stdout_lacks " 0 "
'

t 'config get and list say who set it, and what could be set [L9]' '
    "$VALISE" -q init
    run "$VALISE" config get core.durability --show-origin
    stdout_matches "^full[[:space:]]workspace .*/config:3$"
    run env VALISE_DURABILITY=normal "$VALISE" config get core.durability --show-origin
    stdout_matches "^normal[[:space:]]environment VALISE_DURABILITY$"
    run "$VALISE" config list --all --show-origin
    stdout_matches "^core.timeout +10s +default$"
    expect_exit 6 "$VALISE" config set core.nothing 1
    stderr_has "config list --all"
'

t 'what has no contents is not erased, and nothing says that it was [K20]' '
    "$VALISE" -q init
    "$VALISE" -q pin add x
    expect_exit 6 "$VALISE" erase pin/x
    stderr_has "rows of pin have no contents"
    expect_exit 6 "$VALISE" erase actor/local
    run "$VALISE" validate
    stdout_lacks "replayed"
    run "$VALISE" erasure list --json
    stdout_is_empty
'

t 'every id that is printed can be shown, pinned and gone back to [K2 K35 L7]' '
    mkdir ids && cd ids && "$VALISE" -q init
    mkdir d && echo a >d/f && "$VALISE" -q scan
    echo note | "$VALISE" -q put-frame d/f -
    "$VALISE" -q bp pack run-1 k 1
    "$VALISE" -q bp pack run-1 k 2
    "$VALISE" -q session create s
    "$VALISE" -q turn add s user hello
    echo b >>d/f && "$VALISE" -q scan
    get() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
    node=$("$VALISE" get-node d/f --json | get nodeId)
    object=$("$VALISE" get-node d/f --json | get objectId)
    root=$("$VALISE" tree list --json | grep "\"version\":1" | get treeRoot)
    turn=$("$VALISE" turn log s --json | get ref)
    for id in "$node" "${node:0:8}" "$object" "${object:0:8}"; do
        run "$VALISE" show "$id"
        stdout_has "tree_node/"
        stdout_has "/d/f/2"
    done
    run "$VALISE" show "${root:0:8}"
    stdout_has "tree_version/"
    run "$VALISE" show "$("$VALISE" get-node d/f --json | get contextRoot)"
    stdout_has context_root/
    for id in "$turn" "${turn: -10}" "${turn%@*}"; do
        run "$VALISE" show "$id"
        stdout_has "turn/${turn%@*}/1"
    done
    for id in "$node" "$root" "$turn"; do
        run "$VALISE" pin add "pin-${id:0:8}" "$id"
    done
    run "$VALISE" pin list
    stdout_has "tree_version/"
    # What is pinned stays: versions go from the oldest one on.
    run "$VALISE" prune --versions 1
    run "$VALISE" tree ls --at "$root"
    commit=$("$VALISE" bp history run-1 --json | tail -n 1 | get commitId)
    run "$VALISE" bp unpack run-1 k --at "$commit"
    stdout_is 1
    run "$VALISE" bp list --at "${commit: -8}"
    stdout_has run-1
    expect_exit 3 "$VALISE" show "${turn: -10:8}@9"
'

t 'blobs are checked, collected and erased [K20 K21 K22 Q19]' '
    "$VALISE" -q init
    put() {
        id=$(printf %s "$1" | sha256sum | cut -d " " -f 1)
        file=.valise/blobs/$(printf %s "$id" | cut -c 1-2)/$id
        mkdir -p "${file%/*}"
        printf %s "$1" >"$file"
    }
    put "a file"
    run "$VALISE" validate
    printf %s "a fire" >"$file"
    expect_exit 7 "$VALISE" validate
    stdout_has "blob $id"
    run "$VALISE" gc
    [ -e "$file" ]
    touch -d "20 days ago" "$file"
    run "$VALISE" gc --json
    stdout_has "\"blobs\":1"
    [ ! -e "$file" ]
    put "another file"
    run "$VALISE" erase --content "$(printf %s "$id" | cut -c 1-8)" --reason leaked
    [ ! -e "$file" ]
    run "$VALISE" erasure list
    stdout_has "object/$id"
    stdout_has leaked
    touch .valise/blobs/tmp-0123456789abcdef0123456789abcdef
    run "$VALISE" validate
    stdout_has "blobs/tmp-0123456789abcdef0123456789abcdef"
'

done_testing
