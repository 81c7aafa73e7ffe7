#!/usr/bin/env bash
# 10-json.sh -- valise json: values in, answers out, and what it says of bad input. [L4 L5]
. "$(dirname "$0")/lib.sh"

t 'canonical prints the form that is hashed [K4]' '
    expect_exit 0 "$VALISE" json canonical "{\"b\": 1.0, \"a\": [9007199254740993, 1E30]}"
    stdout_is "{\"a\":[9007199254740993,1e+30],\"b\":1}"
    stderr_is_empty
'

t 'a value may come from a file or from standard input [L4]' '
    printf " [ 1 ] " >file.json
    expect_exit 0 "$VALISE" json canonical @file.json
    stdout_is "[1]"
    expect_exit 0 bash -c "printf \"{}\" | \"\$VALISE\" json canonical -"
    stdout_is "{}"
    expect_exit 6 bash -c "printf 1 | \"\$VALISE\" json diff - -"
    stderr_has "only once"
'

t 'a negative number is a value, not an option' '
    expect_exit 0 "$VALISE" json canonical -1.50
    stdout_is "-1.5"
    expect_exit 0 "$VALISE" json canonical -- -1
'

t 'bad JSON is refused with its byte and its file' '
    printf "[1,2,]" >bad.json
    expect_exit 6 "$VALISE" json canonical @bad.json
    stdout_is_empty
    stderr_has "at byte 5"
    stderr_has "bad.json"
    expect_exit 6 "$VALISE" json canonical "{\"a\":1,\"a\":2}"
    stderr_has "duplicate key"
    expect_exit 6 "$VALISE" json canonical ""
    stderr_has "give JSON"
'

t 'errors are JSON with --json, before or behind the command [L5]' '
    expect_exit 6 "$VALISE" --json json canonical "[1,"
    stdout_is_empty
    [ "$("$VALISE" json get "@$ERR" /error/code)" = "\"INVALID\"" ]
    expect_exit 2 "$VALISE" json canonical --json
    [ "$("$VALISE" json get "@$ERR" /error/code)" = "\"USAGE\"" ]
'

t 'an error is JSON whatever bytes it quotes [L5]' '
    expect_exit 2 "$VALISE" --json "$(printf "a\\377b\\033")"
    [ "$("$VALISE" json get "@$ERR" /error/message)" = "\"there is no command '\''a\\\\xffb\\\\x1b'\''\"" ]
'

t 'of an answer that fails on the way nothing is printed' '
    many=$(printf "a%.0s" {1..70})
    expect_exit 1 "$VALISE" json validate "\"$many!\"" \
        "{\"allOf\":[{\"maxLength\":1},{\"pattern\":\"^(a|a)*\$\"}]}"
    stderr_has "too much work"
    stdout_is_empty
'

t 'files that cannot be read' '
    expect_exit 3 "$VALISE" json canonical @missing.json
    stderr_has "missing.json"
    mkdir dir
    expect_exit 6 "$VALISE" json canonical @dir
    stderr_has "dir"
    [ "$(id -u)" = 0 ] || {
        printf "{}" >secret.json
        chmod 000 secret.json
        expect_exit 4 "$VALISE" json canonical @secret.json
    }
'

t 'what is too large is refused, whatever its length says [K4]' '
    truncate -s 5G huge.json
    expect_exit 1 "$VALISE" json canonical @huge.json
    stderr_has "larger than 64 MiB"
    expect_exit 1 bash -c "yes [ | tr -d \"\\n\" | head -c 1000 | \"\$VALISE\" json canonical -"
    stderr_has "nested more than 256 deep"
'

t 'a full disk is an error [Q19]' '
    [ -w /dev/full ] || skip "there is no /dev/full"
    expect_exit 1 bash -c "\"\$VALISE\" json canonical [] >/dev/full"
    stderr_has "standard output"
    expect_exit 1 bash -c "\"\$VALISE\" help >/dev/full"
'

t 'get follows a pointer' '
    expect_exit 0 "$VALISE" json get "{\"a/b\":[10,{\"c\":null}]}" /a~1b/1/c
    stdout_is "null"
    expect_exit 3 "$VALISE" json get "{\"a\":1}" /b
    stdout_is_empty
    expect_exit 6 "$VALISE" json get "{\"a\":1}" a
'

t 'a text comes without its quotes where a program goes on with it [L5]' '
    expect_exit 0 "$VALISE" json get "{\"a\":\"b\\nc\",\"d\":7}" /a --text
    stdout_is "$(printf "b\nc")"
    expect_exit 0 "$VALISE" json get "{\"a\":\"b\\nc\",\"d\":7}" /d --text
    stdout_is 7
    expect_exit 0 "$VALISE" json logic --text "{\"cat\":[\"a\",\"b\"]}" null
    stdout_is ab
    expect_exit 0 "$VALISE" json get "{\"a\":\"b\"}" /a --text --json
    stdout_is "\"b\""
'

t 'diff shows changes, makes a patch, and fails when asked to [L5]' '
    expect_exit 0 "$VALISE" json diff "{\"a\":1,\"b\":[1,2]}" "{\"a\":2,\"b\":[1,3,2]}"
    stdout_is "- /a  1
+ /a  2
+ /b/1  3"
    expect_exit 0 "$VALISE" json diff 1 1.0
    stdout_is_empty
    expect_exit 8 "$VALISE" json diff --exit-code 1 2
    expect_exit 0 "$VALISE" json diff --exit-code 1 1
    "$VALISE" json diff --json --tests "{\"a\":1,\"b\":[1,2]}" "{\"a\":2,\"b\":[1,3,2]}" >patch
    expect_exit 0 "$VALISE" json patch "{\"a\":1,\"b\":[1,2]}" @patch
    stdout_is "{\"a\":2,\"b\":[1,3,2]}"
    expect_exit 5 "$VALISE" json patch "{\"a\":7,\"b\":[1,2]}" @patch
    stderr_has "expected 1"
    stdout_is_empty
'

t 'validate says each thing that is wrong' '
    printf "%s" "{\"required\":[\"n\",\"m\"],\"properties\":{\"n\":{\"type\":\"integer\",\"maximum\":2}}}" >schema
    expect_exit 0 "$VALISE" json validate "{\"n\":1,\"m\":0}" @schema
    stdout_is "valid"
    expect_exit 6 "$VALISE" json validate "{\"n\":3}" @schema
    stdout_has "/n: must be at most 2, is 3"
    stdout_has "m"
    expect_exit 6 "$VALISE" json validate --json "{\"n\":3,\"m\":0}" @schema
    [ "$("$VALISE" json get "@$OUT" /findings/0/keyword)" = "\"maximum\"" ]
    [ "$("$VALISE" json get "@$OUT" /valid)" = false ]
    expect_exit 6 "$VALISE" json validate 1 "{\"type\":\"nonsense\"}"
    stderr_has "/type"
    expect_exit 6 "$VALISE" json validate 1 "{\"\$ref\":\"https://example.org/schema\"}"
    stderr_has "example.org"
'

t 'logic evaluates a rule' '
    expect_exit 0 "$VALISE" json logic "{\"if\":[{\">\":[{\"var\":\"n\"},2]},\"many\",\"few\"]}" "{\"n\":3}"
    stdout_is "\"many\""
    expect_exit 6 "$VALISE" json logic "{\"shell\":[\"rm\"]}" null
    stderr_has "shell"
'

t 'a terminal is not steered by what it shows [Q26]' '
    need script
    printf "[\"a\\\\u009b31mred\\\\u202e\"]" >evil.json
    script -qec "\"$VALISE\" json canonical @evil.json" /dev/null >shown
    run cat shown
    stdout_has "u009b31m" "u202e"
    stdout_lacks "$(printf "\302\233")"
    run "$VALISE" json canonical @evil.json
    stdout_has "$(printf "\302\233")"
'

t 'wrong usage is 2, with the way out [L5]' '
    expect_exit 2 "$VALISE" json
    expect_exit 2 "$VALISE" jason canonical 1
    stderr_has "jason"
    stderr_has "valise help"
    expect_exit 2 "$VALISE" json canonical
    expect_exit 2 "$VALISE" json canonical 1 2
    expect_exit 2 "$VALISE" json canonical --wrong 1
    stderr_has "--wrong"
    expect_exit 2 "$VALISE" json canonical --exit-code 1
'

t 'every command explains itself with an example that works [L4]' '
    expect_exit 0 "$VALISE"
    stdout_has "valise help"
    for verb in canonical pretty get diff patch validate logic; do
        expect_exit 0 "$VALISE" json "$verb" --help
        example=$(sed -n "/^example:/{n;p}" "$OUT")
        [ -n "$example" ]
        [ "$verb" = pretty ] && printf "{}" >answer.json
        code=0
        PATH=$(dirname "$VALISE"):$PATH bash -c "$example" || code=$?
        [ "$code" = 0 ] || [ "$verb $code" = "validate 6" ]
    done
'

t 'version' '
    expect_exit 0 "$VALISE" --version
    cp "$OUT" first
    expect_exit 0 "$VALISE" version
    cmp first "$OUT"
    expect_exit 0 "$VALISE" version --json
    "$VALISE" json get "@$OUT" /version >/dev/null
'

t 'a group of commands explains itself, and so does each command [L4]' '
    expect_exit 2 "$VALISE" json
    stdout_is_empty
    stderr_has "json'"'"' needs a subcommand: canonical, diff" "valise json --help"
    expect_exit 0 "$VALISE" json --help
    stdout_has "json canonical VALUE"
    cp "$OUT" group
    expect_exit 0 "$VALISE" help json
    cmp "$OUT" group
    expect_exit 0 "$VALISE" json diff --help
    cp "$OUT" diff
    expect_exit 0 "$VALISE" help json diff
    cmp "$OUT" diff
    stdout_has "--exit-code"
    expect_exit 0 "$VALISE" help
    stdout_has "json canonical  " "version"
    expect_exit 0 "$VALISE" help help
    stdout_has "usage: valise help"
'

t 'a wrong word is named whole, with a way out [L5]' '
    expect_exit 2 "$VALISE" json canonicl 1
    stderr_has "no command '"'json canonicl'"'" "valise help"
    expect_exit 2 "$VALISE" help jsn
    stderr_has "no command '"'jsn'"'"
    expect_exit 2 "$VALISE" json canonical 1 2
    stderr_has "takes only VALUE"
    expect_exit 2 "$VALISE" version extra
    stderr_has "takes no operands"
    expect_exit 2 "$VALISE" json diff --exitcode 1 2
    stderr_has "--exitcode" "--help"
    expect_exit 6 "$VALISE" json canonical ""
    stderr_has "@FILE"
    expect_exit 6 "$VALISE" json canonical @
    stderr_has "after @"
'

t 'a word that is not UTF-8 leaves the error valid JSON [L5]' '
    expect_exit 2 "$VALISE" --json "$(printf "a\377\033")"
    "$VALISE" json get "@$ERR" /error/message >message
    grep -qF "a\\\\xff\\\\x1b" message
    expect_exit 2 "$VALISE" --json json diff "$(printf -- "--\303")"
    [ "$("$VALISE" json get "@$ERR" /error/code)" = "\"USAGE\"" ]
'

done_testing
