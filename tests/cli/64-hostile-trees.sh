#!/usr/bin/env bash
# 64-hostile-trees.sh -- trees that mean no good, through the command: any names, loops, what cannot
# be read or will not stand still, very wide and very deep directories. [C1] [C2] [C3] [C6] [Q26]
. "$(dirname "$0")/lib.sh"

FORMATS=$LIB_DIR/formats.py

# The root of all files, links and empty directories here but Valise's own, computed without it.
true_root() {
    find . -mindepth 1 -name .valise -prune -o \
        \( -type f -o -type l -o -type d -empty \) -printf '%P\0' | python3 "$FORMATS" root .
}

scan_root() {
    run "$VALISE" scan --json >/dev/null
    json_get treeRoot
}

# Every name that a file system takes: each byte, and what shells, terminals and parsers trip over.
names() {
    run "$VALISE" init
    python3 - <<'END'
import os
names = [b'x' + bytes([b]) for b in range(1, 256) if b != ord('/')]
names += [b'-rf', b'--json', b' ', b'\n', b'\\', b'...', b'~', b'$(id)', b'a:b', b'"', b"'", b'*',
          b'\xff\xfe', b'\x1b[2J\x1b]0;x\x07', b'caf\xc3\xa9', b'cafe\xcc\x81', b'n' * 255,
          b'deadbeef', b'0' * 64, b'.gitignore2', b'.valise2', b'v1', b'{"base64":"YQ=="}']
for name in names:
    os.mkdir(b'd-' + name[:200])
    for path in (name, b'd-' + name[:200] + b'/' + name):
        with open(path, 'wb') as f:
            f.write(path)
END
    [ "$(true_root)" = "$(scan_root)" ]
    run "$VALISE" tree ls
    ! grep -q "$(printf '\033')" "$OUT" || fail "an escape sequence reaches the terminal"
    run "$VALISE" tree ls --json
    python3 - "$OUT" <<'END'
import base64, json, os, sys
listed = set()
for line in open(sys.argv[1], encoding='utf-8'):
    path = json.loads(line)['path']
    listed.add(path.encode() if isinstance(path, str) else base64.b64decode(path['base64']))
there = set(os.listdir(b'.')) - {b'.valise'}
assert listed == there, listed ^ there
END
    run "$VALISE" validate
}
t 'names are bytes, all of them' names

# Such names can be asked about, and spoken of.
spoken_of() {
    local name id
    run "$VALISE" init
    echo text >../text
    for name in "$(printf 'bad\377')" "$(printf 'new\nline')" 'co:lon' '{"base64":"YQ=="}' ' '; do
        printf '%s' "$name" >"$name"
    done
    printf 1 >./-dash
    run "$VALISE" scan
    for name in "$(printf 'bad\377')" "$(printf 'new\nline')" 'co:lon' './-dash' ' '; do
        run "$VALISE" put-frame "$name" ../text
        run "$VALISE" get-node "$name" --json
        json_is frames[0].state fresh
        json_is frames[0].text text
        id=$(json_get node.nodeId)
        run "$VALISE" get-head "$id" --json
        json_is text text
    done
    run "$VALISE" get-node "$(printf 'bad\377')" --json
    json_is node.path '{"base64":"YmFk/w=="}'
    run "$VALISE" validate
}
t 'whatever their names are, files can be asked about and spoken of' spoken_of

# Links are nodes and lead nowhere: not round in circles, not out of the tree.
links() {
    run "$VALISE" init
    mkdir -p a/b ../outside
    echo secret >../outside/secret
    ln -s . self
    ln -s ../.. a/b/up
    ln -s loop2 loop1
    ln -s loop1 loop2
    ln -s /proc/self/root rooted
    ln -s ../outside out
    ln -s "$(printf 'not\377utf8')" bad
    ln -s "$(python3 -c 'print("x" * 4000)')" long
    [ "$(true_root)" = "$(scan_root)" ]
    run "$VALISE" tree ls
    stdout_lacks secret
    expect_exit 3 "$VALISE" get-node out/secret
    expect_exit 3 "$VALISE" get-node self/a
    echo x >../text
    run "$VALISE" put-frame self ../text
    expect_exit 3 "$VALISE" put-frame self/a ../text
    run "$VALISE" validate
}
t 'links are never followed: loops end, and nothing outside is seen' links

special() {
    run "$VALISE" init
    echo 1 >file
    before=$(scan_root)
    mkfifo fifo
    python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
    run timeout 20 "$VALISE" scan --json
    json_is treeRoot "$before"
    json_is skipped 2
    expect_exit 3 timeout 20 "$VALISE" put-frame fifo file
    expect_exit 3 timeout 20 "$VALISE" get-node fifo
}
t 'pipes and sockets are skipped and counted' special

# As somebody who may not read everything, which root may.
as_other() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
    else
        "$@"
    fi
}

unreadable() {
    [ "$(id -u)" -ne 0 ] || need setpriv
    mkdir ws && cd ws
    mkdir closed open
    echo 1 >closed/a
    echo 2 >open/b
    echo 3 >secret
    echo 4 >plain
    if [ "$(id -u)" -eq 0 ]; then
        chmod 711 "$LIB_ROOT" ..
        chown -R 65534:65534 .
        as_other test -x "$VALISE" || skip "nobody else may run $VALISE"
    fi
    run as_other "$VALISE" init
    run as_other "$VALISE" scan --json
    first=$(json_get treeRoot)
    json_is errorCount 0
    chmod 0 secret closed
    touch -d '1 hour ago' secret # its stat is another one: the cache does not know it
    expect_exit 1 as_other "$VALISE" scan --json
    json_is errorCount 2
    json_is changed 2
    json_is errors[0].path closed
    json_is errors[1].path secret
    run as_other "$VALISE" tree ls
    stdout_has unreadable plain open
    expect_exit 1 as_other "$VALISE" scan
    stderr_has "secret" "closed"
    run as_other "$VALISE" validate
    chmod 644 secret
    chmod 755 closed
    run as_other "$VALISE" scan --json
    json_is treeRoot "$first"
    json_is errorCount 0
}
t 'what cannot be read is an error and a node, and the rest goes on' unreadable

# Files that grow, shrink and go while scans run: no scan fails, and the last is right.
restless() {
    local writer i
    run "$VALISE" init
    mkdir d
    head -c 400000 /dev/zero >large
    (
        trap 'exit 0' TERM
        while :; do
            echo x >>large
            echo "$RANDOM" >d/comes
            rm -f d/comes
            : >large
            head -c 400000 /dev/zero >>large
        done
    ) &
    writer=$!
    for i in 1 2 3; do
        # 1: a file was another one at each of three tries.
        "$VALISE" -q scan || [ $? -eq 1 ] || { kill "$writer" && fail "scan $i failed"; }
    done
    kill "$writer"
    wait "$writer" || true
    rm -f d/comes
    [ "$(true_root)" = "$(scan_root)" ]
    run "$VALISE" scan --json
    json_is errorCount 0
    run "$VALISE" validate
}
t 'files that change while they are read do not stop a scan' restless

wide() {
    local count=4000
    [ -z "${VALISE_TEST_LONG:-}" ] || count=100000
    run "$VALISE" init
    mkdir many
    python3 -c '
import sys
for i in range(int(sys.argv[1])):
    open("many/entry-%06d" % i, "w").write(str(i % 7))
' "$count"
    [ "$(true_root)" = "$(scan_root)" ]
    run "$VALISE" get-node many/entry-000017 --json
    json_is node.size 1
    run "$VALISE" get-node many --json
    json_is node.size "$count"
    echo changed >many/entry-001234
    run "$VALISE" scan --json
    json_is changed 1
}
t 'a directory may have very many entries' wide

deep() {
    run "$VALISE" init
    python3 -c '
import os
for i in range(500):
    os.mkdir("d")
    os.chdir("d")
open("leaf", "w").write("bottom")
'
    path=$(python3 -c 'print("d/" * 500 + "leaf")')
    [ "$(true_root)" = "$(scan_root)" ]
    echo text >../text
    run "$VALISE" put-frame "$path" ../text
    echo changed >"$path"
    run "$VALISE" get-node "$path" --json
    json_is meta.tree outdated
    run "$VALISE" put-frame "$path" ../text --json
    run "$VALISE" scan --json
    json_is changed 0
    mv d e
    run "$VALISE" scan --json
    run "$VALISE" get-head "e/${path#d/}" --json
    json_is state fresh
    run "$VALISE" validate
}
t 'a tree may be 500 levels deep' deep

# Names that are too long together: an error of its own, and the rest is scanned.
too_deep() {
    run "$VALISE" init
    python3 -c '
import os
for i in range(40):
    os.mkdir("d" * 250)
    os.chdir("d" * 250)
open("leaf", "w").write("bottom")
'
    echo 1 >plain
    expect_exit 1 "$VALISE" scan --json
    [ "$(json_get errorCount)" -ge 1 ]
    run "$VALISE" get-node plain
    run "$VALISE" validate
}
t 'paths that are too long are errors, and the rest goes on' too_deep

done_testing
