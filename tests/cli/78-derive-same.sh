#!/usr/bin/env bash
# 78-derive-same.sh -- what is made is the same bytes in every place: whatever the locale, the time
# zone, the file system, the order in which files came to be, and the clock. [C15] [C18]
. "$(dirname "$0")/lib.sh"

FILES=(a.c B.c b.c $'\303\244.c' $'\303\204.c' 'i.txt' 'I.txt' $'\304\260.txt' z/y/x.c z/y/w.c z-1.c
    z/10.c z/9.c 'with blank/q.c' $'line\nbreak/n.c' $'no\377text.c')

# Notes that sort, fold and count differently where a locale has a say.
note() {
    printf 'Title of %s.\n\nIstanbul and istanbul, 1.234,5 or 1,234.5: \303\240 la carte. The parser ' "$1"
    printf 'reads dates. It was written on %s. STRASSE, Stra\303\237e.\n' 2020-02-03
}

# All of it in a new folder, files in this order; what is answered goes to standard output.
build() {
    local place=$1 f
    shift
    mkdir -p "$place"
    cd "$place"
    "$VALISE" -q init
    for f in "$@"; do
        mkdir -p "$(dirname "$f")"
        note "$(printf %s "$f" | wc -c)" >"$f"
    done
    for f in "$@"; do
        note "$(printf %s "$f" | wc -c) bytes of a name" >"$LIB_ROOT/note"
        "$VALISE" put-frame -q -- "$f" "$LIB_ROOT/note"
    done
    "$VALISE" synthesize --recursive --json
    "$VALISE" synthesize --recursive --policy summarization --params '{"budget":600}' --output sum \
        --json
    "$VALISE" synthesize z --policy filtering --name '*.c' --limit 2 --output few --json
    printf 'Other words, and I. i.' | "$VALISE" put-frame -q z/y/x.c -
    "$VALISE" regenerate --recursive --json
    "$VALISE" get-head . --type notes
    "$VALISE" get-head . --type sum
    "$VALISE" get-head z --type few
    "$VALISE" status --json | python3 -c '
import json, sys
for name, value in sorted(json.load(sys.stdin).items()):
    if "oot" in name:
        print(name, json.dumps(value))'
    cd "$OLDPWD"
    rm -rf "$place"
}

shuffled() {
    printf '%s\0' "${FILES[@]}" | shuf -z --random-source=<(yes "$1") >"$LIB_ROOT/order"
    mapfile -d '' -t ORDER <"$LIB_ROOT/order"
}

# An environment, and something else to run in.
one() {
    local place=$1 zone=$2 locale=$3
    shuffled "$zone$locale"
    TZ=$zone LC_ALL=$locale build "$place" "${ORDER[@]}"
}

same() {
    local n=0 dir=$PWD
    build "$dir/first" "${FILES[@]}" >"$LIB_ROOT/want"
    [ "$(wc -l <"$LIB_ROOT/want")" -gt 20 ] || fail 'too few answers'
    grep -q contextRoot "$LIB_ROOT/want"
    for place in "$dir/w" /dev/shm/valise-same-$$; do
        [ -w "$(dirname "$place")" ] || continue
        for env in 'Asia/Kolkata C' 'America/St_Johns tr_TR.utf8' 'Pacific/Apia de_DE.utf8'; do
            # shellcheck disable=SC2086  # two words
            one "$place" $env >"$LIB_ROOT/got"
            run diff "$LIB_ROOT/want" "$LIB_ROOT/got"
            n=$((n + 1))
        done
    done
    [ "$n" -ge 3 ]
}
t 'the same bytes in every place, order, locale and time zone' same

done_testing
