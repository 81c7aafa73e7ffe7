#!/usr/bin/env bash
# 43-keeping.sh -- what is kept, who sees it, and what is damaged: pins, batches, limits, tables.
# [K2 K4 K8 K10 K21 K22 K23 K30 K35 L9 Q19 Q25]
. "$(dirname "$0")/lib.sh"
unset VALISE_TIMEOUT VALISE_DURABILITY

toy() {
    [ -e "${VALISE_TOY:-}" ] || skip "no extension at VALISE_TOY"
    mkdir -p "$HOME/.config/valise"
    printf '[extension "toy"]\n    path = %s\n' "$VALISE_TOY" >"$HOME/.config/valise/config"
}

# Depth arrays inside each other.
nested() {
    printf '%*s' "$1" '' | tr ' ' '['
    printf '%*s' "$1" '' | tr ' ' ']'
}

# Replace bytes in the file by others, as many.
flip() {
    python3 - "$1" "$2" <<'PY'
import sqlite3, sys
db, (old, new) = ".valise/valise.db", (a.encode() for a in sys.argv[1:3])
c = sqlite3.connect(db)
c.execute("pragma wal_checkpoint(truncate)")
c.close()
b = open(db, "rb").read()
assert old in b and len(old) == len(new)
open(db, "wb").write(b.replace(old, new, 1))
PY
}

t 'batch: "expect":null means that there must be nothing, and a conflict says what is there [K8]' '
    "$VALISE" -q init
    echo "{\"type\":\"pin:add\",\"payload\":{\"name\":\"a\"},\"expect\":null}" >line
    run "$VALISE" batch line
    expect_exit 5 "$VALISE" batch line --json
    [ "$("$VALISE" json get "@$ERR" /error/current/name)" = "\"a\"" ]
    echo "{\"type\":\"pin:add\",\"payload\":{\"name\":\"b\"},\"expect\":7}" >line
    expect_exit 5 "$VALISE" batch line
    stderr_has "it is now null"
    echo "{\"type\":\"pin:add\",\"payload\":{\"name\":\"b\"}}" >line
    run "$VALISE" batch line
'

t 'what can be tried, and an id that is none [K8]' '
    "$VALISE" -q init
    echo "{\"type\":\"pin:add\",\"payload\":{\"name\":\"a\"}}" >line
    run "$VALISE" batch --dry-run line
    stdout_has "\"seq\":1}"
    run "$VALISE" pin list --json
    stdout_is_empty
    expect_exit 2 "$VALISE" gc --dry-run
    stderr_has "cannot be tried"
    expect_exit 2 "$VALISE" status --dry-run
    stderr_has "changes nothing"
    zeros=00000000-0000-0000-0000-000000000000
    expect_exit 6 "$VALISE" pin add a --id "$zeros"
    stderr_has zeros hint
    echo "{\"type\":\"pin:add\",\"payload\":{\"name\":\"a\"},\"id\":\"$zeros\"}" >line
    expect_exit 6 "$VALISE" batch line
    run "$VALISE" pin list --json
    stdout_is_empty
'

t 'run knows what extensions bring, and commands lists what the workspace names [K6 K13]' '
    toy
    "$VALISE" -q init
    run "$VALISE" run toy:rows "{\"count\":1,\"text\":\"hello\"}"
    stdout_has hello
    expect_exit 3 "$VALISE" run toy:rwos
    stderr_has "toy:rows"
    "$VALISE" config unset --user extension.toy.path
    cp "$VALISE_TOY" toy.so
    "$VALISE" -q trust toy.so
    "$VALISE" config set extension.toy.path toy.so
    run "$VALISE" commands
    stdout_has "toy:rows"
    run "$VALISE" run toy:rows "{\"count\":1,\"text\":\"hello\"}"
    rm -r "$HOME/.config"
'

t 'an extension that is not there: which line names it [K13 K25]' '
    mkdir -p config/valise
    printf "# mine\n[extension \"notes\"]\n\tpath = /nonexistent.so\n" >config/valise/config
    "$VALISE" -q init
    export XDG_CONFIG_HOME=$PWD/config
    for words in "status" "note list" "run note:list"; do
        # shellcheck disable=SC2086
        expect_exit 6 "$VALISE" $words
        stderr_has "config/valise/config:3" /nonexistent.so "config unset --user extension.notes.path"
    done
'

t 'values of 256 levels, and a byte where there is one too many [K4]' '
    toy
    "$VALISE" -q init
    nested 256 >value
    nested 257 >deeper
    run "$VALISE" json canonical @value
    expect_exit 1 "$VALISE" json canonical @deeper
    stderr_has "byte 256" "256 deep"
    printf "{\"value\":%s}" "$(cat value)" >payload
    run "$VALISE" run json:canonical @payload
    printf "{\"value\":%s}" "$(cat deeper)" >payload
    expect_exit 1 "$VALISE" run json:canonical @payload
    stderr_has "byte 265" "256 deep"
    rm -r "$HOME/.config"
'

t 'a writer is waited for as long as VALISE_TIMEOUT says, and a denied query not at all [L9 K10]' '
    "$VALISE" -q init
    mkfifo gate
    python3 -c "
import sqlite3
c = sqlite3.connect(\".valise/valise.db\", isolation_level=None)
c.execute(\"begin immediate\")
open(\"held\", \"w\").close()
open(\"gate\").read()
" &
    pid=$!
    until [ -e held ]; do sleep 0.05; done
    VALISE_TIMEOUT=100ms expect_exit 1 timeout 8 "$VALISE" pin add a
    stderr_has "is writing"
    VALISE_TIMEOUT=0s expect_exit 1 timeout 8 "$VALISE" pin add a
    expect_exit 4 timeout 8 "$VALISE" --actor eve status
    echo >gate
    wait $pid
    VALISE_TIMEOUT=soon expect_exit 6 "$VALISE" status
    VALISE_DURABILITY=some expect_exit 6 "$VALISE" init
    run "$VALISE" pin add a
'

t 'a file that may not grow is an error like any other [Q19]' '
    "$VALISE" -q init
    for i in $(seq 300); do
        echo "{\"type\":\"pin:add\",\"payload\":{\"name\":\"p$i\",\"target\":\"1\"}}"
    done | "$VALISE" -q batch
    # shellcheck disable=SC2016
    expect_exit 1 bash -c "ulimit -f 1; exec \"\$VALISE\" pin add x"
    stderr_has "File too large" "ulimit -f"
    expect_exit 1 bash -c "ulimit -f 36; exec \"\$VALISE\" export out.vb"
    stderr_has "out.vb" "ulimit -f"
    for left in out*; do is_gone "$left"; done
    run "$VALISE" validate
'

t 'a folder that was there before is made private, files too [Q25]' '
    mkdir .valise
    chmod 755 .valise
    echo "[core]" >.valise/config
    chmod 644 .valise/config
    "$VALISE" -q init
    run stat -c %a .valise .valise/config .valise/.gitignore .valise/valise.db
    stdout_is "700
600
600
600"
    chmod 755 .valise
    chmod 644 .valise/valise.db
    "$VALISE" -q init
    run stat -c %a .valise .valise/valise.db
    stdout_is "700
600"
'

t 'what stands in the place of .valise is told [K25 Q26]' '
    mkdir real
    "$VALISE" -q init real
    ln -s real/.valise .valise
    for words in status init; do
        expect_exit 6 "$VALISE" $words
        stderr_has "symbolic link" hint
    done
    rm .valise
    echo >.valise
    for words in status init; do
        expect_exit 6 "$VALISE" $words
        stderr_has "not a folder" "move it away"
    done
    mkdir -p real/sub
    echo >real/sub/.valise
    run "$VALISE" -C real/sub status
'

t 'import - reads standard input [K36]' '
    "$VALISE" -q init one
    "$VALISE" -q -C one pin add here
    "$VALISE" -q --workspace one export bundle
    "$VALISE" -q init two
    "$VALISE" -q --workspace two import - <bundle
    run "$VALISE" --workspace two pin list
    stdout_has here
'

t 'export - makes no file of that name, and says how a pipe gets the bundle [K36]' '
    "$VALISE" -q init
    expect_exit 6 "$VALISE" export -
    stderr_has "/dev/fd/3"
    [ ! -e ./- ]
    run "$VALISE" export ./-
    exists ./-
'

t 'a table whose definition is damaged is not written to, and validate names it [K22 Q19]' '
    need python3
    "$VALISE" -q init
    "$VALISE" -q pin add before
    cp -r .valise whole
    for damage in "\"time\" INTEGER|\"time\" INTEGFR" "\"name\" TEXT NOT|\"name\" TFXT NOT" \
        "INTEGER PRIMARY|INTEGER PRIMARX" "\"payload\" TEXT|\"paylobd\" TEXT"; do
        rm -r .valise
        cp -r whole .valise
        flip "${damage%|*}" "${damage#*|}"
        expect_exit 7 "$VALISE" validate
        stdout_has "definition of table" "is damaged at byte"
        expect_exit 7 "$VALISE" pin add lost
        stderr_has "is damaged at byte" validate
    done
    rm -r .valise
    cp -r whole .valise
    run "$VALISE" validate
    run "$VALISE" pin add after
'

t 'an index whose definition is damaged is made again by repair [K22]' '
    need python3
    "$VALISE" -q init
    "$VALISE" -q pin add before
    flip "\"log\"(\"id8\")" "\"log\"(\"seq\")"
    expect_exit 7 "$VALISE" pin add lost
    stderr_has "index log_id8"
    run "$VALISE" repair
    run "$VALISE" validate
    run "$VALISE" pin add after
'

t 'damage in meta: validate goes on [K22]' '
    need python3
    "$VALISE" -q init
    "$VALISE" -q pin add before
    flip collections4 collectioms4 2>/dev/null || flip "collections" "collectioms"
    expect_exit 7 "$VALISE" status
    expect_exit 7 "$VALISE" validate
    stdout_has "meta collectioms" "restore it"
    expect_exit 7 "$VALISE" validate --json
    stdout_has "\"kind\":\"problem\""
'

# damage SQL: change the store behind its back.
damage() {
    python3 - "$1" <<'PY'
import sqlite3, sys
c = sqlite3.connect(".valise/valise.db")
assert c.execute(sys.argv[1]).rowcount > 0
c.commit()
PY
}

# broken SQL TEXT...: in a copy of the workspace; `validate` says TEXT.
broken() {
    local sql=$1
    shift
    rm -rf ../copy
    cp -r . ../copy
    cd ../copy
    damage "$sql"
    expect_exit 7 "$VALISE" validate
    stdout_has "$@"
    cd - >/dev/null
}

t 'rows, objects and names that are gone are missed [K22 Q19]' '
    mkdir here
    cd here
    "$VALISE" -q init
    for i in 1 2 3; do "$VALISE" -q bp pack b k $i; done
    "$VALISE" -q bp pack b other 1
    echo one >f
    "$VALISE" -q scan
    run "$VALISE" validate
    broken "delete from backpack_commit" "log 3" "1, which it made, is missing"
    broken "delete from backpack_commit where seq = 4" "4, which it made, is missing"
    broken "delete from backpack_commit where seq = 2" "2, which it made, is missing" \
        "the commit before it is missing" "commit 2, which it follows, is missing"
    broken "delete from meta where name = \"workspace\"" "the id of the workspace is gone"
    broken "delete from object where kind = \"data\"" "there is no object" "which its payload names"
    "$VALISE" -q retention set backpack --keep-latest 1
    "$VALISE" -q gc
    run "$VALISE" validate
    "$VALISE" -q bp drop b
    run "$VALISE" validate
'

t 'what is packed again over a damaged copy is there [K22 K29]' '
    "$VALISE" -q init
    python3 -c "print(\"\\\"\" + \"\".join(str(i) for i in range(9000)) + \"\\\"\")" >large
    "$VALISE" -q bp pack b large @large
    "$VALISE" -q bp pack b small "\"not large\""
    damage "update chunk set body = zeroblob(length(body)) where number = 1"
    damage "update object set body = zeroblob(length(body)) where body is not null"
    expect_exit 7 "$VALISE" bp unpack b large
    expect_exit 7 "$VALISE" bp unpack b small
    "$VALISE" -q bp pack b large @large
    "$VALISE" -q bp pack b small "\"not large\""
    run "$VALISE" bp unpack b large
    cmp "$OUT" large
    run "$VALISE" bp unpack b small
    stdout_has "not large"
'

done_testing
