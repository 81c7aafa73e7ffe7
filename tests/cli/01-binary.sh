#!/usr/bin/env bash
# 01-binary.sh -- the built command starts, answers on the right channel and exits as it should.
. "$(dirname "$0")/lib.sh"
[ -x "$VALISE" ] || skip_all "no binary at $VALISE"

t 'the version goes to stdout' '
    run "$VALISE" version
    stdout_matches "^valise [0-9]+\.[0-9]+\.[0-9]+$"
    stderr_is_empty
'

t 'an unknown command is refused with a way out' '
    expect_exit 2 "$VALISE" no-such-command
    stdout_is_empty
    stderr_has "no-such-command" "valise help"
'

t 'a value comes as an argument, from a file or from standard input' '
    echo "{\"b\": 1.0, \"a\": [true, null]}" >value.json
    run "$VALISE" json canonical "{\"b\": 1.0, \"a\": [true, null]}"
    stdout_is "{\"a\":[true,null],\"b\":1}"
    run "$VALISE" json canonical @value.json
    stdout_is "{\"a\":[true,null],\"b\":1}"
    run "$VALISE" json canonical - <value.json
    json_is a[0] true
    json_is b 1
'

t 'half a value is refused' '
    expect_exit 6 "$VALISE" json canonical "{\"b\": 1"
    stdout_is_empty
    stderr_has "valise:"
'

done_testing
