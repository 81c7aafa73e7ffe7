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

t 'what agents are told is `memory` in help, the reference and hints; `context` does as well [L3]' '
    run "$VALISE" help
    stdout_has "memory: long-term memory" "  memory add " "  memory list "
    stdout_matches "^context: what is known about files"
    stdout_lacks "  context add"
    grep -qx "## valise memory add" "$ROOT/docs/cli.md"
    run "$VALISE" help memory
    stdout_has "  memory add KEY"
    stdout_lacks "prune"
    run "$VALISE" help context
    stdout_has "  context add KEY" "  context prune"
    "$VALISE" -q init
    for group in memory context; do
        expect_exit 3 "$VALISE" $group show nothing
        stderr_has "'"'valise memory list'"'"
    done
'

t 'valise by itself says how to begin, in one screen of a page [L4]' '
    run "$VALISE"
    [ "$(wc -l <"$OUT")" -le 48 ]
    [ "$(awk "length > 80" "$OUT" | wc -l)" = 0 ]
    stdout_has "no workspace here. Run '"'valise init'"'" "  backpack pack " "'"'valise help COMMAND'"'"
    cp "$OUT" first
    for words in --help -h; do
        run "$VALISE" $words
        cmp first "$OUT"
    done
    # Each command of it is one, and says the same there.
    sed -n "s/^  \([a-z][a-z -]*[a-z]\)  .*/\1/p" first >names
    [ "$(wc -l <names)" -ge 15 ]
    while read -r words; do
        # shellcheck disable=SC2086
        "$VALISE" $words --help >/dev/null || fail "$words"
    done <names
    "$VALISE" --quiet init
    mkdir sub
    run "$VALISE" -C sub
    # In a workspace: what is in it, and what to do next, which depends on it.
    stdout_has "You are in the workspace $PWD." "  log entries       1, the last 20" "  scan " "  flow run "
    stdout_lacks "  history"
    echo x >file
    "$VALISE" -q scan
    run "$VALISE"
    stdout_matches "^  files             [0-9]+, scanned 20"
    stdout_has "  put-frame " "  backpack list "
    stdout_lacks "  scan "
    [ "$(wc -l <"$OUT")" -le 22 ]
    run "$VALISE" --help
    stdout_has "You are in the workspace $PWD." "  backpack pack "
    stdout_lacks "log entries"
    run "$VALISE" --actor nobody
    stdout_has "You are in the workspace $PWD." "nobody" "  backpack pack "
    # Whatever is wrong there.
    rm .valise/config
    echo "[core" >.valise/config
    run "$VALISE"
    stdout_has "You are in the workspace $PWD." "config:1: " "  backpack pack "
    VALISE_DIR=nowhere run "$VALISE"
    stdout_has "VALISE_DIR names nowhere"
    stderr_is_empty
'

t 'help lists all commands, a group those of it [L4]' '
    run "$VALISE" help
    stdout_has "backpack: working memory of agents" "  turn add " "valise help backpack"
    "$VALISE" commands --json | while read -r line; do
        name=$("$VALISE" json get "$line" /alias 2>/dev/null || "$VALISE" json get "$line" /name)
        name=$(echo "$name" | tr -d "\"" | tr : " ")
        grep -q "^  ${name/#context /memory }\( \|$\)" "$OUT" || fail "$name"
    done
    # A group that has been added needs a row in front.c.
    ! grep -E "^[a-z-]+:$" "$OUT" | grep -vE "^(commands|options|usage):$" || fail "says nothing of itself"
    expect_exit 2 "$VALISE" bp # half a command
    stdout_is_empty
    stderr_has "needs a subcommand: access-log, bisect" "run '"'"'valise bp --help'"'"'"
    run "$VALISE" help bp
    stdout_has "usage: valise bp COMMAND" "  bp pack BACKPACK KEY VALUE" "working memory of agents"
    expect_exit 2 "$VALISE" bp --no-such-option
    stdout_is_empty
    expect_exit 2 "$VALISE" bp --json
    stdout_is_empty
    stderr_has "needs a subcommand"
'

t 'on a terminal help is as wide as that, bold and paged; elsewhere plain [L4]' '
    need python3
    run "$VALISE" --color always help pin
    stdout_has "$(printf "\033[1musage:\033[0m")"
    run "$VALISE" help pin
    stdout_lacks "$(printf "\033")"
    run env TERM=xterm PAGER="sed s/^/paged:/" python3 "$LIB_DIR/on_terminal.py" "$VALISE" help
    stdout_has "paged:"
    run env TERM=xterm PAGER="sed s/^/paged:/" python3 "$LIB_DIR/on_terminal.py" "$VALISE" completion --help
    stdout_lacks "paged:"
    run env TERM=xterm NO_COLOR=1 COLUMNS=50 LINES=500 python3 "$LIB_DIR/on_terminal.py" "$VALISE" turn add --help
    stdout_has "usage:"
    [ "$(sed "/^example/,\$d" "$OUT" | tr -d "\r" | awk "length > 50" | wc -l)" = 0 ]
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
        for section in NAME SYNOPSIS DESCRIPTION "SEE ALSO"; do
            grep -qF ".SH \"$section\"" page.1 || grep -qxF ".SH $section" page.1 || fail "$words: no $section"
        done
        grep -q "^\.SH \"\?COMMANDS" page.1 || for section in OPTIONS EXAMPLES "EXIT STATUS" ENVIRONMENT; do
            grep -qF ".SH \"$section\"" page.1 || grep -qxF ".SH $section" page.1 || fail "$words: no $section"
        done
        command -v mandoc >/dev/null || continue
        # A date would make each build another one.
        mandoc -Tlint -W warning page.1 | grep -v "missing date" >warnings || true
        [ ! -s warnings ] || fail "$words: $(cat warnings)"
    done
    # An option stands in one piece.
    "$VALISE" help --man bp pack >page.1
    LC_ALL=C.UTF-8 MANWIDTH=80 man -l page.1 >shown
    grep -q -- "--expect is compared" shown
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
