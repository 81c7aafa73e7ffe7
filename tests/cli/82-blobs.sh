#!/usr/bin/env bash
# 82-blobs.sh -- large files: take them in, hold them, read them. [W9] [W10] [W11] [K18] [K2]
. "$(dirname "$0")/lib.sh"

some() {
    "$VALISE" -q init
    printf 'hello\n' >hello.txt
    printf '\211PNG\r\n\032\nrest' >a.png
}

files() {
    find .valise/blobs -type f | wc -l
}

t 'register, get, release [W9]' '
    some
    run "$VALISE" blob register hello.txt
    id=$(sha256sum <hello.txt | cut -c 1-64)
    stdout_is "blob ${id:0:8}  6 B  text/plain  hello.txt"
    run "$VALISE" blob register hello.txt
    stdout_is "blob ${id:0:8}  6 B  text/plain  hello.txt  (held already)"
    test -f ".valise/blobs/${id:0:2}/$id"
    run "$VALISE" blob get "${id:0:4}"
    stdout_is hello
    run "$VALISE" blob register hello.txt --hold handbook
    run "$VALISE" blob list
    stdout_matches "^BLOB +SIZE +HELD +TYPE +FILENAME"
    stdout_matches "^${id:0:8} +6 B +2 +text/plain +hello.txt"
    test "$(files)" = 1
    run "$VALISE" blob release "${id:0:8}"
    run "$VALISE" blob release "${id:0:8}"
    stdout_matches "released: +false"
    run "$VALISE" blob show "${id:0:8}"
    stdout_has "hold/handbook"
    run "$VALISE" blob release "$id" --hold handbook
    test "$(files)" = 0
    expect_exit 3 "$VALISE" blob get "$id"
    stderr_has "$id" "blob register"
    run "$VALISE" validate
'

t 'a short id of a blob is enough where a checkpoint has the same bytes [K2] [W9]' '
    some
    "$VALISE" -q blob register hello.txt
    "$VALISE" -q checkpoint one
    id=$(sha256sum <hello.txt | cut -c 1-64)
    run "$VALISE" blob show "${id:0:8}"
    stdout_has "text/plain"
    run "$VALISE" blob get "${id:0:4}"
    stdout_is hello
    # Anything at all may be meant here: the way out names one of both, and it works.
    expect_exit 5 "$VALISE" show "$id"
    stderr_has "tree_content $id" "blob_records $id" "hint: give it as COLLECTION/ID"
    stderr_lacks "more digits"
    run "$VALISE" show "$(sed -n "s/.*such as //p" "$ERR")"
    stdout_has "blob_records/$id"
'

t 'bytes through pipes, both ways [W11]' '
    some
    head -c 3000000 /dev/urandom >big
    "$VALISE" -q blob register - --filename big <big
    id=$(sha256sum <big | cut -c 1-64)
    "$VALISE" blob get "$id" | cmp - big
    "$VALISE" blob get "$id" >copy
    cmp copy big
    "$VALISE" blob get "$id" | head -c 10 >/dev/null
    run bash -c "cat big | \"$VALISE\" blob register - --json"
    stdout_has "\"sha256\":\"$id\"" "\"taken\":false"
'

t 'into a file, which is there when all of it is' '
    some
    "$VALISE" -q blob register a.png
    id=$(sha256sum <a.png | cut -c 1-64)
    run "$VALISE" blob get "$id" --output out.png
    cmp a.png out.png
    expect_exit 1 "$VALISE" blob get "$id" --output out.png
    stderr_has "--force"
    run "$VALISE" blob get "$id" --output out.png --force
    test "$(find . -maxdepth 1 -name "out.png*" | wc -l)" = 1
    run "$VALISE" blob get "$id" --json
    stdout_has "\"data\":\"$(base64 -w0 <a.png)\"" "\"mediaType\":\"image/png\""
'

t 'a terminal gets no binary' '
    some
    "$VALISE" -q blob register a.png
    "$VALISE" -q blob register hello.txt
    id=$(sha256sum <a.png | cut -c 1-64)
    expect_exit 6 "$LIB_DIR/on_terminal.py" "$VALISE" blob get "$id"
    stdout_has "unusable" "--output FILE"
    run "$LIB_DIR/on_terminal.py" "$VALISE" blob get "$(sha256sum <hello.txt | cut -c 1-64)"
    stdout_has "hello"
'

t 'a damaged file is named [W11]' '
    some
    "$VALISE" -q blob register hello.txt
    id=$(sha256sum <hello.txt | cut -c 1-64)
    chmod 600 ".valise/blobs/${id:0:2}/$id"
    printf "hellO\n" >".valise/blobs/${id:0:2}/$id"
    expect_exit 7 "$VALISE" blob get "$id" --output copy
    stderr_has "$id" "register the same file again"
    test ! -e copy
    expect_exit 7 "$VALISE" validate
    run "$VALISE" blob register hello.txt
    run "$VALISE" validate
    run "$VALISE" blob get "$id"
'

t 'what a killed purge left is for gc [W10]' '
    some
    "$VALISE" -q blob register hello.txt
    id=$(sha256sum <hello.txt | cut -c 1-64)
    cp ".valise/blobs/${id:0:2}/$id" left
    "$VALISE" -q blob release "$id"
    mv left ".valise/blobs/${id:0:2}/$id"
    run "$VALISE" validate
    run "$VALISE" gc --grace 0s
    stdout_matches "1 blob"
    test "$(files)" = 0
'

t 'file ids of providers; lists by type and name' '
    some
    "$VALISE" -q blob register a.png
    "$VALISE" -q blob register hello.txt
    id=$(sha256sum <a.png | cut -c 1-64)
    run "$VALISE" blob record-file-id "${id:0:6}" openai file-1 --expires 2030-01-01T00:00:00Z
    run "$VALISE" blob show "$id" --json
    stdout_has "\"fileId\":\"file-1\"" "2030-01-01"
    run "$VALISE" blob list --media-type "image/*" --json
    stdout_has "$id"
    run "$VALISE" blob list --filename "*.txt" --json
    if grep -q "$id" "$OUT"; then false; fi
'

t 'a reader may get, and not register' '
    some
    "$VALISE" -q blob register hello.txt
    "$VALISE" -q agent add eve --role reader
    id=$(sha256sum <hello.txt | cut -c 1-64)
    run "$VALISE" --actor eve blob get "$id"
    expect_exit 4 "$VALISE" --actor eve blob register a.png
    expect_exit 4 "$VALISE" --actor eve blob release "$id"
    test "$(files)" = 1
'

t 'holders as people read them, and as programs do' '
    some
    "$VALISE" -q session create s
    ref=$("$VALISE" turn add s user here --attach hello.txt --json | sed "s/.*\"ref\":\"\([^\"]*\).*/\1/")
    id=$(sha256sum <hello.txt | cut -c 1-64)
    run "$VALISE" blob show "$id"
    stdout_matches "^holders: +turn/${ref:28}\$"
    run "$VALISE" blob show "$id" --json
    stdout_has "turn/$ref"
'

done_testing
