#!/bin/sh
# fuzz.sh -- the fuzz glue can fail: a replay that hits a bug, a corpus without files, a bug
# that only libFuzzer finds.
. "$(dirname "$0")/lib.sh"

cat >"$scratch/fuzz_magic.c" <<'END'
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_CHECK(size < 2 || data[0] != 'v' || data[1] != 'l');
    return 0;
}
END
cd "$scratch" || exit 1
mkdir -p corpus build/fuzz/tests/fuzz tests/fuzz/corpus/magic tools
cp "$root/tools/fuzz" tools/

# The replay, which every build has.
green 'replay: compiles' gcc "-I$root/tests" -o replay fuzz_magic.c "$root/tests/fuzz/replay.c"
red 'replay: a corpus without files' 'not ok 1 - the corpus has no files' ./replay corpus
red 'replay: a corpus that is not there' 'not ok 1 - read nowhere' ./replay nowhere
printf 'harmless' >corpus/one
printf '' >corpus/two
says 'replay: one case a file' '^1..2$' ./replay corpus
printf 'vl' >corpus/zap
red 'replay: a bug ends it, behind the name of the file' 'corpus/zap' ./replay corpus
red 'replay: and says what is not true' 'fuzz_magic.c:5: not true' ./replay corpus

# libFuzzer itself.
red 'fuzz: no targets' 'not ok 1 - there are fuzz targets' tools/fuzz 1
green 'fuzz: compiles' clang -g -O1 "-I$root/tests" -fsanitize=fuzzer,address,undefined \
    -o build/fuzz/tests/fuzz/fuzz-magic fuzz_magic.c
red 'fuzz: finds the input that breaks it' '^not ok 1 - fuzz magic' tools/fuzz 30
green 'fuzz: and keeps it' sh -c 'ls build/fuzzed/magic.found-crash-*'

# A target that is not in the list would never run.
all_listed() {
    for target in "$root"/tests/fuzz/fuzz_*.c; do
        target=${target##*/fuzz_}
        grep -qx "  '${target%.c}'," "$root/tests/fuzz/meson.build" || {
            echo "fuzz_$target is not listed in tests/fuzz/meson.build"
            return 1
        }
    done
}
green 'every target is listed' all_listed

done_testing
