#!/usr/bin/env bash
# 76-diff.sh -- what is different: states, checkpoints, lines. [C28] [C31]
. "$(dirname "$0")/lib.sh"

some() {
    "$VALISE" -q init
    mkdir -p src/lib
    printf 'one\ntwo\nthree\n' >src/a.c
    echo 2 >src/lib/b.c
    echo old >moves.c
    echo 3 >README
}

say() { # NODE TYPE TEXT
    printf '%s' "$3" >../said
    "$VALISE" -q put-frame "$1" ../said --type "$2"
}

t 'since the checkpoint, or since the version before [C28]' '
    some
    "$VALISE" -q scan
    echo 4 >README
    "$VALISE" -q scan
    run "$VALISE" diff
    stdout_is "changed     README"
    "$VALISE" -q checkpoint one
    run "$VALISE" diff
    stdout_is_empty
    printf "one\n2\nthree\n" >src/a.c
    mv moves.c moved.c
    chmod +x README
    echo new >new.c
    "$VALISE" -q scan
    say src/a.c notes "what it does"
    run "$VALISE" diff
    stdout_matches "^changed     README  \+x$"
    stdout_has "moved       moves.c -> moved.c" "added       new.c" "changed     src/a.c"
    stdout_matches "^added       src/a.c \[notes\] [0-9a-f]{8} by local$"
    run "$VALISE" diff --stat
    stdout_is "files: 1 added, 2 changed, 1 moved; known: 1 added"
    run "$VALISE" diff --nodes --limit 1
    stdout_is "changed     README  +x"
    run "$VALISE" diff --context --json
    [ "$(wc -l <"$OUT")" -eq 1 ]
    json_is what slot
    run "$VALISE" get-node README --json
    id=$(json_get node.objectId)
    run "$VALISE" diff --nodes --json
    json_is [0].path README
    json_is [0].after.objectId "$id"
    run "$VALISE" diff v1 v2
    stdout_is "changed     README"
'

t 'the lines that differ, which git and patch can apply [C31]' '
    some
    printf "no end" >tail
    printf "a\0a" >bin
    ln -s README link
    "$VALISE" -q checkpoint one
    cp -a . ../copy
    printf "one\n2\nthree\nfour" >src/a.c
    printf "no end\n" >tail
    mv moves.c "moved away.c"
    chmod +x README
    rm -r src/lib
    printf "a\0b" >bin
    printf "b\0b" >bin2
    ln -sf tail link
    "$VALISE" -q scan
    run "$VALISE" diff -p --nodes
    stdout_has "+++ b/src/a.c" "rename to moved away.c" "new mode 100755" "deleted file mode 100644" \
        "\\ No newline at end of file" "Binary files /dev/null and b/bin2 differ" \
        "Binary files a/bin and b/bin differ"
    cp "$OUT" ../patch
    cp -a ../copy ../copy2
    # What is no text is not in it, which git says; the rest is.
    expect_exit 1 git -C ../copy apply ../patch
    stderr_has "cannot apply binary patch to " bin
    (cd ../copy && rm -rf .valise && git apply --whitespace=nowarn --exclude="bin*" ../patch)
    cp bin bin2 ../copy
    diff -r --no-dereference -x .valise . ../copy
    # No rename here: `patch` does not take blanks in one.
    "$VALISE" diff -p --nodes -- bin bin2 link tail src README >../patch
    (cd ../copy2 && patch -s -p1 <../patch && mv moves.c "moved away.c")
    cp bin bin2 ../copy2
    diff -r --no-dereference -x .valise . ../copy2
    test -x ../copy/README
    run "$VALISE" diff one --patch -- src
    stdout_has "-two" "+2" "+four"
    stdout_lacks README
'

t 'what frames say, line by line' '
    some
    "$VALISE" -q scan
    say README notes "first
second"
    run "$VALISE" get-node README --json
    root=$(json_get contextRoot)
    say README notes "first
2nd"
    run "$VALISE" diff "$root" -p
    stdout_matches "^changed     README \[notes\] [0-9a-f]{8} -> [0-9a-f]{8} by local$"
    stdout_matches "^--- frame [0-9a-f]{8} README \[notes\]$"
    stdout_has "-second" "+2nd"
    run "$VALISE" diff "${root:0:12}" --context --stat
    stdout_is "files: nothing; known: 1 changed"
'

t 'paths stand behind the dashes, and count from the current folder' '
    some
    "$VALISE" -q scan
    echo x >src/a.c
    echo y >README
    "$VALISE" -q scan
    run "$VALISE" diff -- src
    stdout_is "changed     src/a.c"
    run "$VALISE" diff v1 -- README
    stdout_is "changed     README"
    run "$VALISE" diff v1 v2 src/lib README
    stdout_is "changed     README"
    cd src
    run "$VALISE" diff
    stdout_is "changed     ../README
changed     a.c"
    run "$VALISE" diff -- .
    stdout_is "changed     a.c"
    expect_exit 3 "$VALISE" diff a.c
    stderr_has "there was no state" "paths follow --"
'

t 'the exit code says whether there is something' '
    some
    "$VALISE" -q scan
    expect_exit 0 "$VALISE" diff now now --exit-code
    echo x >README
    "$VALISE" -q scan
    expect_exit 0 "$VALISE" diff
    expect_exit 8 "$VALISE" diff --exit-code
    expect_exit 8 "$VALISE" diff --exit-code --stat
    expect_exit 0 "$VALISE" diff --exit-code -- src
    "$VALISE" -q checkpoint one
    expect_exit 0 "$VALISE" checkpoint diff one --exit-code
    echo y >README
    expect_exit 8 "$VALISE" checkpoint diff one --exit-code
'

t 'a checkpoint against the files as they are, and against another [C31]' '
    some
    "$VALISE" -q checkpoint one
    run "$VALISE" checkpoint diff one
    stdout_is_empty
    before=$("$VALISE" tree list --json | wc -l)
    chmod 600 README
    printf "one\nTWO\nthree\n" >src/a.c
    rm moves.c
    echo n >new
    run "$VALISE" checkpoint diff one
    stdout_is "mode        README  644 -> 600
removed     moves.c
added       new
changed     src/a.c"
    [ "$("$VALISE" tree list --json | wc -l)" -eq "$before" ]
    run "$VALISE" checkpoint diff one -p -- src
    stdout_is "diff --git a/src/a.c b/src/a.c
--- a/src/a.c
+++ b/src/a.c
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three"
    "$VALISE" -q checkpoint two
    run "$VALISE" checkpoint diff two one src
    stdout_is "changed     src/a.c"
    expect_exit 3 "$VALISE" checkpoint diff three
    stderr_has "there is no checkpoint"
'

t 'names with control characters are quoted, also in patches' '
    some
    "$VALISE" -q checkpoint one
    name=$(printf "bell\007 and\nline")
    echo x >"$name"
    run "$VALISE" checkpoint diff one
    stdout_is "added       \"bell\\a and\\nline\""
    run "$VALISE" checkpoint diff one -p
    stdout_has "+++ \"b/bell\\a and\\nline\""
    "$VALISE" -q scan
    run "$VALISE" diff
    stdout_is "added       \"bell\\a and\\nline\""
'

t 'what is no state, or nothing to compare' '
    "$VALISE" -q init
    expect_exit 3 "$VALISE" diff
    stderr_has "the files were never scanned"
    echo 1 >a
    "$VALISE" -q scan
    run "$VALISE" diff
    stdout_is "added       a"
    for wrong in v99 ffffffffff nothing "" "-- -x" seq:-1 "$(printf "\033[31m")"; do
        run_status=0
        "$VALISE" diff "$wrong" >"$OUT" 2>../err || run_status=$?
        [ "$run_status" -ne 0 ] || [ -z "$wrong" ] || fail "took: $wrong"
        ! grep -q "$(printf "\033")" ../err || fail "an escape went through"
    done
    expect_exit 2 "$VALISE" scan -p
'

t 'a derived frame tells which frames it was made of' '
    some
    "$VALISE" -q scan
    say src/a.c notes "About a."
    run "$VALISE" head get src/a.c --type notes --json
    first=$(json_get frameId)
    run "$VALISE" synthesize src --json
    run "$VALISE" head get src --type notes --json
    made=$(json_get frameId)
    run "$VALISE" frame show "$made"
    stdout_matches "^ +said [0-9a-f]{8}, notes of a.c, frame ${first:0:8}$"
    # The child says something else now: what it said then is still found in its slot.
    say src/a.c notes "More about a."
    run "$VALISE" frame show "$made"
    stdout_has "notes of a.c, frame ${first:0:8}"
    "$VALISE" -q agent add some --role none --capability "context:read path=src"
    run "$VALISE" frame show "$made" --agent some
    stdout_has "notes of a.c"
    stdout_lacks ", frame"
'

done_testing
