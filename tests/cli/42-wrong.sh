#!/usr/bin/env bash
# 42-wrong.sh -- every command with wrong input: what, why, the way out, and the exit code. [L4 L5]
. "$(dirname "$0")/lib.sh"
export VALISE_COLOR=never

# Two lines: what, and what to do.
told() {
    [ "$(wc -l <"$ERR")" = 2 ] || lib_fail_with_output "not two lines"
    grep -q "^valise: .." "$ERR" || lib_fail_with_output "no message"
    grep -q "^hint: .." "$ERR" || lib_fail_with_output "no hint"
}

# The commands there are, under the first of their names; not groups.
names() {
    "$VALISE" commands --json >"$LIB_ROOT/operations"
    {
        sed -n 's/.*"alias":"\([^"]*\)".*/\1/p' "$LIB_ROOT/operations"
        grep -v '"alias":' "$LIB_ROOT/operations" | sed 's/.*"name":"\([^"]*\)".*/\1/' | tr : ' '
        printf '%s\n' batch commands completion "config get" "config list" "config set" "config unset" \
            help init run trust version
    } | sort -u
}

t 'every command refuses unknown options and operands too many as wrong usage' '
    "$VALISE" -q init
    names >all
    [ "$(wc -l <all)" -gt 40 ]
    while read -r words; do
        # shellcheck disable=SC2086
        expect_exit 2 "$VALISE" $words --no-such-option
        told
        stderr_has --no-such-option
        case $words in help | export | check-ignore | restore | diff | "checkpoint diff") continue ;; esac
        # shellcheck disable=SC2086
        expect_exit 2 "$VALISE" $words 1 2 3 4 5 6 7 8 9
        told
    done <all
'

t 'every command says what is wrong with an empty word, and with a value of the wrong kind' '
    "$VALISE" -q init
    names | grep -vE "^(help|log reads)$" >all
    while read -r words; do
        # shellcheck disable=SC2086
        "$VALISE" $words "" "" >"$OUT" 2>"$ERR" && fail "$words takes nothing for something"
        told
        # shellcheck disable=SC2086
        "$VALISE" --json $words "" "" >"$OUT" 2>"$ERR" && fail "$words takes nothing for something"
        "$VALISE" json get "@$ERR" /error/hint >/dev/null || lib_fail_with_output "$words: no hint in JSON"
        lib_checked
    done <all
    for option in --limit --since --until; do
        for value in "" nope 1.5 -5 99999999999999999999; do
            expect_exit 6 "$VALISE" log $option=$value
            told
            stderr_has "${option#--}"
        done
    done
    expect_exit 6 "$VALISE" log --reverse=perhaps
    told
    expect_exit 6 "$VALISE" agent add ann --role king
    told
'

t 'what is not there is named, with what there is [L5]' '
    "$VALISE" -q init
    expect_exit 3 "$VALISE" pin remove nope
    told
    stderr_has "'\''nope'\''" "valise pin list"
    expect_exit 3 "$VALISE" agent show nope && told
    expect_exit 3 "$VALISE" index query nope && told
    expect_exit 6 "$VALISE" show nope && told
    expect_exit 3 "$VALISE" show 99 && told
    stderr_has "valise log"
    expect_exit 3 "$VALISE" show pin/nope && told
    expect_exit 3 "$VALISE" show 0123456789abcdef && told
    expect_exit 3 "$VALISE" retention set nope && told
    stderr_has "it is one of: log"
    expect_exit 3 "$VALISE" config get core.nope && told
    expect_exit 3 "$VALISE" config get core.pager && told
    expect_exit 6 "$VALISE" erase && told
    expect_exit 6 "$VALISE" erase nope && told
    stderr_has "COLLECTION/KEY"
    expect_exit 3 "$VALISE" pin list --at 99 && told
    expect_exit 6 "$VALISE" pin list --at tomorrow && told
    expect_exit 6 "$VALISE" pin add x --id nope && told
'

t 'files that are not there, folders, long names: named, and invalid input or not found [L5]' '
    "$VALISE" -q init
    mkdir folder
    long=$(printf "%0300d" 0)
    for command in import batch trust "json pretty @"; do
        case $command in *@) at=@ ;; *) at="" ;; esac
        # shellcheck disable=SC2086
        expect_exit 3 "$VALISE" ${command% @} "${at}nope" && told
        stderr_has nope
        # shellcheck disable=SC2086
        expect_exit 6 "$VALISE" ${command% @} "$at$long" && told
        [ "$command" = trust ] && continue
        # shellcheck disable=SC2086
        expect_exit 6 "$VALISE" ${command% @} "${at}folder" && told
        stderr_has folder
    done
    expect_exit 6 "$VALISE" export folder && told
    expect_exit 3 "$VALISE" export nope/x && told
    touch file && expect_exit 3 "$VALISE" init file/x/y && told
    expect_exit 6 "$VALISE" json pretty @ && told
    if [ "$(id -u)" != 0 ]; then
        echo 1 >closed && chmod 0 closed
        expect_exit 4 "$VALISE" json pretty @closed && told
    fi
'

t 'a workspace that was named and is not there is told of, with who named it [L1 L5]' '
    VALISE_DIR=nope expect_exit 3 "$VALISE" status
    told
    stderr_has "VALISE_DIR names nope" "correct VALISE_DIR" "valise init nope"
    expect_exit 3 "$VALISE" --workspace nope status && told
    stderr_has "--workspace names nope"
    expect_exit 3 "$VALISE" --workspace nope config list && told
    expect_exit 3 "$VALISE" --workspace nope config get core.timeout && told
    expect_exit 3 "$VALISE" -C nope status && told
    mkdir empty
    VALISE_DIR=empty expect_exit 3 "$VALISE" status && told
    stderr_has "valise init empty"
    run "$VALISE" config list
    for option in --workspace --actor --at -C --id --expect --color; do
        expect_exit 2 "$VALISE" pin list $option ""
        told
    done
'

t 'an answer that cannot be written is a failure: full, closed [L5]' '
    "$VALISE" -q init
    "$VALISE" -q pin add first 1
    for words in status log "pin list" commands help version "completion bash" "json pretty 1" "config list" \
        "agent list" events gc "pin add x" "help --man"; do
        # shellcheck disable=SC2086
        expect_exit 1 bash -c "\"\$VALISE\" $words >/dev/full"
        told
        stderr_has "standard output"
        # shellcheck disable=SC2086
        expect_exit 1 bash -c "\"\$VALISE\" $words >&-"
        told
    done
    expect_exit 1 bash -c "\"\$VALISE\" pin add y >/dev/full"
    stderr_has "the command was carried out"
    run "$VALISE" show pin/y
    expect_exit 1 bash -c "\"\$VALISE\" json pretty - <&-"
    told
    run bash -c "\"\$VALISE\" status 2>&-"
    expect_exit 6 bash -c "\"\$VALISE\" show nope 2>&-"
    expect_exit 6 bash -c "\"\$VALISE\" show nope 2>/dev/full"
    run bash -c "\"\$VALISE\" log | head -n 1"
'

t 'a pager works when standard input is closed' '
    printf "#!/bin/sh\nhead -n 2\n" >pager
    chmod +x pager
    VALISE_PAGER=$PWD/pager run "$LIB_DIR/on_terminal.py" bash -c "\"\$VALISE\" commands <&-"
    [ "$(wc -l <"$OUT")" = 2 ]
    stdout_has agent:add
'

t 'nothing that is printed lands in a file of the workspace when streams are closed [K22]' '
    "$VALISE" -q init
    "$VALISE" -q pin add a 1
    for close in ">&-" "2>&-" "<&-" "<&- >&- 2>&-"; do
        bash -c "\"\$VALISE\" export x.valise $close" || true
        mkdir to && "$VALISE" -q init to
        run "$VALISE" -C to import ../x.valise
        rm -rf to x.valise
        bash -c "\"\$VALISE\" pin add b 1 $close; \"\$VALISE\" show nope $close; \"\$VALISE\" gc $close" || true
        bash -c "\"\$VALISE\" config set core.timeout 5s $close"
        run "$VALISE" validate
        stdout_is_empty
        run "$VALISE" config get core.timeout
        stdout_is 5s
    done
'

done_testing
