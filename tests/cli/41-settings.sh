#!/usr/bin/env bash
# 41-settings.sh -- colours, the pager and who acts: files, environment and options. [L4 L9]
. "$(dirname "$0")/lib.sh"
export TERMINAL=$LIB_DIR/on_terminal.py
unset NO_COLOR PAGER LESS VALISE_COLOR VALISE_PAGER VALISE_ACTOR

# A workspace with a log that is longer than a screen, and a pager that says who it is.
prepare() {
    rm -rf "$HOME/.config"
    "$VALISE" -q init
    for i in $(seq 40); do
        echo "{\"type\":\"pin:add\",\"payload\":{\"name\":\"p$i\",\"target\":\"1\"}}"
    done | "$VALISE" -q batch
    printf '#!/bin/sh\necho "pager $*"\nexec cat >/dev/null\n' >pager
    chmod +x pager
}

plain() {
    ! grep -q "$(printf '\033')" "$OUT" || fail "coloured: $*"
}

coloured() {
    grep -q "$(printf '\033')" "$OUT" || fail "not coloured: $*"
}

t 'colours: core.color < NO_COLOR < VALISE_COLOR < --color, auto only on a terminal [L4 L9]' '
    prepare
    run "$VALISE" status && plain auto
    run "$TERMINAL" "$VALISE" status && coloured terminal
    NO_COLOR=1 run "$TERMINAL" "$VALISE" status && plain NO_COLOR
    TERM=dumb run "$TERMINAL" "$VALISE" status && plain dumb
    run "$TERMINAL" "$VALISE" status --color never && plain --color
    "$VALISE" config set --user core.color never
    run "$TERMINAL" "$VALISE" status && plain core.color
    "$VALISE" config set --user core.color always
    run "$VALISE" status && coloured core.color
    run "$VALISE" json diff 1 2 && coloured "without a workspace"
    run "$VALISE" config list && coloured config
    NO_COLOR=1 run "$VALISE" status && plain "NO_COLOR over core.color"
    NO_COLOR=1 VALISE_COLOR=always run "$VALISE" status && coloured VALISE_COLOR
    NO_COLOR=1 VALISE_COLOR=always run "$VALISE" status --color never && plain "--color over all"
    VALISE_COLOR=auto run "$VALISE" status && plain "auto over always"
    NO_COLOR=1 VALISE_COLOR=auto run "$TERMINAL" "$VALISE" status && plain "auto asks NO_COLOR"
'

t 'the pager: PAGER < core.pager < VALISE_PAGER < --no-pager; empty and cat are none [L4 L9]' '
    prepare
    PAGER="$PWD/pager a" run "$TERMINAL" "$VALISE" log
    stdout_is "pager a"
    "$VALISE" config set --user core.pager "$PWD/pager b  c"
    PAGER="$PWD/pager a" run "$TERMINAL" "$VALISE" log
    stdout_is "pager b c"
    VALISE_PAGER="$PWD/pager d" run "$TERMINAL" "$VALISE" log
    stdout_is "pager d"
    run "$TERMINAL" "$VALISE" commands
    stdout_is "pager b c"
    for words in "log --no-pager" "--no-pager log"; do
        # shellcheck disable=SC2086
        VALISE_PAGER="$PWD/pager d" run "$TERMINAL" "$VALISE" $words
        stdout_has pin:add
    done
    VALISE_PAGER="" run "$TERMINAL" "$VALISE" log
    stdout_has pin:add
    VALISE_PAGER=cat run "$TERMINAL" "$VALISE" log
    stdout_has pin:add
    VALISE_PAGER=/nonexistent run "$TERMINAL" "$VALISE" log
    stdout_has pin:add
    run "$TERMINAL" "$VALISE" log --limit 3
    stdout_has pin:add
    run "$VALISE" log
    stdout_has pin:add
    VALISE_PAGER="$PWD/pager \$(touch x);touch x" run "$TERMINAL" "$VALISE" log
    is_gone x
'

t 'who acts: core.actor < VALISE_ACTOR < --actor [L9]' '
    prepare
    for who in ann bob cid; do "$VALISE" -q agent add $who --role writer; done
    "$VALISE" config set --user core.actor ann
    "$VALISE" -q pin add by-ann 1
    VALISE_ACTOR=bob "$VALISE" -q pin add by-bob 1
    VALISE_ACTOR=bob "$VALISE" -q pin add by-cid 1 --actor cid
    VALISE_ACTOR="" "$VALISE" -q pin add by-ann-too 1
    run "$VALISE" --actor local log --limit 4 --json
    json_is "[0].actor" ann
    json_is "[1].actor" cid
    json_is "[2].actor" bob
    json_is "[3].actor" ann
    expect_exit 2 "$VALISE" --actor "" status
    stderr_has "--actor" "hint:"
'

t 'what the environment says of the engine holds [L9]' '
    need strace
    prepare
    export ASAN_OPTIONS=detect_leaks=0 # which does not work under a tracer
    strace -f -e trace=fsync,fdatasync -o full "$VALISE" -q pin add a 1 || skip "strace cannot trace"
    VALISE_DURABILITY=normal strace -f -e trace=fsync,fdatasync -o normal "$VALISE" -q pin add b 1
    [ "$(grep -c sync full)" -gt "$(grep -c sync normal)" ] || fail "$(cat full normal)"
    VALISE_TIMEOUT=soon expect_exit 6 "$VALISE" status
    stderr_has VALISE_TIMEOUT "hint: set VALISE_TIMEOUT"
'

t 'a workspace of a stranger runs no program and chooses neither actor nor colours [L9]' '
    prepare
    printf "#!/bin/sh\ntouch \"%s/ran\"\ncat\n" "$PWD" >evil
    chmod +x evil
    printf "[core]\n\tpager = %s/evil\n\tactor = ann\n\tcolor = always\n" "$PWD" >>.valise/config
    VALISE_PAGER="" run "$VALISE" log
    plain "the color of the workspace"
    PAGER=cat run "$TERMINAL" "$VALISE" log
    stdout_has local
    "$VALISE" trust .
    PAGER=cat run "$TERMINAL" "$VALISE" log
    is_gone ran
    "$VALISE" -q pin add mine 1
    run "$VALISE" log --limit 1 --json
    json_is actor local
    run "$VALISE" config list --show-origin
    stdout_matches "^core.pager .*has no effect there"
    expect_exit 6 "$VALISE" config set core.pager less
    stderr_has "core.pager" "hint:" "--user"
'

t 'a value that a setting does not take is refused before anything is done [L5 L9]' '
    prepare
    VALISE_COLOR=purple expect_exit 6 "$VALISE" pin add x 1
    stderr_has VALISE_COLOR "auto always never" purple "hint: set VALISE_COLOR"
    "$VALISE" config set --user core.color never
    sed -i "s/never/purple/" "$HOME/.config/valise/config"
    expect_exit 6 "$VALISE" pin add x 1
    stderr_has "config:2:" purple "hint: fix that line, or remove it: valise config unset --user core.color"
    run "$VALISE" help
    run "$VALISE" commands
    run "$VALISE" config unset --user core.color
    run "$VALISE" pin add x 1
    expect_exit 2 "$VALISE" status --color purple
    stderr_has "hint: it is auto, always or never"
    expect_exit 6 "$VALISE" config set --user core.color purple
    stderr_has "auto always never" purple
'

t 'hints about settings can be followed [L5]' '
    "$VALISE" -q init
    expect_exit 3 "$VALISE" config get tree.ignore
    stderr_has "hint: valise config set tree.ignore VALUE"
    run "$VALISE" config set tree.ignore "*.o"
    expect_exit 3 "$VALISE" config get core.pager
    stderr_has "hint: valise config set --user core.pager VALUE"
    run "$VALISE" config set --user core.pager cat
    echo "[broken" >>.valise/config
    expect_exit 6 "$VALISE" status
    stderr_has "config:" "hint: correct that line of the file"
'

t 'the settings of a workspace are for its owners to set [K23 Q24]' '
    "$VALISE" -q init
    "$VALISE" -q agent add r --role reader
    "$VALISE" -q agent add w --role writer
    for who in r w nobody; do
        expect_exit 4 "$VALISE" --actor "$who" config set tree.ignore "*"
        stderr_has "$who"
        expect_exit 4 "$VALISE" --actor "$who" config unset core.durability
    done
    expect_exit 3 "$VALISE" config get tree.ignore
    "$VALISE" -q agent add boss --role owner
    run "$VALISE" --actor boss config set tree.ignore "*.o"
    run "$VALISE" --actor r config set --user core.color never
    # What keeps it from being opened can be mended.
    sed -i "s/ignore/durability/; s/\\[tree/[core/" .valise/config
    expect_exit 6 "$VALISE" status
    run "$VALISE" config unset core.durability
    run "$VALISE" status
'

t 'a copy that lost its modes is private again once it is opened [K36 Q25]' '
    "$VALISE" -q init
    "$VALISE" -q pin add one
    umask 022
    chmod 755 .valise .valise/blobs
    chmod 644 .valise/valise.db* .valise/config
    run "$VALISE" pin add two
    for name in . valise.db config blobs; do
        case $(stat -c %a ".valise/$name") in
        700 | 600) ;;
        *) fail "$name is $(stat -c %a ".valise/$name")" ;;
        esac
    done
    [ -z "$(find .valise -name "valise.db-*" -perm /077)" ]
'

t 'every setting of files has a variable, but none for code, trust and providers [L9]' '
    "$VALISE" -q init
    export VALISE_PROGRAM_TIMEOUT=5s VALISE_VIEW_BRIEF_SPEC=max=1 VALISE_CHECKPOINT_MAX_FILE=10
    run "$VALISE" config list --show-origin
    stdout_matches "^program.timeout +5s +environment VALISE_PROGRAM_TIMEOUT$" \
        "^view.brief.spec +max=1 +environment VALISE_VIEW_BRIEF_SPEC$"
    # It holds, over what the files say.
    "$VALISE" config set checkpoint.max-file 1000
    echo "more than ten bytes" >f
    run "$VALISE" config get checkpoint.max-file
    stdout_is 10
    VALISE_CONTEXT_FRAME_MAX=3 expect_exit 1 "$VALISE" put-frame f - <<<"too much"
    stderr_has "at most 3 are allowed"
    VALISE_PROGRAM_TIMEOUT=soon expect_exit 6 "$VALISE" status
    stderr_has "VALISE_PROGRAM_TIMEOUT"
    # The shorter one is stronger.
    VALISE_CORE_ACTOR=b VALISE_ACTOR=a run "$VALISE" config get core.actor
    stdout_is a
    VALISE_CORE_ACTOR=b run "$VALISE" config get core.actor
    stdout_is b
    VALISE_TREE_IGNORE="*" VALISE_EXTENSION_X_PATH=/x VALISE_TRUST_X_OWNER=1 VALISE_PROVIDER_X_URL=http://x \
        VALISE_CREDENTIAL_X_ENV=HOME run "$VALISE" config list --show-origin
    for name in tree extension trust provider credential; do
        stdout_lacks "$name."
    done
'

done_testing
