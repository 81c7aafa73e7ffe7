#!/bin/sh
# bench.sh -- the benchmarks run and their answer for machines is JSON. What they measure is not
# judged here: a slow machine must not fail a build. [Q15]
. "$(dirname "$0")/lib.sh"

bench=$build/bench/valise-bench
valise=$build/cli/valise

as_json() { # GROUP
    "$bench" --quick --json --only "$1" >"$scratch/rows.json" &&
        "$valise" json get "@$scratch/rows.json" /0/name
}

says 'a row has what was measured, both times, the ratio and its bar' 'ratio .*bar' \
    "$bench" --quick --only hash
says 'rows with baselines are JSON for machines' 'id of 64 bytes' as_json hash
says 'rows with exponents are too' 'hash table get' as_json maps
green 'an exponent stands beside the promised one' \
    "$valise" json get "@$scratch/rows.json" /3/promised
red 'an option it does not know is refused' 'usage:' "$bench" --slow

done_testing
