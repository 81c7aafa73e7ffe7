#!/usr/bin/env bash
# 62-real-trees.sh -- trees that nobody made for a test: their files are those that git finds, and
# their ids those that docs/formats.md gives, computed without Valise. [C1] [C3] [C9] [C11]
#
# Copies of parts of /usr/include and /usr/share/doc; with VALISE_TEST_LONG=1 all of both.
. "$(dirname "$0")/lib.sh"

FORMATS=$LIB_DIR/formats.py
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null

# What git finds here, and directories that have no entries, each followed by NUL.
git_files() {
    git init -q --bare "$LIB_ROOT/git"
    (
        export GIT_DIR=$LIB_ROOT/git GIT_WORK_TREE=$PWD
        git ls-files -o -z --exclude-per-directory=.gitignore --exclude=/.valise/
        # git does not speak of them, but of their rules it does
        find . -mindepth 1 -path ./.valise -prune -o -type d -empty -printf '%P/\0' \
            >"$LIB_ROOT/empty"
        git check-ignore -z --no-index --stdin <"$LIB_ROOT/empty" >"$LIB_ROOT/ignored" || true
        python3 -c '
import sys
empty, ignored = (open(name, "rb").read().split(b"\0") for name in sys.argv[1:])
sys.stdout.buffer.write(b"".join(p[:-1] + b"\0" for p in empty if p and p not in ignored))
' "$LIB_ROOT/empty" "$LIB_ROOT/ignored"
    )
    rm -rf "$LIB_ROOT/git"
}

# The root that the files git finds here have, and the one that a scan gives; where they differ,
# where that begins. $1: files there are at least.
same_as_git() {
    local want
    git_files >"$LIB_ROOT/paths"
    [ "$(tr -cd '\0' <"$LIB_ROOT/paths" | wc -c)" -ge "$1" ] || fail "too few files"
    want=$(python3 "$FORMATS" root . <"$LIB_ROOT/paths")
    [ -d .valise ] || run "$VALISE" init
    run "$VALISE" scan --json
    [ "$want" = "$(json_get treeRoot)" ] || {
        python3 "$FORMATS" nodes . <"$LIB_ROOT/paths" | tr '\0' ' ' |
            awk '!/\// {print $1, substr($2, 1, 8)}' | sort >"$LIB_ROOT/want"
        "$VALISE" tree ls --json | python3 -c '
import json, sys
for line in sys.stdin:
    node = json.loads(line)
    print(node["path"], node["nodeId"][:8])
' | sort | diff "$LIB_ROOT/want" - | head -n 20
        fail "not as git has it"
    }
    run "$VALISE" validate
}

real() {
    need git
    [ -d "$1" ] || skip "there is no $1"
    cp -a "$1" ws
    cd ws
    same_as_git "$2"
}

linux() { real /usr/include/linux 100; }
t 'the headers of Linux: the file set equals git'\''s' linux

docs() {
    need git
    [ -d /usr/share/doc ] || skip "there is no /usr/share/doc"
    mkdir part
    cp -a /usr/share/doc/[a-d]* part
    cd part
    same_as_git 10
}
t 'a part of /usr/share/doc: the file set equals git'\''s' docs

whole() {
    [ -n "${VALISE_TEST_LONG:-}" ] || skip "only in make test-long"
    real "$1" 100
}
all_headers() { whole /usr/include; }
all_docs() { whole /usr/share/doc; }
t 'all of /usr/include: the file set equals git'\''s' all_headers
t 'all of /usr/share/doc: the file set equals git'\''s' all_docs

# Real names under rules of every kind, at every level; then edits of the rules, and rescans.
ruled() {
    need git
    [ -d /usr/include/linux ] || skip "there is no /usr/include/linux"
    mkdir tree
    cp -a /usr/include/linux/. tree
    mkdir -p tree/none/at-all tree/netfilter/empty tree/left/out/x tree/some
    echo 1 >tree/left/out/x/a.log
    printf '%s\n' '*.log' '/[a-f]*.h' '!/elf*.h' 'left/' 'byteorder' '**/if_*' '!if_link.h' \
        'some/**/deep' '\#x' 'trailing ' >tree/.gitignore
    printf '*\n!*_tables.h\n!ip*/\n' >tree/netfilter/.gitignore
    printf '!*.log\n/none\n' >tree/some/.gitignore
    mkdir -p tree/some/a/b/deep tree/some/none
    echo 1 >tree/some/a/b/deep/x
    echo 1 >tree/some/a/b/y.log
    echo 1 >"tree/#x"
    ln -s nowhere tree/some/dangling
    ln -s .. tree/some/loop
    cd tree
    same_as_git 50
    printf '!*.h\n' >>.gitignore
    same_as_git 100
    rm netfilter/.gitignore
    same_as_git 120
    rm .gitignore some/.gitignore
    same_as_git 700
}
t 'a real tree with rules in it: the file set equals git'\''s, after each edit of them' ruled

# git does not look into repositories inside of a tree. We do: their files lie there.
nested() {
    need git
    mkdir tree tree/sub
    git init -q tree/sub
    echo 1 >tree/sub/a.c
    echo 2 >tree/b.c
    cd tree
    run "$VALISE" init
    run "$VALISE" scan
    run "$VALISE" tree ls sub
    stdout_has a.c
    stdout_lacks .git
}
t 'repositories in the tree are directories, but for their .git' nested

# ---- clones ----

# What a workspace answers about a node, but for what depends on how it came there.
shown() {
    "$VALISE" get-node "$2" --json -C "$1" | python3 -c '
import json, sys
answer = json.load(sys.stdin)
del answer["meta"]
for frame in answer["frames"]:
    del frame["meta"]
print(json.dumps(answer, sort_keys=True))
'
}

roots() {
    "$VALISE" get-node . --json -C "$1" | python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(answer["treeRoot"], answer["contextRoot"])
'
}

# [C1] [C11] [C12] [C13]
clones() {
    local first
    mkdir one
    cp -a /usr/include/linux/netfilter one/sub 2>/dev/null || mkdir one/sub
    echo 1 >one/sub/a.c
    echo 2 >one/b.c
    mkdir -p far/away
    cp -r one far/away/two # other times, other inodes
    for ws in one far/away/two; do
        run "$VALISE" init "$ws"
        run "$VALISE" scan -C "$ws"
    done
    echo 'about a' >notes
    for ws in one far/away/two; do
        for node in sub/a.c sub .; do
            run "$VALISE" put-frame "$node" "$PWD/notes" -C "$ws"
        done
    done
    first=$(roots one)
    [ "$first" = "$(roots far/away/two)" ]
    for node in sub/a.c sub . b.c; do
        [ "$(shown one "$node")" = "$(shown far/away/two "$node")" ]
    done
    # Edit, revert: the root it had, and frames are fresh again.
    echo changed >one/sub/a.c
    run "$VALISE" scan -C one
    [ "$first" != "$(roots one)" ]
    for node in sub/a.c sub .; do
        run "$VALISE" get-head "$node" --json -C one
        json_is state stale
    done
    echo 1 >one/sub/a.c
    run "$VALISE" scan -C one
    [ "$first" = "$(roots one)" ]
    for node in sub/a.c sub .; do
        run "$VALISE" get-head "$node" --json -C one
        json_is state fresh
    done
    [ "$(shown one sub/a.c)" = "$(shown far/away/two sub/a.c)" ]
    # A moved directory takes its slots along, the same way in both.
    for ws in one far/away/two; do
        mkdir "$ws/lib"
        mv "$ws/sub" "$ws/lib/moved"
        run "$VALISE" scan -C "$ws"
        for node in lib/moved/a.c lib/moved; do
            run "$VALISE" get-head "$node" --json -C "$ws"
            json_is state fresh
            json_is meta.movedFrom "sub${node#lib/moved}"
        done
        run "$VALISE" validate -C "$ws"
    done
    [ "$(roots one)" = "$(roots far/away/two)" ]
    [ "$(shown one lib/moved/a.c)" = "$(shown far/away/two lib/moved/a.c)" ]
}
t 'clones at two places have one root, edits taken back too; directories take slots along' clones

# ---- ids ----

vectors() {
    [ -n "${VALISE_SOURCE_ROOT:-}" ] || skip "VALISE_SOURCE_ROOT is not set"
    run python3 "$FORMATS" vectors "$VALISE_SOURCE_ROOT/docs/formats.md"
    stdout_matches '^[1-9][0-9]+ vectors$'
}
t 'the ids in docs/formats.md are what its text says, computed without Valise' vectors

# Frames about a few files: every id and root of them, computed from the document alone.
ids() {
    local object basis frame
    run "$VALISE" init
    mkdir src
    printf 'int a;\n' >src/a.c
    printf '#!/bin/sh\n' >src/run
    chmod 755 src/run
    ln -s a.c src/ln
    mkdir none
    run "$VALISE" scan --json
    printf 'src/a.c\0src/run\0src/ln\0none\0' >../paths
    [ "$(json_get treeRoot)" = "$(python3 "$FORMATS" root . <../paths)" ]
    run "$VALISE" get-node src/run --json
    python3 "$FORMATS" nodes . <../paths | tr '\0' ' ' | grep -q "src/run $(json_get node.nodeId)"

    run "$VALISE" get-node src/a.c --json
    object=$(json_get node.objectId)
    printf 'says something' | "$VALISE" put-frame src/a.c - --type summary --json >"$OUT"
    frame=$(json_get frameId)
    printf 'says something' | python3 "$FORMATS" frame summary local "$object" >../frame
    [ "$frame" = "$(tail -n 1 ../frame)" ]
    basis=$(head -n 1 ../frame)
    run "$VALISE" list-frames src/a.c --json
    stdout_has "$basis"

    # More than a page of frames in one slot, and more than a page of slots.
    for i in $(seq 40); do
        printf '{"type":"frame:put","payload":{"node":"src/a.c","content":"%s"}}\n' \
            "$(printf 'n%d' "$i" | base64)"
        printf '{"type":"frame:put","payload":{"node":"src/run","type":"t%d","content":"YQ=="}}\n' "$i"
    done >../batch
    run "$VALISE" batch ../batch
    for node in src/a.c src/run; do
        "$VALISE" get-node "$node" --view history,recency,max=1000 --json >"../${node#src/}.json"
    done
    python3 - ../a.c.json ../run.json >../slots <<'END'
import json, sys
state = {}
for name in sys.argv[1:]:
    answer = json.load(open(name))
    slots = state.setdefault(answer["node"]["path"], {})
    for f in answer["frames"]:  # the newest first
        frames = slots.setdefault(f["type"], [[], f["frameId"]])
        frames[0].append(f["frameId"])
print(json.dumps(state))
END
    python3 "$FORMATS" slots <../slots >../roots
    for node in src/a.c src/run; do
        run "$VALISE" get-node "$node" --json
        grep -qx "set $node $(json_get meta.frameSetRoot)" ../roots
        grep -qx "context $(json_get contextRoot)" ../roots
    done
}
t 'ids and roots of nodes, frames, sets and the context are those of the document' ids

done_testing
