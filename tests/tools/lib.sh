# shellcheck shell=sh
# lib.sh -- TAP for the tests of tools/. A test starts with  . "$(dirname "$0")/lib.sh"
#
#   green NAME COMMAND...           the command succeeds
#   red NAME WORDS COMMAND...       the command fails, and says WORDS on the way
#   says NAME WORDS COMMAND...      the command succeeds and says WORDS
#   has NAME PROGRAM                there is such a program; else the case NAME is skipped
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
    tap_name=$1
    shift
    if run "$@"; then
        verdict ok "$tap_name"
    else
        verdict 'not ok' "$tap_name" "status $? of: $*"
    fi
}

# WORDS are a pattern for grep; none are said by any output.
said() { # WORDS
    [ -z "$1" ] || grep -q -e "$1" "$output"
}

red() {
    tap_name=$1 tap_words=$2
    shift 2
    if run "$@"; then
        verdict 'not ok' "$tap_name" "this should fail: $*"
    elif ! said "$tap_words"; then
        verdict 'not ok' "$tap_name" "it fails without saying '$tap_words': $*"
    else
        verdict ok "$tap_name"
    fi
}

says() {
    tap_name=$1 tap_words=$2
    shift 2
    if ! run "$@"; then
        verdict 'not ok' "$tap_name" "this should succeed: $*"
    elif ! said "$tap_words"; then
        verdict 'not ok' "$tap_name" "it does not say '$tap_words': $*"
    else
        verdict ok "$tap_name"
    fi
}

has() {
    command -v "$2" >/dev/null 2>&1 && return
    count=$((count + 1))
    printf 'ok %d - %s # SKIP there is no %s\n' "$count" "$1" "$2"
    return 1
}

done_testing() {
    printf '1..%d\n' "$count"
    [ "$failures" -eq 0 ]
    exit
}
