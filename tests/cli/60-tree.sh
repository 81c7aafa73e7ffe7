#!/usr/bin/env bash
# 60-tree.sh -- the tree of files: scans, ignored paths, versions. [L2] [C1] [C2] [C3] [C4] [C5] [C6]
. "$(dirname "$0")/lib.sh"

# A workspace with a few files.
some() {
    "$VALISE" -q init
    mkdir -p src/lib empty
    echo 1 >src/a.c
    echo 2 >src/lib/b.c
    echo 3 >README
    ln -s README link
    printf '#!/bin/sh\n' >run.sh
    chmod +x run.sh
    printf '*.o\n!keep.o\nbuild/\n' >.gitignore
    echo x >junk.o
}

root() {
    run "$VALISE" scan --json "$@" >/dev/null
    json_get treeRoot
}

seq_now() {
    run "$VALISE" status --json >/dev/null
    json_get seq
}

t 'a scan says what it found, in one line [C2]' '
    some
    run "$VALISE" scan
    # What people count: the folder itself is not among it.
    stdout_matches "^5 files, 3 directories, 1 link: 9 added, 0 changed, 0 removed  root [0-9a-f]{8}$"
    run "$VALISE" tree ls
    stdout_matches "^src/ +directory +2 entries  [0-9a-f]{8}  [0-9a-f]{8}$"
    stdout_matches "^link -> README +link +6 B "
    stdout_matches "^run.sh +executable +10 B "
    stdout_matches "^empty/ +directory +0 entries "
    stdout_matches "^README +file +2 B "
    run "$VALISE" validate
'

t 'a second scan writes nothing at all [C2 C6]' '
    some
    run "$VALISE" scan
    before=$(seq_now)
    run "$VALISE" scan
    stdout_matches "^nothing changed  root [0-9a-f]{8}$"
    run "$VALISE" scan --force
    stdout_matches "^nothing changed  root [0-9a-f]{8}$"
    [ "$(wc -l <"$OUT")" -eq 1 ]
    [ "$before" = "$(seq_now)" ]
'

t 'status --check looks and counts, and records nothing [L2]' '
    some
    run "$VALISE" scan
    echo said | run "$VALISE" put-frame src/a.c -
    echo said | run "$VALISE" put-frame README -
    run "$VALISE" status
    stdout_matches "^context root: +[0-9a-f]{8}$"
    stdout_matches "^frame slots: +2$"
    stdout_matches "^current frames: +2$"
    stdout_matches "^frames: +2$"
    ! grep -q "differs\|fresh\|marked" "$OUT" || fail "it says more"
    echo other >README
    before=$(seq_now)
    run "$VALISE" status --check
    stdout_matches "^tree differs: +1$"
    stdout_matches "^current frames fresh: +1$"
    stdout_matches "^current frames stale: +1$"
    [ "$before" = "$(seq_now)" ]
    run "$VALISE" scan
    stdout_has "1 changed"
    run "$VALISE" status --check
    stdout_matches "^tree differs: +0$"
    stdout_matches "^current frames fresh: +1$"
    stdout_matches "^current frames stale: +1$"
    stdout_matches "^current frames orphaned: +0$"
'

t 'rules that are not applied are told, by the name of their file [C3]' '
    some
    { echo "*.tmp"; head -c 1100000 /dev/zero | tr "\\0" "#"; } >src/.gitignore
    touch src/x.tmp
    expect_exit 1 "$VALISE" scan
    stderr_has "valise: cannot read src/.gitignore: its rules were not applied: it has more than 1048576 bytes"
    run "$VALISE" tree ls src
    stdout_has "src/x.tmp"
'

t 'an edit taken back gives the root it had [C1 C12]' '
    some
    first=$(root)
    echo changed >README
    second=$(root)
    [ "$first" != "$second" ]
    echo 3 >README
    [ "$first" = "$(root)" ]
    run "$VALISE" tree list
    [ "$(grep -c "${first:0:8}" "$OUT")" -eq 2 ]
    run "$VALISE" tree ls --at "${second:0:8}"
    stdout_has "README"
    run "$VALISE" tree ls --at v1
    expect_exit 3 "$VALISE" tree ls --at 00000000
'

t 'two clones at two places have one root; permissions but the x bit and times do not count [C1]' '
    mkdir one two
    (cd one && some)
    sleep 0.01
    (cd two && some && touch -d 2001-01-01 README && chmod 600 src/a.c)
    a=$(cd one && root) b=$(cd two && root)
    [ "$a" = "$b" ]
    chmod +x two/src/a.c
    [ "$a" != "$(cd two && root)" ]
'

t 'only what changed is read [C5]' '
    some
    sleep 0.05
    run "$VALISE" scan
    sleep 0.05
    run "$VALISE" scan
    echo 22 >src/lib/b.c
    run "$VALISE" scan --json
    [ "$(json_get hashed)" -eq 1 ]
    [ "$(json_get changed)" -eq 1 ]
    run "$VALISE" scan --force --json
    [ "$(json_get hashed)" -eq 5 ]
'

t 'names are bytes: no UTF-8, newlines, colons [C1]' '
    some
    printf 1 >"$(printf "bad\\377name")"
    printf 1 >"$(printf "new\\nline")"
    printf 1 >"co:lon"
    run "$VALISE" scan
    run "$VALISE" tree ls
    stdout_has "bad" "new\\nline" "co:lon"
    run "$VALISE" tree ls "$(printf "bad\\377name")" --json
    stdout_has "{\"base64\":\"YmFk/25hbWU=\"}"
    run "$VALISE" validate
'

t 'a path alone can be scanned, and nothing else is looked at' '
    some
    run "$VALISE" scan
    echo 4 >README
    echo 5 >src/a.c
    run "$VALISE" scan src
    stdout_has "0 added, 1 changed, 0 removed"
    run "$VALISE" scan ./src/../README
    stdout_has "0 added, 1 changed, 0 removed"
    expect_exit 6 "$VALISE" scan ../x
    stderr_has "outside the tree"
'

t 'check-ignore says which rule [C3]' '
    some
    run "$VALISE" check-ignore junk.o
    printf ".gitignore:1:*.o\tjunk.o\n" | cmp - "$OUT"
    run "$VALISE" check-ignore build/ README keep.o .git/config
    stdout_has ".gitignore:3:build/" ".gitignore:2:!keep.o" "built-in::.git"
    # The exit codes of git.
    expect_exit 1 "$VALISE" check-ignore README keep.o
    printf ".gitignore:2:!keep.o\tkeep.o\n" | cmp - "$OUT"
    expect_exit 1 "$VALISE" check-ignore README
    stdout_is_empty
    stderr_is_empty
    run "$VALISE" config set tree.ignore "*.md"
    run "$VALISE" check-ignore a.md
    stdout_has "tree.ignore:1:*.md"
'

t 'what the workspace ignores is no part of the tree [C3]' '
    some
    first=$(root)
    echo 1 >notes.md
    [ "$first" != "$(root)" ]
    run "$VALISE" config set tree.ignore "*.md"
    [ "$first" = "$(root)" ]
'

t 'moves are told [C2]' '
    some
    run "$VALISE" scan
    mv src/lib/b.c src/c.c
    run "$VALISE" scan
    stdout_has "5 files, 3 directories, 1 link: 0 added, 0 changed, 0 removed, 1 moved  root "
    # A directory with all that is in it is one, and neither added nor removed.
    mv src code
    echo new >new
    rm run.sh
    run "$VALISE" scan
    stdout_has "5 files, 3 directories, 1 link: 1 added, 0 changed, 1 removed, 1 moved  root "
'

unreadable() {
    [ "$(id -u)" -ne 0 ] || skip "root can read and write everything"
    some
    chmod 0 README
    expect_exit 1 "$VALISE" scan
    stdout_has "4 files, 3 directories, 1 link, 1 unreadable: 9 added, "
    stderr_has "valise: cannot read README: "
    # It went on: what is as it was is no news, and still cannot be read.
    expect_exit 1 "$VALISE" -q scan
    stdout_is_empty
    stderr_has "valise: cannot read README: "
    run "$VALISE" tree ls README
    stdout_has "unreadable"
    chmod 600 README
    run "$VALISE" scan
    stdout_has "1 changed"
}
t 'what cannot be read is listed, and the rest goes on [C2]' unreadable

many() {
    local i
    for i in $(seq 1 "$1"); do
        mkdir "d$i"
        for j in 1 2 3 4 5 6 7 8 9 10; do
            echo "$i $j" >"d$i/f$j"
        done
    done
}

killed() {
    local i
    "$VALISE" -q init
    many 40
    for i in 0.005 0.01 0.02 0.03 0.05 0.08; do
        "$VALISE" -q scan &
        sleep "$i"
        kill -9 $! 2>/dev/null || true
        wait $! || true
        "$VALISE" validate >/dev/null
        [ "$("$VALISE" tree list --json | wc -l)" -le 1 ]
    done
    run "$VALISE" scan
    run "$VALISE" tree list --json
    [ "$(wc -l <"$OUT")" -eq 1 ]
    run "$VALISE" validate
}
t 'a scan that is killed leaves all of a version or nothing of it' killed

at_once() {
    local pids=() pid
    "$VALISE" -q init
    many 10
    for _ in 1 2 3 4; do
        "$VALISE" -q scan &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid"
    done
    run "$VALISE" tree list --json
    [ "$(wc -l <"$OUT")" -eq 1 ]
    run "$VALISE" validate
}
t 'scans at once make one version' at_once

read_only() {
    [ "$(id -u)" -ne 0 ] || skip "root can read and write everything"
    some
    run "$VALISE" scan
    chmod -R a-w .valise
    expect_exit 4 "$VALISE" scan
    stderr_has "reading only"
    run "$VALISE" tree ls
    run "$VALISE" check-ignore junk.o
    chmod -R u+w .valise
}
t 'a workspace that cannot be written cannot be scanned, but read' read_only

# --at behind these two takes what it takes everywhere, and roots and versions besides. [C13 K35]
past() {
    "$VALISE" -q init
    mkdir d && echo 1 >d/f && "$VALISE" -q scan
    echo one | "$VALISE" -q put-frame d/f -
    seq=$("$VALISE" log list --json --limit 1 | sed 's/.*"seq":\([0-9]*\).*/\1/')
    root=$("$VALISE" tree list --json | sed 's/.*"treeRoot":"\([^"]*\)".*/\1/')
    time=$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)
    echo 22 >>d/f && "$VALISE" -q scan
    echo two | "$VALISE" -q put-frame d/f -
    run "$VALISE" --at "$seq" get-node d/f
    cp "$OUT" before
    grep -q one before
    for at in "$seq" "$time"; do
        run "$VALISE" get-node d/f --at "$at"
        cmp before "$OUT"
        run "$VALISE" tree ls d --at "$at"
        stdout_has '2 B'
    done
    for at in v1 "$root" "${root:0:8}"; do
        run "$VALISE" get-node d/f --at "$at"
        stdout_has '2 B'
        run "$VALISE" tree ls d --at "$at"
        stdout_has '2 B'
    done
    run "$VALISE" tree ls d --at v2
    stdout_has '5 B'
    expect_exit 3 "$VALISE" tree ls --at 99
    stderr_has 'no seq 99 yet'
    expect_exit 6 "$VALISE" get-node d/f --at nonsense
    stderr_has 'a seq or a time'
}
t 'the past of a node and of a folder: roots, versions, seqs and times' past

t 'without a scan there is no tree' '
    "$VALISE" -q init
    expect_exit 3 "$VALISE" tree ls
    stderr_has "valise scan"
    run "$VALISE" tree list
    stdout_lacks "[0-9]"
'

done_testing
