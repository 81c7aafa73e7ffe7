#!/usr/bin/env bash
# 71-derive.sh -- synthesize, regenerate, invalidate, reaffirm: what people see; and runs that are
# killed, or beside others. [C15] to [C24]
. "$(dirname "$0")/lib.sh"

grow() {
    "$VALISE" -q init
    mkdir -p src/a src/b
    echo 1 >src/a/x.c
    echo 2 >src/a/y.c
    echo 3 >src/b/z.c
    for f in src/a/x.c src/a/y.c src/b/z.c; do
        echo "About $f." | "$VALISE" put-frame "$f" - -q
    done
}

shown() {
    grow
    run "$VALISE" synthesize --recursive
    stdout_matches '^new +src/b notes [0-9a-f]{8}$'
    stdout_matches '^new +\. notes [0-9a-f]{8}$'
    stdout_matches '^4 made, 0 unchanged  context [0-9a-f]{8}$'
    run "$VALISE" synthesize --recursive
    stdout_matches '^0 made, 4 unchanged'
    run "$VALISE" get-head . --type notes
    stdout_has '## src/' 'About src/a/x.c.'
    echo 'Something else.' | "$VALISE" put-frame src/a/x.c - -q
    run "$VALISE" regenerate --recursive --dry-run
    stdout_matches '^3 would be made'
    run "$VALISE" regenerate src/a
    stdout_matches '^changed +src/a notes [0-9a-f]{8} \(was [0-9a-f]{8}\)$'
    stdout_matches '^out of scope +src notes$'
    run "$VALISE" regenerate src/a --up 5 --dry-run
    stdout_matches '^2 would be made'
    run "$VALISE" regenerate src/a --up=1 --dry-run
    stdout_matches '^1 would be made'
    run "$VALISE" regenerate --up --dry-run src/a
    stdout_matches '^2 would be made'
    run "$VALISE" regenerate src/a --up
    stdout_matches '^2 made'
    echo 4 >src/a/y.c # a run looks at the files first
    run "$VALISE" regenerate --recursive
    stdout_matches '^needs its author +src/a/y.c notes$'
    run "$VALISE" reaffirm src/a/y.c
    stdout_matches '^src/a/y.c notes [0-9a-f]{8}  holds$'
    run "$VALISE" regenerate --recursive
    stdout_matches '^0 made'
    run "$VALISE" invalidate src/a --reason 'it is wrong'
    stdout_has '1 head invalidated'
    run "$VALISE" get-head src/a
    stdout_has invalidated
    cd src/a
    run "$VALISE" regenerate
    stdout_matches '^0 made' # the root: what is meant is said by a path
    run "$VALISE" regenerate .
    stdout_matches '^the same again +\. notes'
    run "$VALISE" validate
}
t 'what is made, and why not' shown

# "`--type` alone means input and output"; or each is said. [C15]
selected() {
    grow
    echo 'Short.' | "$VALISE" put-frame src/a/x.c - --type brief -q
    run "$VALISE" synthesize src/a --type brief
    run "$VALISE" get-head src/a --type brief
    stdout_has '## x.c (brief'
    stdout_lacks notes
    run "$VALISE" synthesize src/a --type '*' --output all
    run "$VALISE" get-head src/a --type all --json
    one=$(json_get text)
    run "$VALISE" synthesize src/a --input '*' --type other
    run "$VALISE" get-head src/a --type other --json
    [ "$(json_get text)" = "$one" ]
    case $one in *'(brief'*'(notes'*) ;; *) fail "not all of them: $one" ;; esac
    run "$VALISE" synthesize src/a --input brief
    run "$VALISE" get-head src/a --type notes
    stdout_has '## x.c (brief'
    run "$VALISE" synthesize src/a --input brief --type other --output third
    run "$VALISE" get-head src/a --type third
    stdout_has '## x.c (brief'
    expect_exit 6 "$VALISE" synthesize src/a --input 'n*' --type 'n*'
    stderr_has 'n*' '--output'
    expect_exit 6 "$VALISE" synthesize src/a --input '[' --type other
}
t 'what goes in and what comes out [C15]' selected

# A dry run records nothing, so it is about the last scan: it says when the files have changed. [C22]
tried() {
    mkdir ../tried && cd ../tried
    "$VALISE" init -q
    mkdir d && echo 1 >d/f && "$VALISE" -q scan
    echo note | "$VALISE" -q put-frame d/f -
    run "$VALISE" synthesize d --dry-run
    stdout_lacks outdated
    "$VALISE" -q synthesize d
    echo 2 >d/f
    run "$VALISE" regenerate --recursive --dry-run
    stdout_has 'tree: outdated'
    run "$VALISE" regenerate --recursive --dry-run --json
    json_is tree outdated
    run "$VALISE" synthesize d --dry-run
    stdout_has 'tree: outdated'
    run "$VALISE" regenerate --recursive --dry-run --no-scan
    stdout_lacks outdated
    run "$VALISE" tree list --json
    [ "$(wc -l <"$OUT")" = 1 ]
    run "$VALISE" regenerate --recursive
    stdout_has 'needs its author'
    run "$VALISE" regenerate --recursive --dry-run
    stdout_lacks outdated
}
t 'a dry run says when the files have changed since the scan it is about [C22]' tried

# invalidate looks at the file first, as every write does, unless it is told not to. [C10]
marked() {
    mkdir ../marked && cd ../marked
    "$VALISE" init -q
    echo 1 >f && "$VALISE" -q scan
    echo note | "$VALISE" -q put-frame f -
    node=$("$VALISE" get-node f --json | sed 's/.*"nodeId":"\([^"]*\)".*/\1/')
    echo 2 >f
    run "$VALISE" invalidate f --no-scan --reason old
    run "$VALISE" tree list --json
    [ "$(wc -l <"$OUT")" = 1 ]
    run "$VALISE" invalidate f
    stdout_is '0 heads invalidated, 1 was before'
    run "$VALISE" tree list --json
    [ "$(wc -l <"$OUT")" = 2 ]
    echo 3 >f
    run "$VALISE" invalidate "$node" --json
    json_is tree earlier
    run "$VALISE" invalidate "${node:0:12}"
    stdout_has 'given by an earlier version of the file'
    run "$VALISE" tree list --json
    [ "$(wc -l <"$OUT")" = 3 ]
    rm f
    run "$VALISE" invalidate f
    expect_exit 3 "$VALISE" get-node f
    run "$VALISE" validate
}
t 'invalidate looks at the file, and says so of an earlier node [C10]' marked

# "invalidate ... --reason": who reads that something is not to be relied on reads why. [C24]
reasons() {
    local long
    grow
    run "$VALISE" agent add critic --role writer
    run "$VALISE" get-head src/a/x.c --json
    stdout_lacks '"reason"'
    run "$VALISE" invalidate src/a/x.c --reason 'it is about the old parser' --agent critic
    run "$VALISE" get-head src/a/x.c
    stdout_has 'invalidated: it is about the old parser  '
    run "$VALISE" list-frames src/a/x.c
    stdout_has 'invalidated: it is about the old parser'
    run "$VALISE" compose src/a/x.c
    stdout_has 'invalidated: it is about the old parser'
    run "$VALISE" get-head src/a/x.c --json
    json_is meta.reason 'it is about the old parser'
    json_is meta.invalidatedBy critic
    # What is put beside the head, and where the file lies, changes nothing of that.
    mv src/a/x.c src/a/w.c
    run "$VALISE" scan
    run "$VALISE" get-head src/a/w.c --json
    json_is meta.reason 'it is about the old parser'
    # It goes with the mark. A second one has its own; a long one is cut, and none is none.
    run "$VALISE" reaffirm src/a/w.c
    run "$VALISE" get-head src/a/w.c --json
    stdout_lacks '"reason"'
    stdout_lacks invalidatedBy
    long=$(printf 'x%.0s' {1..100})
    run "$VALISE" invalidate src/a/w.c --reason "$long"$'\nand more'
    run "$VALISE" get-head src/a/w.c
    stdout_matches '^notes [0-9a-f]{8}  invalidated: x{59}…  local'
    run "$VALISE" reaffirm src/a/w.c
    run "$VALISE" invalidate src/a/w.c
    run "$VALISE" get-head src/a/w.c
    stdout_matches '^notes [0-9a-f]{8}  invalidated  local'
}
t 'why something was invalidated is shown [C24]' reasons

# Nobody scanned before: a run does.
first() {
    "$VALISE" -q init
    mkdir -p src/a
    echo 1 >src/a/x.c
    expect_exit 3 "$VALISE" synthesize --no-scan
    stderr_has 'valise scan'
    run "$VALISE" regenerate src
    stdout_matches '^0 made'
    rm -rf .valise
    "$VALISE" -q init
    expect_exit 3 "$VALISE" synthesize no/such
    run "$VALISE" synthesize src --recursive
    stdout_matches '^2 made, 0 unchanged, 1 entry without a frame'
    run "$VALISE" validate
}
t 'the first run in a workspace' first

# Above and below what is meant, whether or not something was made.
rest() {
    grow
    "$VALISE" -q synthesize --recursive
    echo 'Something else.' | "$VALISE" put-frame src/a/x.c - -q
    for node in . src src/a/x.c src/b; do
        run "$VALISE" regenerate "$node" --dry-run
        case $node in src/b) stdout_lacks 'out of scope' ;; *) stdout_matches '^out of scope +src/a notes$' ;; esac
    done
    run "$VALISE" regenerate src/a
    [ "$(grep -c '^out of scope' "$OUT")" = 1 ] # told once
    run "$VALISE" regenerate src/b
    stdout_matches '^out of scope +src notes$'
    run "$VALISE" regenerate --recursive
    stdout_lacks 'out of scope'
    run "$VALISE" regenerate src/a
    stdout_lacks 'out of scope'
}
t 'what does not hold and was not meant is told [C21]' rest

wrong() {
    grow
    expect_exit 3 "$VALISE" synthesize no/such
    expect_exit 6 "$VALISE" synthesize src/a/x.c
    expect_exit 3 "$VALISE" synthesize src --policy nonsense
    stderr_has "no policy 'nonsense'" concatenation
    expect_exit 6 "$VALISE" synthesize src --type 'n*'
    stderr_has --output
    expect_exit 6 "$VALISE" synthesize src --params '{"budget":1}'
    expect_exit 6 "$VALISE" synthesize src --params '{"nonsense":1}'
    expect_exit 3 "$VALISE" invalidate src
    expect_exit 3 "$VALISE" reaffirm src
    echo mine | "$VALISE" put-frame src - -q
    expect_exit 5 "$VALISE" synthesize src
    stderr_has --replace
    expect_exit 5 "$VALISE" synthesize src --output other --strict
    run "$VALISE" agent add r --role reader
    expect_exit 4 "$VALISE" synthesize src --replace --agent r
    expect_exit 4 "$VALISE" regenerate --agent r
    expect_exit 4 "$VALISE" invalidate src/a/x.c --agent r
    expect_exit 4 "$VALISE" reaffirm src/a/x.c --agent r
    run "$VALISE" list-frames src
    stdout_lacks derived
    run "$VALISE" validate
}
t 'what cannot be' wrong

# The context root of a workspace that is built from nothing with what this one has.
rebuilt() {
    local there=$LIB_ROOT/rebuilt dir
    rm -rf "$there"
    mkdir "$there"
    tar -c --exclude=.valise . | tar -x -C "$there"
    "$VALISE" -q init "$there"
    find . -name .valise -prune -o -type f -printf '%P\n' | while read -r f; do
        "$VALISE" get-head "$f" --type notes >"$LIB_ROOT/note"
        "$VALISE" -C "$there" put-frame "$f" "$LIB_ROOT/note" -q
    done
    "$VALISE" -C "$there" synthesize --recursive -q
    "$VALISE" -C "$there" regenerate --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["contextRoot"])'
}

root() {
    "$VALISE" regenerate --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["contextRoot"])'
}

# kill -9 at any moment: nothing is half done, and the next run finishes it. [C23]
killed() {
    grow
    for d in 1 2 3 4 5 6 7 8; do
        mkdir -p "deep/$d/$d"
        echo "$d" >"deep/$d/$d/f.c"
        echo "Number $d." | "$VALISE" put-frame "deep/$d/$d/f.c" - -q
    done
    run "$VALISE" synthesize --recursive
    for i in $(seq 12); do
        for d in 1 3 5 7; do
            echo "Round $i of $d." | "$VALISE" put-frame "deep/$d/$d/f.c" - -q
        done
        "$VALISE" regenerate --recursive -q &
        sleep "0.0$((RANDOM % 60 + 10))"
        kill -9 $! 2>/dev/null || true
        wait $! 2>/dev/null || true
        run "$VALISE" validate
        if [ $((i % 4)) = 0 ]; then
            run "$VALISE" regenerate --recursive
            run "$VALISE" regenerate --recursive
            stdout_matches '^0 made'
        fi
    done
    [ "$(root)" = "$(rebuilt)" ]
}
t 'a run that is killed leaves nothing half done' killed

# "Concurrent regeneration handled safely (no corruption)": runs beside runs, and beside puts.
beside() {
    grow
    run "$VALISE" synthesize --recursive
    for n in 1 2 3; do
        (for i in $(seq 8); do
            echo "By $n, $i." | "$VALISE" put-frame "src/a/x.c" - -q
            "$VALISE" regenerate --recursive -q || echo "$?" >>"$LIB_ROOT/failed"
        done) &
    done
    wait
    # who lost three times said so (5), and nothing else
    [ ! -f "$LIB_ROOT/failed" ] || ! grep -qv '^5$' "$LIB_ROOT/failed"
    run "$VALISE" regenerate --recursive
    run "$VALISE" regenerate --recursive
    stdout_matches '^0 made'
    run "$VALISE" validate
    [ "$(root)" = "$(rebuilt)" ]
}
t 'runs at once, beside puts' beside

done_testing
