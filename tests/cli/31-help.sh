#!/usr/bin/env bash
# 31-help.sh -- help, man pages and the reference, all from the registry. [K6 L4 L8]
. "$(dirname "$0")/lib.sh"
ROOT=$(cd "$LIB_DIR/../.." && pwd)
export ROOT

t 'every command has a page with an example [L4]' '
    "$VALISE" help --names >names
    while read -r words; do
        # shellcheck disable=SC2086
        "$VALISE" $words --help >by_option
        # shellcheck disable=SC2086
        "$VALISE" help $words >by_help
        cmp by_option by_help
        grep -q "^usage: valise $words" by_help
        grep -q "^commands:" by_help || grep -A1 "^example:" by_help | grep -qE "^  (VALISE_.*=.* )?valise $words" ||
            fail "$words has no example"
    done <names
    [ "$(wc -l <names)" -gt 20 ]
    run true
'

t 'the name that was typed is the name that is told, and the other one is too [L4 L5 L8]' '
    "$VALISE" commands --json >all
    "$VALISE" help >help
    while read -r line; do
        alias=$("$VALISE" json get "$line" /alias 2>/dev/null | tr -d "\"") || continue
        long=$("$VALISE" json get "$line" /name | tr -d "\"" | tr : " ")
        # shellcheck disable=SC2086
        for pair in "$alias/$long" "$long/$alias"; do
            "$VALISE" help ${pair%/*} >page
            grep -q "^usage: valise ${pair%/*}\( \|$\)" page
            tr "\n" " " <page | grep -qF "Also \`valise ${pair#*/}\`" || fail "$pair"
            expect_exit 2 "$VALISE" ${pair%/*} --no-such-option
            expect_exit 2 "$VALISE" ${pair%/*} a b c d e f --id x --exit-code
            stderr_has "valise ${pair%/*}"
            "$VALISE" help --man ${pair%/*} >page
            grep -qiF ".TH \"valise-$(echo ${pair%/*} | tr " " -)\"" page
            grep -qi "^valise.-$(echo ${pair%/*} | sed "s/[ -]/.-/g") " page
        done
        grep -q "^  $alias\( \|$\)" help
        grep -qx "## valise $alias" "$ROOT/docs/cli.md"
        echo "$alias" >>seen
    done <all
    [ "$(wc -l <seen)" -ge 11 ]
    run "$VALISE" log --help
    stdout_has "more commands:" "  log reads"
'

t 'no line of help is wider than 80 columns but for examples' '
    "$VALISE" help --names >names
    { "$VALISE" help; while read -r words; do
        # shellcheck disable=SC2086
        "$VALISE" help $words | sed "/^example:/,\$d"
    done <names; } >all
    run awk "length > 80" all
    stdout_is_empty
'

t 'man pages are clean [L8]' '
    need man
    need groff
    "$VALISE" help --names >names
    { echo; cat names; } | while read -r words; do
        # shellcheck disable=SC2086
        "$VALISE" help --man $words >page.1
        LC_ALL=C.UTF-8 MANROFFSEQ="" MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z page.1 2>warnings >/dev/null
        [ ! -s warnings ] || fail "$words: $(cat warnings)"
        grep -q "^\.SH NAME" page.1
        command -v mandoc >/dev/null || continue
        # A date would make each build another one.
        mandoc -Tlint -W warning page.1 | grep -v "missing date" >warnings || true
        [ ! -s warnings ] || fail "$words: $(cat warnings)"
    done
    run "$VALISE" help --man pin add
    stdout_has ".TH \"VALISE-PIN-ADD\" \"1\""
'

t 'the reference is that of this registry (tools/gen-cli-docs writes it) [L8]' '
    run "$VALISE" help --reference
    if [ "${VALISE_UPDATE_GOLDEN:-}" = 1 ]; then cp "$OUT" "$ROOT/docs/cli.md"; fi
    diff -u "$ROOT/docs/cli.md" "$OUT"
'

t 'nothing is opened or read to give help [L10]' '
    need strace
    export ASAN_OPTIONS=detect_leaks=0 # which does not work under a tracer
    for words in "help pin add" "pin --help" version "completion bash"; do
        # shellcheck disable=SC2086
        strace -f -e trace=openat,open -o trace "$VALISE" $words >/dev/null 2>&1 || skip "strace cannot trace"
        ! grep -E "\.valise|valise/config" trace || fail "$words"
    done
    run true
'

t 'pages and completions are made for an installation [L8]' '
    MESON_INSTALL_DESTDIR_PREFIX=$PWD/to run "$ROOT/tools/install-pages" "$VALISE" share/man share
    exists to/share/man/man1/valise.1 to/share/man/man1/valise-pin-add.1 to/share/man/man1/valise-pin.1
    exists to/share/bash-completion/completions/valise to/share/zsh/site-functions/_valise
    exists to/share/fish/vendor_completions.d/valise.fish
    [ "$(ls to/share/man/man1 | wc -l)" = "$(($("$VALISE" help --names | wc -l) + 1))" ]
'

done_testing
