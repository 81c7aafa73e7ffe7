#!/usr/bin/env bash
# 77-tooling-words.sh -- the test criteria of the seed's component 6 (tooling and integration), by
# their words. [C27] [C28]
. "$(dirname "$0")/lib.sh"

# A workspace in a folder of its own.
grow() {
    mkdir -p "$1/src/lib"
    (
        cd "$1"
        "$VALISE" -q init
        printf 'int a;\n' >src/a.c
        printf 'int b;\n' >src/lib/b.c
        printf '# Read me\n' >README.md
        touch -d 2020-01-01 src/a.c src/lib/b.c README.md
        echo 'About a.' >"$LIB_ROOT/note.a"
        echo 'About b.' >"$LIB_ROOT/note.b"
    )
}

# All that is in the store: what no tool may change unasked.
state() {
    "$VALISE" -C "$1" workspace hash --json
    "$VALISE" -C "$1" log --json --limit 1
}

# What the tools say, without times and ids that are made up.
session() {
    local one='"(seq|time|slot|id|entry|version|at|created|duration[A-Za-z]*)":("[^"]*"|[0-9]+),?'
    (
        cd "$1"
        "$VALISE" scan --json
        "$VALISE" put-frame src/a.c "$LIB_ROOT/note.a" --json
        "$VALISE" put-frame src/lib/b.c "$LIB_ROOT/note.b" --type summary --json
        "$VALISE" synthesize --recursive --type '*' --output notes --json
        "$VALISE" get-node src --json
        "$VALISE" get-head src --json
        "$VALISE" list-frames src/a.c --json
        printf 'int a2;\n' >src/a.c
        "$VALISE" regenerate --recursive --json
        "$VALISE" reaffirm src/a.c --json
        "$VALISE" invalidate src --reason 'it was wrong' --json
        "$VALISE" regenerate --recursive --json
        "$VALISE" compose src --json
        "$VALISE" report --json
        "$VALISE" validate --json
    ) | sed -E "s/$one//g"
}

# "Tools reproducible from CLI (same command -> same result)"
reproducible() {
    grow here
    mkdir -p elsewhere/at/all
    grow elsewhere/at/all/there
    session here >"$LIB_ROOT/one"
    session elsewhere/at/all/there >"$LIB_ROOT/two"
    [ "$(wc -l <"$LIB_ROOT/one")" -ge 13 ] || fail "too few answers"
    run diff "$LIB_ROOT/one" "$LIB_ROOT/two"
}
t 'tools are reproducible: the same commands give the same results' reproducible

# "Re-running tools yields same state (idempotent)"
again() {
    local before
    grow ws
    cd ws
    run "$VALISE" put-frame README.md "$LIB_ROOT/note.a" # so that there is something in every step
    while read -r command; do
        echo "$command"
        eval "\"\$VALISE\" $command" >"$LIB_ROOT/first"
        before=$(state .)
        eval "\"\$VALISE\" $command" >"$LIB_ROOT/second"
        [ "$before" = "$(state .)" ] || fail "changed by a second: $command"
    done <<'END'
scan
put-frame src/a.c "$LIB_ROOT/note.a"
put-frame src/lib/b.c "$LIB_ROOT/note.b" --type summary
synthesize --recursive
synthesize src --policy summarization --output summary
regenerate --recursive
invalidate src --recursive --reason twice
reaffirm src/a.c
regenerate --recursive
get-node src
get-head src
list-frames src
compose src/a.c
status
report
validate
check-ignore README.md || true
END
    run "$VALISE" validate
}
t 're-running tools yields the same state' again

# "Tool failures do not corrupt storage (atomic operations, rollback)"
failing() {
    local before
    grow ws
    cd ws
    run "$VALISE" put-frame src/a.c "$LIB_ROOT/note.a"
    run "$VALISE" synthesize --recursive
    run "$VALISE" agent add r --role reader
    head -c 9000000 /dev/zero >"$LIB_ROOT/large"
    printf '%s\n' '{"type":"frame:put","payload":{"node":"src/a.c","content":"YQ=="}}' \
        '{"type":"frame:put","payload":{"node":"no/such","content":"YQ=="}}' >"$LIB_ROOT/batch"
    before=$(state .)
    while read -r command; do
        echo "$command"
        if eval "\"\$VALISE\" $command" >"$LIB_ROOT/out" 2>&1; then
            fail "succeeded: $command"
        fi
        [ "$before" = "$(state .)" ] || fail "changed by a failure: $command"
    done <<'END'
put-frame no/such "$LIB_ROOT/note.a"
put-frame src/a.c "$LIB_ROOT/nosuch"
put-frame src/a.c "$LIB_ROOT/note.a" --type 'No Type'
put-frame src/a.c "$LIB_ROOT/large" --no-scan --agent r
put-frame src/a.c "$LIB_ROOT/note.b" --agent r
put-frame src/a.c "$LIB_ROOT/note.b" --agent nobody
synthesize --strict
synthesize src/a.c
synthesize src --policy nonsense
synthesize src --params '{"budget":1}' --output other
synthesize src --name '[' --output other
regenerate no/such
regenerate --agent r
invalidate no/such
invalidate src --agent r
reaffirm src/lib/b.c
batch "$LIB_ROOT/batch"
import "$LIB_ROOT/note.a"
get-node no/such
compose no/such
restore nonsense
END
    # No room: files may not grow beyond what they are (blocks of 1,024 bytes).
    cp -a .valise "$LIB_ROOT/full"
    for blocks in 1 64 200; do
        (
            trap '' XFSZ
            ulimit -f "$blocks"
            "$VALISE" put-frame src/a.c "$LIB_ROOT/note.b" -q || true
            "$VALISE" regenerate --recursive -q || true
            "$VALISE" invalidate src --recursive -q || true
        ) >"$LIB_ROOT/out" 2>&1
        run "$VALISE" validate
    done
    # And killed at any moment.
    for i in 1 2 3 4 5 6 7 8; do
        echo "Round $i." >"$LIB_ROOT/note"
        ("$VALISE" put-frame src/a.c "$LIB_ROOT/note" -q && "$VALISE" regenerate --recursive -q) &
        sleep "0.0$((RANDOM % 50 + 10))"
        kill -9 $! 2>/dev/null || true
        wait $! 2>/dev/null || true
        run "$VALISE" validate
    done
    run "$VALISE" put-frame src/a.c "$LIB_ROOT/note.b"
    run "$VALISE" regenerate --recursive
    run "$VALISE" get-head src
    stdout_has 'About b.'
    run "$VALISE" validate
}
t 'tool failures do not corrupt storage' failing

# "Clear separation from core engine (core has no CLI dependencies)"
separate() {
    local root=${VALISE_SOURCE_ROOT:-$LIB_DIR/../..} lib found
    [ -d "$root/src" ] || skip 'there is no source'
    lib_checked
    found=$(grep -rnE '#include [<"](cli/|getopt|termios|curses|readline)' "$root/src" "$root/include" || true)
    [ -z "$found" ] || fail "the core knows of a surface: $found"
    lib=$(find "$(dirname "$VALISE")/../src" -maxdepth 1 -name 'libvalise.so.*' -type f | head -n 1)
    [ -n "$lib" ] || skip 'there is no shared library'
    need nm
    nm -D --undefined-only "$lib" | awk '{print $NF}' | sed 's/@.*//' | sort -u >"$LIB_ROOT/needs"
    [ -s "$LIB_ROOT/needs" ] || fail 'nm says nothing'
    # It neither prints, nor reads a terminal, nor ends the process.
    found=$(grep -xE 'printf|vprintf|puts|putchar|perror|exit|_exit|isatty|tcgetattr|getopt(_long)?|stdin|stdout|setlocale|cli_.*' \
        "$LIB_ROOT/needs" || true)
    [ -z "$found" ] || fail "the library needs: $found"
    found=$(nm -D --defined-only "$lib" | awk '$2 ~ /[TDRB]/ {print $3}' | grep -v '^valise_' || true)
    [ -z "$found" ] || fail "the library shows: $found"
}
t 'the core has no dependencies on the command line' separate

sums() {
    (cd "$1" && find . -type f -exec sha256sum {} + | sort)
}

# "Workspace operations are isolated (no cross-workspace contamination)"
isolated() {
    local other
    grow one
    grow two
    grow one/inner # a workspace in the folder of another
    run "$VALISE" -C two scan
    run "$VALISE" -C one/inner scan
    sums two >"$LIB_ROOT/two"
    sums one/inner >"$LIB_ROOT/inner"
    session one >"$LIB_ROOT/out"
    (cd one/src && "$VALISE" -q invalidate . --recursive && "$VALISE" -q regenerate . --recursive)
    sums two | run diff "$LIB_ROOT/two" -
    sums one/inner | run diff "$LIB_ROOT/inner" -
    # By its path, from the folder of another one.
    cd two
    other=$(state .)
    run "$VALISE" -C ../one put-frame README.md "$LIB_ROOT/note.b"
    [ "$other" = "$(state .)" ] || fail 'the wrong workspace was written'
    run "$VALISE" -C ../one get-head README.md
    stdout_has 'About b.'
    expect_exit 6 "$VALISE" put-frame ../one/src/a.c "$LIB_ROOT/note.b"
    expect_exit 6 "$VALISE" synthesize ../one
    expect_exit 6 "$VALISE" regenerate ../one
    expect_exit 6 "$VALISE" get-node /etc/passwd
    [ "$other" = "$(state .)" ] || fail 'a failure has written'
    run "$VALISE" validate
    run "$VALISE" -C ../one validate
}
t 'workspaces are isolated' isolated

# "Error messages are clear and actionable": what is wrong is named, and what to do about it said;
# for programs the same, as JSON with a code.
messages() {
    expect_exit 3 "$VALISE" status
    stderr_has 'valise init'
    grow ws
    cd ws
    run "$VALISE" scan
    run "$VALISE" agent add r --role reader
    while IFS='|' read -r command named todo; do
        echo "$command"
        if eval "\"\$VALISE\" $command" >"$OUT" 2>"$ERR"; then
            fail "succeeded: $command"
        fi
        [ ! -s "$OUT" ] || fail 'an error is no output'
        stderr_has "$named"
        stderr_matches "^hint: .*$todo"
        [ "$(wc -l <"$ERR")" -le 4 ] || fail 'too many words'
        if eval "\"\$VALISE\" $command --json" >"$OUT" 2>"$ERR"; then
            fail "succeeded: $command --json"
        fi
        python3 - "$named" "$ERR" <<'END' || fail 'not as JSON'
import json, sys
error = json.load(open(sys.argv[2]))
error = error.get("error", error)
assert error["code"] and error["hint"] and sys.argv[1] in error["message"], error
END
    done <<'END'
put-frame no/such "$LIB_ROOT/note.a"|no/such|scan
get-node no/such|no/such|scan
get-head no/such|no/such|scan
list-frames no/such|no/such|scan
synthesize no/such|no/such|scan
synthesize README.md|README.md|help
synthesize src --policy nonsense|nonsense|concatenation
synthesize src --type 'n*'|n*|--output
regenerate no/such|no/such|scan
invalidate src|src|list-frames
reaffirm src|src|put-frame
put-frame README.md "$LIB_ROOT/note.a" --agent r|context:write|agent update
synthesize src --agent r|context:synthesize|agent
put-frame README.md "$LIB_ROOT/note.a" --type 'No Type'|No Type|summary
synthesize src --strict|src/a.c|--strict
nonsense|nonsense|help
regenerate --nonsense|nonsense|help
END
}
t 'error messages are clear and actionable' messages

done_testing
