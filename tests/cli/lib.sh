# shellcheck shell=bash
# lib.sh -- shell tests against the real binary, reported in TAP.
#
#     #!/usr/bin/env bash
#     # 10-status.sh -- valise status.
#     . "$(dirname "$0")/lib.sh"
#
#     t 'status outside a workspace says what to do' '
#         expect_exit 3 "$VALISE" status
#         stdout_is_empty
#         stderr_has "valise init"
#     '
#     done_testing
#
# Each t runs in a new empty directory, in a shell of its own that ends at the first command
# that fails; what it printed is then shown. The commands may also be the name of a function,
# which shellcheck can read. HOME is empty, the locale is C, the time zone UTC.
#
# $VALISE is the binary; meson sets it. VALISE_UPDATE_GOLDEN=1 rewrites golden files,
# VALISE_CLI_ONLY='pattern' runs only the tests whose name fits, VALISE_CLI_KEEP=1 keeps the
# directories, VALISE_CLI_VERBOSE=1 shows what passing tests printed.

set -u
LIB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LIB_ROOT=$(mktemp -d "${TMPDIR:-/tmp}/valise-cli-XXXXXX") || exit 1
LIB_COUNT=0
LIB_FAILED=0
LIB_DONE=no
OUT=$LIB_ROOT/stdout # of the last command that run or expect_exit ran
ERR=$LIB_ROOT/stderr

VALISE=${VALISE:-valise}
case $VALISE in
*/*) VALISE=$(cd "$(dirname "$VALISE")" && pwd)/$(basename "$VALISE") ;;
esac
export VALISE
mkdir "$LIB_ROOT/home"
export HOME=$LIB_ROOT/home LC_ALL=C TZ=UTC
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME CDPATH

# ---- the report ----

lib_remark() {
    sed 's/^/# /'
}

lib_end() {
    local code=$?
    if [ "${VALISE_CLI_KEEP:-}" = 1 ]; then
        echo "# kept: $LIB_ROOT"
    else
        chmod -R u+rwX "$LIB_ROOT" 2>/dev/null
        rm -rf "$LIB_ROOT"
    fi
    if [ "$LIB_DONE" = no ]; then
        echo "Bail out! the script ended without done_testing"
        exit 1
    fi
    exit "$code"
}
trap lib_end EXIT

# t NAME 'commands' (or the name of a function)
t() {
    local name=$1 commands=$2 code dir log
    # shellcheck disable=SC2053  # a pattern on the right is what is wanted
    [[ $name == ${VALISE_CLI_ONLY:-*} ]] || return 0
    LIB_COUNT=$((LIB_COUNT + 1))
    dir=$LIB_ROOT/$LIB_COUNT
    log=$LIB_ROOT/$LIB_COUNT.log
    mkdir "$dir"
    rm -f "$LIB_ROOT/skip" "$OUT" "$ERR"
    set +e # not in a condition: there bash would ignore set -e inside
    (
        trap - EXIT
        trap 'echo "failed with $?: $BASH_COMMAND"' ERR
        set -eE -o pipefail
        cd "$dir"
        eval "$commands"
    ) </dev/null >"$log" 2>&1
    code=$?
    if [ "$code" -eq 0 ] && [ ! -e "$LIB_ROOT/checked" ]; then
        echo "no check ran: this test cannot fail" >>"$log"
        code=1
    fi
    rm -f "$LIB_ROOT/checked"
    if [ "$code" -ne 0 ] && [ -e "$LIB_ROOT/skip" ]; then
        echo "ok $LIB_COUNT - $name # SKIP $(cat "$LIB_ROOT/skip")"
    elif [ "$code" -ne 0 ]; then
        LIB_FAILED=$((LIB_FAILED + 1))
        echo "not ok $LIB_COUNT - $name"
        lib_remark <"$log"
    else
        echo "ok $LIB_COUNT - $name"
        [ "${VALISE_CLI_VERBOSE:-}" != 1 ] || lib_remark <"$log"
    fi
}

# Last line of every script: prints the plan; exits 1 if a test failed.
done_testing() {
    LIB_DONE=yes
    echo "1..$LIB_COUNT"
    if [ "$LIB_COUNT" -eq 0 ] && [ -z "${VALISE_CLI_ONLY:-}" ]; then
        echo "# no test in $0" >&2
        exit 1
    fi
    exit $((LIB_FAILED > 0))
}

# Instead of all tests of a script, or inside one test: leave without a verdict.
skip_all() {
    LIB_DONE=yes
    echo "1..0 # SKIP $*"
    exit 0
}

skip() {
    echo "$*" >"$LIB_ROOT/skip"
    exit 77
}

# Skip the test where a program is not installed.
need() {
    command -v "$1" >/dev/null || skip "$1 is not installed"
}

fail() {
    echo "$*"
    exit 1
}

lib_checked() {
    : >"$LIB_ROOT/checked"
}

lib_show() {
    [ ! -s "$1" ] || head -c 4000 "$1" | sed "s/^/$2 | /"
}

lib_fail_with_output() {
    echo "$*"
    lib_show "$OUT" stdout
    lib_show "$ERR" stderr
    exit 1
}

# ---- running ----

# expect_exit CODE command...: its output goes to $OUT and $ERR, its input is ours.
expect_exit() {
    local want=$1 got=0
    shift
    lib_checked
    echo "\$ $*"
    "$@" >"$OUT" 2>"$ERR" || got=$?
    [ "$got" -eq "$want" ] || lib_fail_with_output "exit code $got, expected $want: $*"
}

run() {
    expect_exit 0 "$@"
}

# ---- what it printed ----

# lib_is FILE NAME [TEXT]: equal to the text, or to what is on standard input.
lib_is() {
    local file=$1 name=$2
    shift 2
    lib_checked
    if [ $# -gt 0 ]; then
        printf '%s\n' "$1" >"$LIB_ROOT/expected"
    else
        cat >"$LIB_ROOT/expected"
    fi
    diff -u --label "expected $name" --label "actual $name" "$LIB_ROOT/expected" "$file" ||
        fail "$name differs"
}

stdout_is() { # stdout_is TEXT, or stdout_is <<EOF ...
    lib_is "$OUT" stdout "$@"
}

stderr_is() {
    lib_is "$ERR" stderr "$@"
}

stdout_has() { # each of these texts, as they stand
    local text
    lib_checked
    for text; do
        grep -qF -e "$text" "$OUT" || lib_fail_with_output "stdout has no: $text"
    done
}

stderr_has() {
    local text
    lib_checked
    for text; do
        grep -qF -e "$text" "$ERR" || lib_fail_with_output "stderr has no: $text"
    done
}

stdout_lacks() { # each of these texts
    local text
    lib_checked
    for text; do
        ! grep -qF -e "$text" "$OUT" || lib_fail_with_output "stdout has: $text"
    done
}

stderr_lacks() {
    lib_checked
    ! grep -qF -e "$1" "$ERR" || lib_fail_with_output "stderr has: $1"
}

stdout_matches() { # each of these extended regular expressions
    local pattern
    lib_checked
    for pattern; do
        grep -qE -e "$pattern" "$OUT" || lib_fail_with_output "stdout does not match: $pattern"
    done
}

stderr_matches() {
    lib_checked
    grep -qE -e "$1" "$ERR" || lib_fail_with_output "stderr does not match: $1"
}

stdout_is_empty() {
    lib_checked
    [ ! -s "$OUT" ] || lib_fail_with_output "stdout is not empty"
}

stderr_is_empty() {
    lib_checked
    [ ! -s "$ERR" ] || lib_fail_with_output "stderr is not empty"
}

# ---- JSON ----

# json_get PATH: a value of the last stdout; strings come without quotes. A path is like
# items[0].name; [-1] is the last, "" the whole. Several lines of JSON are an array.
json_get() {
    python3 "$LIB_DIR/json_get.py" "$OUT" "$1" || lib_fail_with_output "no $1 in stdout"
}

# json_is PATH VALUE: VALUE as json_get prints it (true, 3, text, {"a":1} with sorted keys).
json_is() {
    local got
    lib_checked
    got=$(json_get "$1") || fail "$got"
    [ "$got" = "$2" ] || lib_fail_with_output "$1 is $got, expected $2"
}

# ---- files ----

exists() {
    local path
    lib_checked
    for path; do
        [ -e "$path" ] || fail "$path is not there"
    done
}

is_gone() {
    lib_checked
    [ ! -e "$1" ] || fail "$1 is there"
}

file_is() { # file_is PATH TEXT, or file_is PATH <<EOF ...
    lib_is "$1" "$@"
}

# golden NAME [FILE]: the last stdout (or the file) equals tests/cli/golden/NAME.
golden() {
    local golden=$LIB_DIR/golden/$1 file=${2:-$OUT}
    lib_checked
    if [ "${VALISE_UPDATE_GOLDEN:-}" = 1 ]; then
        mkdir -p "$(dirname "$golden")"
        cmp -s "$file" "$golden" || cp "$file" "$golden"
        return 0
    fi
    [ -e "$golden" ] || fail "$golden is not there (VALISE_UPDATE_GOLDEN=1 writes it)"
    diff -u "$golden" "$file" || fail "differs from $golden (VALISE_UPDATE_GOLDEN=1 rewrites it)"
}
