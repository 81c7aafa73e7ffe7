#!/usr/bin/env bash
# 72-checkpoint.sh -- keep the bytes of files, and bring them back. [C31]
. "$(dirname "$0")/lib.sh"

some() {
    "$VALISE" -q init
    mkdir -p src/lib empty .git
    echo 1 >src/a.c
    echo 2 >src/lib/b.c
    echo 3 >README
    ln -s README link
    printf '#!/bin/sh\n' >run.sh
    chmod 755 run.sh
    chmod 600 README
    printf '*.o\n' >.gitignore
    echo x >junk.o
    echo '[core]' >.git/config
}

# All there is but .valise: names, modes, bytes, targets.
shown() {
    find . -path ./.valise -prune -o -printf '%y %m %p %l\n' | LC_ALL=C sort
    find . -path ./.valise -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
}

t 'keep, wreck, restore, undo [C31]' '
    some
    run "$VALISE" checkpoint one
    stdout_is "checkpoint one: 5 files, 3 directories, 1 link, 20 B; 5 contents new, 20 B"
    shown >../before
    echo edited >src/a.c
    chmod 644 README
    rm -r src/lib empty link
    echo new >new.c
    shown >../wrecked
    run "$VALISE" restore one --dry-run
    stdout_has "replace src/a.c" "mode    README" "create  src/lib/b.c" "create  link"
    stdout_matches "^would be: 6 restored, 4 unchanged, 1 kept that the checkpoint does not have$"
    shown | diff ../wrecked -
    run "$VALISE" restore one --delete
    stdout_has "delete  new.c" "6 restored, 4 unchanged, 1 deleted"
    stdout_matches "^to undo: valise restore before-restore-[0-9]+ --delete$"
    shown | diff ../before -
    $(sed -n "s|^to undo: valise|run $VALISE|p" "$OUT")
    shown | diff ../wrecked -
    run "$VALISE" validate
'

t 'without a name, and with nothing changed, nothing is made' '
    some
    run "$VALISE" checkpoint
    stdout_matches "^checkpoint checkpoint-[0-9]+: 5 files"
    run "$VALISE" checkpoint
    stdout_matches "^nothing changed since checkpoint checkpoint-[0-9]+$"
    run "$VALISE" checkpoint list --json
    [ "$(wc -l <"$OUT")" -eq 1 ]
'

t 'list, show, remove' '
    some
    run "$VALISE" checkpoint one
    echo more >src/a.c
    run "$VALISE" checkpoint two
    stdout_has "1 content new, 5 B"
    run "$VALISE" checkpoint list
    stdout_matches "^two +2 +[0-9a-f]{8} "
    stdout_matches "^one +1 +[0-9a-f]{8} "
    run "$VALISE" checkpoint show one
    stdout_matches "^run.sh +file +755 +10 B +[0-9a-f]{8}$"
    stdout_matches "^link +link +README$"
    run "$VALISE" checkpoint show v2 src
    stdout_lacks README
    run "$VALISE" checkpoint remove one
    stdout_is "removed checkpoint one; 1 content, 2 B, no other needs"
    expect_exit 3 "$VALISE" restore one
    stderr_has "there is no checkpoint" "valise checkpoint list"
    expect_exit 6 "$VALISE" checkpoint "a b"
    expect_exit 1 "$VALISE" checkpoint two
    stderr_has "a checkpoint "
'

t 'a verb is no name, unless it is said to be one [C31 L5]' '
    some
    for word in ls create add new rm delete restore; do
        expect_exit 2 "$VALISE" checkpoint "$word"
        stderr_has "did you mean" "valise checkpoint -- $word"
    done
    expect_exit 2 "$VALISE" checkpoint ls
    stderr_has "'"'valise checkpoint list'"'?"
    expect_exit 2 "$VALISE" checkpoint -q rm x
    stderr_has "'"'valise checkpoint remove'"'?"
    expect_exit 2 "$VALISE" tree checkpoint create x
    stderr_has "'"'valise tree checkpoint NAME'"'?"
    expect_exit 2 "$VALISE" checkpoint restore x
    stderr_has "'"'valise restore NAME'"'?"
    run "$VALISE" checkpoint list --json
    stdout_is_empty
    run "$VALISE" checkpoint ls --help
    run "$VALISE" checkpoint -- ls
    run "$VALISE" run tree:checkpoint "{\"name\":\"new\"}"
    run "$VALISE" checkpoint list
    stdout_has "ls " "new "
'

t 'paths are from the current folder' '
    some
    run "$VALISE" checkpoint one
    rm -r src README
    mkdir src && cd src
    run "$VALISE" restore one lib
    stdout_has "create  lib/b.c"
    is_gone ../README
    exists lib/b.c
    is_gone a.c
    run "$VALISE" restore one a.c ../README
    file_is ../README 3
    expect_exit 3 "$VALISE" restore one nothing
    stderr_has "the checkpoint has no"
'

t 'what is in the way is told, and left alone' '
    some
    run "$VALISE" checkpoint one
    rm src/a.c && mkdir src/a.c && echo obj >src/a.c/x.o
    expect_exit 1 "$VALISE" restore one
    stderr_has "valise: in the way: src/a.c: a rule leaves what lies there out of the tree"
    exists src/a.c/x.o
    file_is junk.o x
'

t 'files over checkpoint.max-file are told, and left alone' '
    some
    run "$VALISE" config set checkpoint.max-file 1000
    truncate -s 4G disk.img
    head -c 2000 /dev/zero >medium
    run "$VALISE" checkpoint one
    stderr_has "valise: it lacks disk.img: it is larger than checkpoint.max-file" "it lacks medium"
    run "$VALISE" restore one --delete
    stderr_has "the checkpoint lacks disk.img"
    exists disk.img
    head -c 2000 /dev/urandom >README
    expect_exit 5 "$VALISE" restore one
    stderr_has "would be overwritten and cannot be saved" "--force"
    run "$VALISE" restore one --force
    stdout_matches "^to undo: valise restore .* --delete  \(but for README, which could not be saved\)$"
    file_is README 3
'

t 'what could not be saved for another reason than its size is a failure [C31]' '
    some
    mkdir .Git && echo x >.Git/x
    expect_exit 1 "$VALISE" checkpoint one
    stderr_has "valise: it lacks .Git"
    expect_exit 1 "$VALISE" checkpoint two --json
    json_is failedCount 1
    rm -r .Git
    if [ "$(id -u)" -ne 0 ]; then
        mkdir closed && echo x >closed/x && chmod 000 closed
        expect_exit 1 "$VALISE" checkpoint three
        chmod 755 closed && rm -r closed
    fi
    run "$VALISE" checkpoint four
'

t 'a parent that is a link leads nowhere' '
    some
    run "$VALISE" checkpoint one
    mkdir ../outside && echo mine >../outside/a.c
    rm -r src && ln -s ../outside src
    run "$VALISE" restore one
    file_is ../outside/a.c mine
    [ "$(ls ../outside)" = a.c ]
    file_is src/a.c 1
'

t 'a content that is erased leaves the checkpoints' '
    some
    echo secret >key
    run "$VALISE" checkpoint one
    hash=$(sha256sum <key | cut -d" " -f1)
    run "$VALISE" erase "tree_content/$hash"
    stdout_has "tree_content/$hash"
    run "$VALISE" checkpoint show one key
    stdout_has "its content was erased"
    rm key
    run "$VALISE" restore one
    stderr_has "the checkpoint lacks key: its content was erased"
    is_gone key
    run "$VALISE" validate
'

t 'a bundle has checkpoints with their bytes' '
    some
    run "$VALISE" checkpoint one
    run "$VALISE" export ../all.vb
    mkdir ../other && cd ../other
    run "$VALISE" init
    run "$VALISE" import ../all.vb
    run "$VALISE" restore one
    file_is src/lib/b.c 2
    [ "$(stat -c %a README)" = 600 ]
    [ "$(readlink link)" = README ]
'

t 'git sees nothing of it' '
    need git
    git init -q .
    "$VALISE" -q init
    echo 1 >a && git add a && git -c user.name=x -c user.email=x@y commit -qm x
    find .git -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum >../git
    run "$VALISE" checkpoint one
    echo 2 >a
    run "$VALISE" restore one --delete
    find .git -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | diff ../git -
    file_is a 1
'

done_testing
