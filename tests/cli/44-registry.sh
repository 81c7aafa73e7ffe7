#!/usr/bin/env bash
# 44-registry.sh -- what holds for every command there is: --json and --quiet. [L4 L5]
. "$(dirname "$0")/lib.sh"

# Each line of these files is JSON.
lines_are_json() {
    lib_checked
    python3 -c '
import json, sys
def no(x): raise ValueError(x)
for name in sys.argv[1:]:
    for line in open(name, encoding="utf-8"):
        try:
            json.loads(line, parse_constant=no)
            assert line.endswith("\n")
        except Exception as why:
            sys.exit(f"{name}: {line!r}: {why}")' "$@"
}

t 'with --json every command answers JSON, a line a row, and fails with JSON [L4 L5]' '
    "$VALISE" -q init
    "$VALISE" help --names >names
    count=0
    while read -r words; do
        # shellcheck disable=SC2086
        example=$("$VALISE" help $words | sed -n "/^example:/{n;s/^ *\(.*\)valise /\1/p;q}")
        [ -n "$example" ] || continue
        count=$((count + 1))
        code=0
        # What goes on until it is told to end is told so.
        case $words in watch) until="timeout -s INT 2" ;; *) until= ;; esac
        eval "$until \"\$VALISE\" --json $example" </dev/null >out.$count 2>err.$count || code=$?
        if [ -n "$until" ]; then
            [ $code -eq 124 ] || [ $code -eq 0 ] || fail "$example: $code"
            rm err.$count # that of the program it ran
        elif [ $code -eq 0 ]; then
            [ ! -s err.$count ] || fail "$example: $(cat err.$count)"
        else
            # What is absent is nothing.
            case $words in *unpack | *peek) [ $code -ne 3 ] || continue ;; esac
            # No is an answer.
            case $words in *check-ignore | "frame verify") [ $code -ne 1 ] || continue ;; esac
            [ -s err.$count ] || [ $code -eq 6 ] || fail "$example says nothing"
        fi
    done <names
    [ $count -gt 50 ]
    "$VALISE" gc --help --json >out.help
    "$VALISE" pin --help --json >out.group
    "$VALISE" --help --json >out.all
    lines_are_json out.* err.*
    run "$VALISE" completion bash --json
    json_get script >script
    grep -q complete script
    run "$VALISE" config set core.timeout 5s --json
    stdout_is "{}"
    run "$VALISE" -q config set core.timeout 5s --json
    stdout_is_empty
'

t 'quiet: what does something says nothing, with --json neither; what looks still answers [L4]' '
    "$VALISE" -q init
    "$VALISE" -q pin add v1 1
    "$VALISE" commands --json >all
    python3 -c "
import json
for line in open(\"all\"):
    op = json.loads(line)
    if op[\"kind\"] != \"query\" and op[\"name\"] not in (\"workspace:erase\", \"workspace:import\"):
        given = {\"name\": \"v1\"} if op[\"name\"] == \"pin:remove\" else op[\"example\"]
        print(op[\"name\"], json.dumps(given, separators=(\",\", \":\")))" >does
    while read -r name payload; do
        for how in "" --json; do
            # shellcheck disable=SC2086
            "$VALISE" -q $how run "$name" "$payload" >out 2>err || true
            [ ! -s out ] || fail "$name $how: $(cat out)"
        done
    done <does
    for name in gc sync validate repair export; do grep -q "^workspace:$name " does; done
    run "$VALISE" -q init --json
    stdout_is_empty
    run "$VALISE" -q export x.valise
    stdout_is_empty
    run "$VALISE" -q import x.valise --json
    stdout_is_empty
    run "$VALISE" -q status
    stdout_has "log entries:"
    run "$VALISE" -q log
    stdout_lacks SEQ
    stdout_has pin:add
    printf "xxxxxxxx" | dd of=.valise/valise.db bs=1 seek=8192 conv=notrunc 2>/dev/null
    expect_exit 7 "$VALISE" -q validate
    stdout_is_empty
    stderr_matches "^valise: "
'

done_testing
