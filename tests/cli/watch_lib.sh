# shellcheck shell=bash
# watch_lib.sh -- a watch that runs beside a test: start it, wait for what it writes, end it.

# The workspace is tree/; what the watch writes lies beside it. A shell lets background jobs ignore
# SIGINT.
start() {
    mkdir -p tree/src
    echo 1 >tree/src/a.c
    "$VALISE" -q -C tree init
    "$VALISE" -q -C tree scan
    watch "$@"
    until_has err watching
}

watch() {
    env --default-signal=INT "$VALISE" -C tree watch "$@" >out 2>err &
    pid=$!
}

# until_has FILE TEXT: the watch has written it.
until_has() {
    for _ in $(seq 3000); do
        grep -qF -e "$2" "$1" 2>/dev/null && return
        sleep 0.01
    done
    cat out err
    false
}

ended() {
    local code=0
    wait "$pid" || code=$?
    [ "$code" = "$1" ] || { echo "exit code $code"; cat out err; false; }
}

is_recorded() {
    run "$VALISE" -C tree scan --force
    stdout_has "nothing changed"
}
