#!/usr/bin/env bash
# 20-words.sh -- words of the command line against the real registry. [K6 L1 L4 L5]
. "$(dirname "$0")/lib.sh"

t 'a workspace is made, found from below and named in three ways [L1]' '
    run "$VALISE" init --json
    json_is existed false
    json_is path "$PWD"
    [ "$(cat .valise/.gitignore)" = "*" ]
    [ "$(stat -c %a .valise)" = 700 ]
    run "$VALISE" init --json
    json_is existed true
    mkdir -p a/b
    run "$VALISE" -C a/b pin add below
    cd a/b
    run "$VALISE" pin list --json
    json_is name below
    cd /
    run "$VALISE" --workspace "$OLDPWD/../.." pin list --json
    json_is name below
    VALISE_DIR=$OLDPWD/../.. run "$VALISE" pin list --json
    json_is name below
    VALISE_DIR=/nonexistent run "$VALISE" -C "$OLDPWD" pin list --json
    json_is name below
    VALISE_DIR=/nonexistent run "$VALISE" --workspace "$OLDPWD/../.." pin list --json
    VALISE_DIR=/nonexistent expect_exit 3 "$VALISE" pin list
    expect_exit 3 "$VALISE" -C /nonexistent pin list
    stderr_has "/nonexistent"
'

t 'outside of a workspace the way out is told [L5]' '
    expect_exit 3 "$VALISE" pin list
    stdout_is_empty
    stderr_has "no workspace" "hint: run" "valise init"
    [ "$(wc -l <"$ERR")" = 2 ]
    expect_exit 3 "$VALISE" pin list --json
    [ "$("$VALISE" json get "@$ERR" /error/code)" = "\"NOT_FOUND\"" ]
    "$VALISE" json get "@$ERR" /error/hint >/dev/null
'

t 'init makes the folder it is told' '
    run "$VALISE" init project
    stdout_matches "^created a workspace in /.*/project$"
    exists project/.valise/config
    run "$VALISE" init project
    stdout_matches "^there is a workspace already in /.*/project$"
    run "$VALISE" -q init other
    stdout_is_empty
    run "$VALISE" --workspace third init
    exists third/.valise
    run "$VALISE" init new/dir//deep/
    exists new/dir/deep/.valise
    touch file
    expect_exit 3 "$VALISE" init file/dir/deep
    [ ! -e file/dir ]
'

t 'init says whether it made one, also where a folder was left without one' '
    mkdir -m 700 .valise
    run "$VALISE" init --json
    json_is existed false
    run "$VALISE" init --json
    json_is existed true
'

t 'what was meant is said [L5]' '
    expect_exit 2 "$VALISE" pni list
    stderr_has "did you mean '"'valise pin'"'?"
    expect_exit 2 "$VALISE" pin lst
    stderr_has "did you mean '"'valise pin list'"'?"
    expect_exit 2 "$VALISE" pin list --jsno
    stderr_has "did you mean '"'--json'"'?"
    expect_exit 3 "$VALISE" run pin:lst
    stderr_has "pin:list"
'

t 'another word for the same thing is known [L5]' '
    while read -r group word verbs; do
        expect_exit 2 "$VALISE" "$group" "$word" x
        for verb in $verbs; do stderr_has "valise $group $verb'"'"'"; done
        stderr_has "did you mean"
    done <<EOF
bp delete rm drop
bp get show unpack
bp put pack
blob put register
blob rm release
blob ls list
turn list log
session new create
memory set add update
memory rm delete
config delete unset
flow list runs
agent create add
role edit update
EOF
    # What is mistyped is not another word.
    expect_exit 2 "$VALISE" memory updte x
    stderr_has "did you mean '"'valise memory update'"'?"
'

t 'what the library says of an operation is said of the command that was typed [L5]' '
    "$VALISE" -q init
    "$VALISE" -q agent add ann --role reader
    expect_exit 4 "$VALISE" --actor ann session create x
    stderr_has "valise: session create needs session:write"
    expect_exit 4 "$VALISE" --actor ann scan
    stderr_has "valise: scan needs tree:write"
    expect_exit 4 "$VALISE" --actor ann scan --json
    stderr_has "\"tree:scan needs tree:write"
'

t 'a hint says what to do, not only where help is [L5]' '
    "$VALISE" -q init
    "$VALISE" -q session create s
    "$VALISE" -q scan
    expect_exit 6 "$VALISE" turn add s user
    stderr_has "the turn is empty" "hint: give a text, - for standard input"
    expect_exit 3 "$VALISE" tree ls nowhere
    stderr_has "nothing at" "valise tree ls"
    expect_exit 3 "$VALISE" status --at 99
    stderr_has "no seq 99 yet" "valise log"
'

t 'a date, or a time without a zone, is told in UTC [L4 L5]' '
    "$VALISE" -q init
    for at in 2020-01-01 "2020-01-01 10:00" "2020-01-01T10:00:00"; do
        run "$VALISE" status --at "$at" --json
        json_is seq 0
    done
    for at in 2099-12-31 "2099-12-31 10:00" 2099-12-31T10:00:00; do
        run "$VALISE" status --at "$at" --json
        json_is seq 1
    done
    for at in 2020-13-01 2020-01-1 "2020-01-01 10" "2020-01-01  10:00" 2020_01-01; do
        expect_exit 6 "$VALISE" status --at "$at"
    done
    while read -r key given; do
        "$VALISE" -q memory add "$key" --text x --expires "$given"
        run "$VALISE" memory show "$key" --json
        stdout_has "\"expires\":\"$key"
    done <<EOF
2100-02-28T00:00:00.000Z 2100-02-28
2100-02-28T10:30:00.000Z 2100-02-28 10:30
2100-02-28T10:30:05.000Z 2100-02-28T10:30:05
2100-02-28T09:30:05.000Z 2100-02-28T10:30:05+01:00
EOF
    expect_exit 6 "$VALISE" memory add k --text x --expires 2100-02-30
    run "$VALISE" log --help
    stdout_has "2026-11-19"
'

t 'a short option has its value attached or behind it [L1 L4]' '
    "$VALISE" -q init
    for name in a b c; do
        "$VALISE" -q pin add $name
    done
    run "$VALISE" log -n2 --json
    [ "$(wc -l <"$OUT")" = 2 ]
    mkdir below
    cd below
    run "$VALISE" "-C$PWD/.." log -n 1 --json
    [ "$(wc -l <"$OUT")" = 1 ]
    expect_exit 6 "$VALISE" log -nx
    stderr_has "whole number"
    expect_exit 2 "$VALISE" log -qx
    stderr_has "unknown option '"'-qx'"'"
    expect_exit 2 "$VALISE" pin list -n2
    stderr_has "unknown option '"'-n2'"'"
'

t 'the same command id twice changes nothing, another payload is refused [K8]' '
    "$VALISE" -q init
    id=0190a5f0-1234-7abc-8def-0123456789ab
    run "$VALISE" pin add a --id $id --json
    cp "$OUT" first
    run "$VALISE" pin add a --id $id --json
    cmp first "$OUT"
    expect_exit 1 "$VALISE" pin add b --id $id
    expect_exit 6 "$VALISE" pin add b --id nonsense
    stderr_has "UUID"
    run "$VALISE" pin list --json
    [ "$(wc -l <"$OUT")" = 1 ]
'

t 'a dry run answers and keeps nothing' '
    "$VALISE" -q init
    run "$VALISE" pin add a --dry-run --json
    json_is seq 1
    run "$VALISE" pin list --json
    stdout_is_empty
'

t 'a query sees the past [K35]' '
    "$VALISE" -q init
    "$VALISE" -q pin add a
    "$VALISE" -q pin add b
    run "$VALISE" pin list --at 2 --json
    json_is name a
    expect_exit 3 "$VALISE" pin list --at 99
'

t 'an actor acts as itself, and only where it may [K24]' '
    "$VALISE" -q init
    expect_exit 4 "$VALISE" --actor mallory pin add a
    stderr_has "mallory" "agent add"
    VALISE_ACTOR=mallory expect_exit 4 "$VALISE" pin add a
    "$VALISE" -q agent add bob --role writer
    run "$VALISE" --actor bob pin add a
    VALISE_ACTOR=mallory run "$VALISE" --actor bob pin add b
    run "$VALISE" log list --json
    json_is [0].actor bob
'

t 'run takes any operation as JSON, from a file and from standard input too [L3]' '
    "$VALISE" -q init
    run "$VALISE" run pin:add "{\"name\":\"a\"}" --json
    json_is existed false
    echo "{\"name\":\"b\"}" >payload.json
    run "$VALISE" run pin:add @payload.json
    run "$VALISE" run pin:add - <<<"{\"name\":\"c\"}"
    run "$VALISE" run pin:list --json
    json_is [2].name c
    expect_exit 6 "$VALISE" run pin:add "{\"nam\":\"a\"}"
    stderr_has "nam"
    expect_exit 2 "$VALISE" run pin:list --id x
'

t 'errors name the field where there is more than one [L5]' '
    expect_exit 6 "$VALISE" json diff 1 "[1,"
    stderr_has "valise: after: invalid JSON at byte 3"
    expect_exit 6 "$VALISE" json diff 1 "[1," --json
    [ "$("$VALISE" json get "@$ERR" /error/path)" = "\"after\"" ]
    [ "$("$VALISE" json get "@$ERR" /error/offset)" = 3 ]
    expect_exit 6 "$VALISE" json canonical "[1,"
    stderr_has "valise: invalid JSON at byte 3"
'

t 'a batch is all or nothing [K7]' '
    "$VALISE" -q init
    id=0190a5f0-1234-7abc-8def-0123456789ab
    cat >good <<END
{"type":"pin:add","payload":{"name":"a"}}

{"type":"pin:add","payload":{"name":"b"},"id":"$id"}
END
    run "$VALISE" batch good
    json_is [0].seq 2
    json_is [1].seq 3
    json_is [1].id $id
    json_is [1].result.existed false
    printf "%s\n" "{\"type\":\"pin:add\",\"payload\":{\"name\":\"c\"}}" "{\"type\":\"pin:add\",\"payload\":{}}" >bad
    expect_exit 6 "$VALISE" batch bad --json
    [ "$("$VALISE" json get "@$ERR" /error/path)" = "\"[1].name\"" ]
    printf "%s\n" "{}" "" >worse
    expect_exit 6 "$VALISE" batch worse
    stderr_has "line 1"
    run "$VALISE" batch - </dev/null
    stdout_is_empty
    run "$VALISE" pin list --json
    [ "$(wc -l <"$OUT")" = 2 ]
'

# "`--atomic` or keep-going": each by itself, any operation, and what fails is told in its line.
t 'a batch that keeps going runs what can be run [C28]' '
    "$VALISE" -q init
    echo x >file
    cat >lines <<END
{"type":"pin:add","payload":{"name":"a"}}
{"type":"pin:add","payload":{}}

nonsense
{"type":"pin:add","payload":{"name":"b"},"expect":"other","id":"0190a5f0-1234-7abc-8def-0123456789ab"}
{"type":"tree:scan"}
{"type":"no:such"}
{"type":"context:synthesize","payload":{"program":"/bin/cat"}}
{"type":"pin:list"}
{"type":"pin:add","payload":{"name":"c"}}
END
    expect_exit 6 "$VALISE" batch lines
    stdout_is_empty
    expect_exit 6 "$VALISE" batch --atomic lines
    expect_exit 2 "$VALISE" batch --atomic --keep-going lines
    stderr_has "not both"
    run "$VALISE" pin list --json
    stdout_is_empty
    expect_exit 1 "$VALISE" batch --keep-going lines
    [ "$(wc -l <"$OUT")" = 9 ]
    [ ! -s "$ERR" ]
    json_is [0].result.existed false
    json_is [1].error.code INVALID
    json_is [1].error.path name
    json_is [1].line 2
    json_is [2].error.code INVALID
    json_is [2].line 4
    json_is [3].error.code CONFLICT
    json_is [3].id 0190a5f0-1234-7abc-8def-0123456789ab
    json_is [4].result.added 2
    json_is [5].error.code NOT_FOUND
    json_is [6].error.code DENIED
    json_is [7].result.items[0].name a
    json_is [8].result.existed false
    # What was told is what is there; a second time only the failures are new.
    run "$VALISE" pin list --json
    [ "$(wc -l <"$OUT")" = 2 ]
    expect_exit 1 "$VALISE" -q batch --keep-going lines
    [ "$(grep -c error "$OUT")" = 5 ] && [ "$(wc -l <"$OUT")" = 5 ]
    # Tried: nothing is kept.
    echo "{\"type\":\"pin:add\",\"payload\":{\"name\":\"d\"}}" >one
    run "$VALISE" batch --keep-going --dry-run one
    run "$VALISE" pin list --json
    [ "$(wc -l <"$OUT")" = 2 ]
    run "$VALISE" batch --keep-going one
    run "$VALISE" batch --keep-going - </dev/null
    stdout_is_empty
'

# Only a transaction has an end; empty lines are no commands.
t 'a batch has 10,000 commands, those that run one by one are not counted [K7][C28]' '
    "$VALISE" -q init
    seq 10001 | sed "s/.*/{\"type\":\"pin:remove\",\"payload\":{\"name\":\"a\"}}/" >lines
    expect_exit 1 "$VALISE" batch lines
    stderr_has "a batch has at most 10000 commands, not 10001" "--keep-going"
    { head -10000 lines && printf "\n\n"; } >fits
    expect_exit 3 "$VALISE" batch fits
    seq 10001 | sed "s/.*/{\"type\":\"json:canonical\",\"payload\":{\"value\":1}}/" >lines
    run "$VALISE" batch --keep-going lines
    [ "$(wc -l <"$OUT")" = 10001 ]
'

t 'commands are listed with their schemas [K6]' '
    run "$VALISE" commands
    stdout_matches "^pin:add +command +Pin"
    run "$VALISE" commands --json
    while read -r line; do
        for key in brief example flags kind name payload result; do
            "$VALISE" json get "$line" /$key >/dev/null || [ $key = example ] || fail "$key in $line"
        done
    done < <(grep pin: "$OUT")
    grep "\"json:canonical\"" "$OUT" >one
    [ "$("$VALISE" json get @one /flags)" = "[\"idempotent\",\"noWorkspace\"]" ]
    [ "$("$VALISE" json get @one /payload/required)" = "[\"value\"]" ]
    # The schemas are schemas: examples fit them.
    "$VALISE" json get @one /payload >schema
    "$VALISE" json get @one /example >example
    run "$VALISE" json validate @example @schema
'

t 'settings come from files and the environment, the later one wins [L9]' '
    "$VALISE" -q init
    expect_exit 0 "$VALISE" config get core.durability
    stdout_is full
    run "$VALISE" config set core.durability normal
    stdout_is_empty
    run "$VALISE" config get core.durability --json
    json_is value normal
    stdout_has ".valise/config"
    run "$VALISE" config set --user core.timeout 3s
    exists "$HOME/.config/valise/config"
    run "$VALISE" config list --show-origin
    stdout_matches "core.timeout +3s +user $HOME/.config/valise/config:"
    stdout_matches "core.durability +normal +workspace "
    run "$VALISE" config list
    stdout_lacks workspace
    run "$VALISE" config unset --user core.timeout
    run "$VALISE" config list --json
    stdout_lacks timeout
    expect_exit 3 "$VALISE" config unset core.timeout
    expect_exit 6 "$VALISE" config set core.durability sometimes
    expect_exit 6 "$VALISE" config set no.such thing
    expect_exit 3 "$VALISE" config get no.such
    cd /
    run "$VALISE" config get core.durability
    stdout_is full
    expect_exit 3 "$VALISE" config set core.durability full
'

t 'the settings of somebody else are not changed until that is meant [K34]' '
    "$VALISE" -q init
    [ "$(id -u)" = 0 ] || skip "only root can give a folder away"
    chown -R 4711 .valise
    cp .valise/config before
    expect_exit 4 "$VALISE" config set core.timeout 3s
    stderr_has "belongs to another user" "hint: valise trust $PWD"
    expect_exit 4 "$VALISE" config unset core.durability
    cmp before .valise/config
    [ "$(stat -c %u .valise/config)" = 4711 ]
    run "$VALISE" config set --user core.timeout 3s
    run "$VALISE" trust .
    run "$VALISE" config set core.timeout 4s
    grep -q 4s .valise/config
    chown -R 0 .valise
    printf "[core" >.valise/config
    expect_exit 6 "$VALISE" config set core.timeout 3s
    stderr_has "config"
'

t 'a reader that goes away is no error' '
    "$VALISE" -q init
    run bash -o pipefail -c "\"$VALISE\" commands --json | head -1"
    stderr_is_empty
    run bash -o pipefail -c "\"$VALISE\" help | true"
    stderr_is_empty
'

t 'a name of three words can be typed with blanks, colons or both [L4]' '
    "$VALISE" help session role switch >plain
    for typed in session:role:switch "session role:switch" "session:role switch"; do
        # shellcheck disable=SC2086
        "$VALISE" help $typed >other
        cmp plain other
    done
    expect_exit 2 "$VALISE" "session role" switch a b
    expect_exit 2 "$VALISE" session role:
    expect_exit 2 "$VALISE" session role:switsh
    stderr_has "session role switch"
'

t 'every example is a command line that the command understands [L4]' '
    "$VALISE" -q init
    "$VALISE" commands --json >all
    while read -r line; do
        name=$("$VALISE" json get "$line" /name | tr -d \")
        "$VALISE" json get "$line" /example >wanted 2>/dev/null || continue
        # shellcheck disable=SC2086
        example=$("$VALISE" help ${name//:/ } | sed -n "/^example:/{n;p}")
        # Behind the name the words make the payload of the example, whatever comes of it.
        [[ $example == *"valise ${name//:/ }"* ]] || fail "$name: $example"
        code=0
        PATH=$(dirname "$VALISE"):$PATH bash -c "$example" >out 2>err || code=$?
        [ $code != 2 ] || fail "$name: $example: $(cat err)"
    done <all
    [ -s all ]
    run true
'

done_testing
