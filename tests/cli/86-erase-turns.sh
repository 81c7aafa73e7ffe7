#!/usr/bin/env bash
# 86-erase-turns.sh -- what was said can be taken back from every file, and sessions travel.
# [W5] [W10] [W20] [K20] [K36]
. "$(dirname "$0")/lib.sh"

SECRET=hunter2-correct-horse

# Files of the workspace in which the bytes are. blobs, log, objects, write-ahead log: all of them.
places_of() {
    { grep -rlaF -- "$1" .valise || true; } | wc -l
}

id_of() {
    "$VALISE" json get - "/$1" | tr -d '"'
}

some() {
    "$VALISE" -q init
    # shellcheck disable=SC2034  # by those who call this
    session=$("$VALISE" session create --label support --json | id_of id)
    "$VALISE" turn add support user "what is the key?" >/dev/null
}

gone() {
    run "$VALISE" gc
    [ "$(places_of "$SECRET")" = 0 ]
    run "$VALISE" validate
}

t 'a turn [W5] [K20]' '
    some
    ref=$("$VALISE" turn add support assistant "it is $SECRET" --json | id_of ref)
    "$VALISE" turn add support user thanks >/dev/null
    [ "$(places_of "$SECRET")" != 0 ]
    run "$VALISE" erase "turn/${ref%@*}/1" --reason "a leaked key"
    gone
    run "$VALISE" erasure list
    stdout_has "a leaked key"
    run "$VALISE" turn log support
    stdout_has thanks
'

t 'a turn with a file, which nobody else holds [W10] [K20]' '
    some
    printf "%s in a picture" "$SECRET" >key.txt
    ref=$("$VALISE" turn add support user look --attach key.txt --json | id_of ref)
    "$VALISE" turn add support user thanks >/dev/null
    [ "$(find .valise/blobs -type f | wc -l)" = 1 ]
    run "$VALISE" erase "turn/${ref%@*}/1"
    [ "$(find .valise/blobs -type f | wc -l)" = 0 ]
    run "$VALISE" blob list --json
    stdout_is_empty
    gone
'

t 'a file that another turn holds stays [W10]' '
    some
    echo "a manual" >key.txt
    ref=$("$VALISE" turn add support user look --attach key.txt --json | id_of ref)
    "$VALISE" turn add support user again --attach key.txt >/dev/null
    run "$VALISE" erase "turn/${ref%@*}/1"
    [ "$(find .valise/blobs -type f | wc -l)" = 1 ]
    run "$VALISE" gc
    run "$VALISE" blob get "$(sha256sum <key.txt | cut -c 1-64)"
    stdout_is "a manual"
    run "$VALISE" validate
'

t 'deleting the last turn, and a branch [W5]' '
    some
    "$VALISE" turn add support assistant "it is $SECRET" >/dev/null
    run "$VALISE" turn delete support HEAD
    gone
    ref=$("$VALISE" turn add support assistant "it is $SECRET" --json | id_of ref)
    "$VALISE" turn add support user "$SECRET, you say" >/dev/null
    run "$VALISE" turn delete support "$ref" --recursive
    gone
    run "$VALISE" turn log support
    stdout_has "what is the key?"
'

t 'a label, and a context entry [K20]' '
    some
    run "$VALISE" session update support --label "$SECRET"
    run "$VALISE" session update "$session" --label "$SECRET again"
    run "$VALISE" context add note "the key is $SECRET"
    printf "%s in a file" "$SECRET" >key.txt
    run "$VALISE" context add paper --file key.txt
    run "$VALISE" erase "session/$session"
    run "$VALISE" erase context/note
    run "$VALISE" erase context/paper
    gone
    [ "$(find .valise/blobs -type f | wc -l)" = 0 ]
'

t 'a session travels, with its files, and comes back [W20] [K36]' '
    mkdir a b
    cd a
    some
    echo "a picture" >p.png
    "$VALISE" turn add support user look --attach p.png >/dev/null
    run "$VALISE" export ../one.bundle "session/$session"
    cd ../b
    run "$VALISE" -q init
    run "$VALISE" import ../one.bundle
    run "$VALISE" blob get "$(sha256sum <../a/p.png | cut -c 1-64)"
    stdout_is "a picture"
    "$VALISE" turn add support assistant "said in b" >/dev/null
    run "$VALISE" export ../two.bundle "session/$session"
    cd ../a
    "$VALISE" turn add support assistant "said in a" >/dev/null
    run "$VALISE" import ../two.bundle
    run "$VALISE" validate
    run "$VALISE" turn log support
    stdout_has "said in a"
    stdout_lacks "said in b"
    run "$VALISE" export ../three.bundle "session/$session"
    cd ../b
    run "$VALISE" import ../three.bundle
    run "$VALISE" import ../three.bundle --json
    stdout_has "\"rows\":0"
    run "$VALISE" turn log support
    stdout_has "said in b"
    run "$VALISE" validate
'

t 'what was erased here is not brought back by a bundle from before [K20] [W20]' '
    some
    ref=$("$VALISE" turn add support assistant "it is $SECRET" --json | id_of ref)
    "$VALISE" turn add support user thanks >/dev/null
    run "$VALISE" session update support --label "$SECRET"
    run "$VALISE" export ../before.bundle "session/$session"
    run "$VALISE" erase "turn/${ref%@*}/1"
    run "$VALISE" erase "session/$session"
    run "$VALISE" turn delete "$session" "HEAD"
    run "$VALISE" import ../before.bundle
    gone
'

t 'nor are the files of turns and entries that were erased here [K20] [W10] [W20]' '
    some
    printf "%s in a picture" "$SECRET" >key.txt
    printf "%s in a paper" "$SECRET" >paper.txt
    ref=$("$VALISE" turn add support user look --attach key.txt --json | id_of ref)
    "$VALISE" turn add support user thanks >/dev/null
    run "$VALISE" context add paper --file paper.txt
    run "$VALISE" export before.bundle
    run "$VALISE" erase "turn/${ref%@*}/1"
    run "$VALISE" erase context/paper
    run "$VALISE" import before.bundle
    [ "$(find .valise/blobs -type f | wc -l)" = 0 ]
    run "$VALISE" blob list --json
    stdout_is_empty
    gone
'

t 'a file that was erased by its id: it does not come back, and exports go on [K20] [K36]' '
    some
    printf "%s in a picture" "$SECRET" >key.txt
    "$VALISE" turn add support user look --attach key.txt >/dev/null
    run "$VALISE" export before.bundle
    run "$VALISE" erase --content "$(sha256sum <key.txt | cut -c 1-64)"
    run "$VALISE" turn delete support HEAD
    "$VALISE" turn add support user "look again" --attach key.txt >/dev/null
    run "$VALISE" erase --content "$(sha256sum <key.txt | cut -c 1-64)"
    run "$VALISE" export after.bundle
    run "$VALISE" export part.bundle "session/$session"
    run "$VALISE" import before.bundle
    gone
    mkdir new && cd new
    run "$VALISE" -q init
    run "$VALISE" import ../after.bundle
    run "$VALISE" validate
'

done_testing
