# shellcheck shell=sh
# lib.sh -- TAP for the tests of tools/. A test starts with  . "$(dirname "$0")/lib.sh"
#
#   green NAME COMMAND...           the command succeeds
#   red NAME WORDS COMMAND...       the command fails and says WORDS (grep -e) on the way
#   says NAME WORDS COMMAND...      the command succeeds and says WORDS
#   skip NAME REASON                no verdict
#   done_testing                    the last line
#
# $root is the source tree, $build the build directory, $scratch a new directory that is
# removed at the end.
set -u

root=${VALISE_SOURCE_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck disable=SC2034  # for the tests
build=${VALISE_BUILD_ROOT:-$root/build/release}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/valise-tools-XXXXXX") || exit 1
output=$scratch.output
trap 'rm -rf "$scratch" "$output"' EXIT
count=0
failures=0

verdict() { # ok|"not ok" NAME [WHY]
    count=$((count + 1))
    printf '%s %d - %s\n' "$1" "$count" "$2"
    [ "$1" = ok ] && return
    failures=$((failures + 1))
    printf '# %s\n' "$3"
    sed 's/^/# > /' "$output"
}

run() { # COMMAND...
    "$@" >"$output" 2>&1 </dev/null
}

green() {
    name=$1
    shift
    if run "$@"; then
        verdict ok "$name"
    else
        verdict 'not ok' "$name" "status $? of: $*"
    fi
}

red() {
    name=$1 words=$2
    shift 2
    if run "$@"; then
        verdict 'not ok' "$name" "this should fail: $*"
    elif ! grep -q -e "$words" "$output"; then
        verdict 'not ok' "$name" "it fails without saying '$words': $*"
    else
        verdict ok "$name"
    fi
}

says() {
    name=$1 words=$2
    shift 2
    if ! run "$@"; then
        verdict 'not ok' "$name" "this should succeed: $*"
    elif ! grep -q -e "$words" "$output"; then
        verdict 'not ok' "$name" "it does not say '$words': $*"
    else
        verdict ok "$name"
    fi
}

skip() {
    count=$((count + 1))
    printf 'ok %d - %s # SKIP %s\n' "$count" "$1" "$2"
}

done_testing() {
    printf '1..%d\n' "$count"
    [ "$failures" -eq 0 ]
    exit
}
