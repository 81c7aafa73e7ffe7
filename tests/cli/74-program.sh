#!/usr/bin/env bash
# 74-program.sh -- programs that make frames: what they get and give, who lets them run, and what
# happens when they fail, hang, or the run is killed. [C17] [C21] [C23] [K34]
. "$(dirname "$0")/lib.sh"

# A workspace in w, programs in bin, the user's configuration in conf; what programs leave in log.
grow() {
    mkdir bin conf w
    export XDG_CONFIG_HOME=$PWD/conf
    LOG=$PWD/log
    BIN=$PWD/bin
    cd w
    "$VALISE" -q init
    mkdir -p src/a src/b
    echo 1 >src/a/x.c
    echo 2 >src/a/y.c
    echo 3 >src/b/z.c
    for f in src/a/x.c src/a/y.c src/b/z.c; do
        echo "About $f." | "$VALISE" put-frame "$f" - -q
    done
}

# program NAME <<EOF: a shell script. It can count on nothing but its own text.
program() {
    {
        echo '#!/bin/sh'
        cat
    } >"$BIN/$1"
    chmod +x "$BIN/$1"
}

# One that counts how often it ran and says what it was given.
counting() {
    program count <<EOF
echo run >>'$LOG'
cat
EOF
    : >"$LOG"
}

# One that says another number each time.
chance() {
    program chance <<EOF
echo run >>'$LOG'
wc -l <'$LOG'
EOF
    : >"$LOG"
}

ran() { # ran N: so often so far
    [ "$(wc -l <"$LOG")" -eq "$1" ] || fail "ran $(wc -l <"$LOG") times, not $1"
}

made() {
    grow
    counting
    run "$VALISE" synthesize src/a --program ../bin/count --params '{"b":1,"a":[2]}'
    stdout_matches '^new +src/a notes [0-9a-f]{8}$'
    stdout_matches '^1 made, 0 unchanged  context'
    run "$VALISE" get-head src/a
    stdout_has '{"empty":false,"inputs":[{"agent":"local","content":"About src/a/x.c.\n","directory":false,"name":"x.c","type":"notes"}' \
        ',"params":{"a":[2],"b":1}}'
    run "$VALISE" get-head src/a --json
    json_is kind external
    ran 1
    # what it is made of is the same: it does not run
    run "$VALISE" synthesize src/a --program "$BIN/count" --params '{"a":[2],"b":1}'
    stdout_matches '^0 made, 1 unchanged'
    ran 1
    # from the leaves to the trunk; a directory goes in as its frame
    run "$VALISE" synthesize --recursive --program ../bin/count
    stdout_matches '^4 made'
    ran 5
    run "$VALISE" get-head src
    stdout_has '"directory":true,"name":"a"' '"directory":true,"name":"b"'
    run "$VALISE" validate
}
t 'what a program gets and gives' made

# Beside a policy, of which it takes the place; with words that make no sense.
wrong() {
    grow
    counting
    expect_exit 6 "$VALISE" synthesize src --program ../bin/count --policy concatenation
    stderr_has 'not both'
    expect_exit 6 "$VALISE" synthesize src --verify
    stderr_has --program
    expect_exit 3 "$VALISE" synthesize src --program ../bin/none
    stderr_has ../bin/none
    expect_exit 6 "$VALISE" synthesize src --program ../bin
    stderr_has 'is not a file'
    expect_exit 6 "$VALISE" synthesize src --program ../bin/count --params '[1]'
    stderr_has object
    expect_exit 6 "$VALISE" run context:synthesize '{"node":"src","program":"../bin/count"}'
    stderr_has 'absolute path'
    chmod -x ../bin/count
    expect_exit 4 "$VALISE" synthesize src --program ../bin/count
    stderr_has 'not executable' 'chmod +x'
    ran 0
    echo 'echo hello' >../bin/plain
    chmod +x ../bin/plain
    expect_exit 1 "$VALISE" synthesize src --program ../bin/plain
    stderr_has 'cannot run plain' '#!/bin/sh'
    run "$VALISE" list-frames src
    stdout_lacks notes
    # a name is a name: this is no policy of ours
    program concatenation <<<'echo mine'
    run "$VALISE" synthesize src --program ../bin/concatenation
    run "$VALISE" get-head src
    stdout_has mine
    run "$VALISE" regenerate --recursive
    stdout_matches '^0 made, 0 unchanged  context'
}
t 'what is no program' wrong

# A script through a link, one with another interpreter, and one that is machine code.
kinds() {
    grow
    program real <<<'echo linked'
    ln -s real ../bin/link
    run "$VALISE" synthesize src/a --program ../bin/link
    run "$VALISE" get-head src/a
    stdout_has linked
    cat >../bin/py <<'EOF'
#!/usr/bin/env python3
import json, sys
print([i["name"] for i in json.load(sys.stdin)["inputs"]])
EOF
    chmod +x ../bin/py
    run "$VALISE" synthesize src/a --program ../bin/py
    run "$VALISE" get-head src/a
    stdout_has "['x.c', 'y.c']"
    cp /bin/cat ../bin/cat
    run "$VALISE" synthesize src/a --program ../bin/cat
    run "$VALISE" get-head src/a
    stdout_has '{"empty":false'
    run "$VALISE" validate
}
t 'scripts, interpreters and machine code' kinds

# Named on the command line it may run; everything else needs `valise trust`. [K34]
trusted() {
    grow
    counting
    expect_exit 4 "$VALISE" run context:synthesize "{\"node\":\"src/a\",\"program\":\"$BIN/count\"}"
    stderr_has 'is not trusted' "hint: valise trust $BIN/count"
    echo "{\"type\":\"context:synthesize\",\"payload\":{\"program\":\"$BIN/count\"}}" >../batch
    expect_exit 6 "$VALISE" batch ../batch
    ran 0
    run "$VALISE" synthesize src/a --program ../bin/count
    ran 1
    echo changed | "$VALISE" put-frame src/a/x.c - -q
    # without --run nothing runs, with it nothing that is not trusted
    run "$VALISE" regenerate --recursive
    stdout_matches '^needs its program src/a notes: count$'
    stdout_matches '1 needs its program \(--run\)'
    expect_exit 1 "$VALISE" regenerate --recursive --run
    stdout_matches '^failed +src/a notes: count \(sha256 [0-9a-f]{16}\.\.\.\) is not trusted: .*\(valise trust PATH'
    stdout_matches ', 1 failed '
    ran 1
    # the configuration of the workspace cannot say it
    printf '[trust "%s"]\n\tsha256 = %s\n' "$BIN/count" \
        "$(sha256sum <"$BIN/count" | cut -d' ' -f1)" >>.valise/config
    expect_exit 1 "$VALISE" regenerate --recursive --run
    ran 1
    run "$VALISE" trust ../bin/count
    run "$VALISE" regenerate --recursive --run --dry-run
    stdout_matches '^would run +src/a notes: count$'
    stdout_matches '^0 would be made, 0 unchanged, 1 by a program'
    ran 1
    run "$VALISE" regenerate --recursive --run
    stdout_matches '^changed +src/a notes'
    ran 2
    run "$VALISE" regenerate --recursive --run
    stdout_matches '^0 made'
    ran 2
    run "$VALISE" run context:synthesize "{\"node\":\"src/b\",\"program\":\"$BIN/count\"}"
    ran 3
    # other bytes at the trusted path are another program
    cp ../bin/count ../bin/copy
    echo 'echo evil' >>../bin/count
    echo changed again | "$VALISE" put-frame src/a/x.c - -q
    expect_exit 1 "$VALISE" regenerate --recursive --run
    stdout_has 'is not the program that was recorded' 'valise synthesize DIR --program'
    expect_exit 4 "$VALISE" run context:synthesize "{\"node\":\"src/b\",\"program\":\"$BIN/count\"}"
    stderr_has 'has changed since it was trusted'
    ran 3
    # a second place with the right bytes will do
    run "$VALISE" trust ../bin/copy
    run "$VALISE" regenerate --recursive --run
    stdout_matches '^changed +src/a notes'
    ran 4
    run "$VALISE" trust --remove ../bin/copy
    echo and again | "$VALISE" put-frame src/a/x.c - -q
    expect_exit 1 "$VALISE" regenerate --recursive --run
    ran 4
    rm ../bin/count
    expect_exit 1 "$VALISE" regenerate --recursive --run
    stdout_has 'cannot open'
    # who trusts the new bytes at the old path has not trusted the old ones
    printf '#!/bin/sh\necho other\n' >../bin/count
    chmod +x ../bin/count
    run "$VALISE" trust ../bin/count
    expect_exit 1 "$VALISE" regenerate --recursive --run
    stdout_has 'is not trusted'
    run "$VALISE" validate
}
t 'who lets a program run [K34]' trusted

# Whoever gets a bundle or a copy gets recipes, and nothing runs because of that. [K34]
received() {
    grow
    counting
    run "$VALISE" synthesize --recursive --program ../bin/count
    run "$VALISE" trust ../bin/count
    ran 4
    run "$VALISE" export ../bundle
    mkdir ../other ../conf2
    cp -r src ../other
    export XDG_CONFIG_HOME=$PWD/../conf2
    cd ../other
    "$VALISE" -q init
    run "$VALISE" import ../bundle
    echo 5 >src/a/y.c
    run "$VALISE" invalidate --recursive src --reason no
    run "$VALISE" regenerate --recursive
    stdout_has 'needs its program'
    expect_exit 1 "$VALISE" regenerate --recursive --run
    stdout_has 'is not trusted'
    ran 4
    run "$VALISE" validate
}
t 'a bundle makes nothing run [K34]' received

# What goes wrong is one slot's trouble; of one directory, the command's.
failing() {
    grow
    program bad <<'EOF'
if grep -q z.c; then
    echo 'nothing known' >&2
    echo 'boom' >&2
    exit 7
fi
echo fine
EOF
    expect_exit 1 "$VALISE" synthesize src/b --program ../bin/bad
    stderr_has 'bad ended with exit code 7: boom' 'hint: fix the program'
    expect_exit 1 "$VALISE" synthesize --recursive --program ../bin/bad
    stdout_matches '^failed +src/b notes: bad ended with exit code 7: boom$'
    stdout_matches '^new +src/a notes'
    stdout_matches '^new +\. notes'
    stdout_matches '^3 made, 0 unchanged, 1 entry without a frame, 1 failed'
    run "$VALISE" list-frames src/b
    stdout_lacks notes
    expect_exit 1 "$VALISE" synthesize --recursive --program ../bin/bad -q
    stdout_is_empty
    stderr_is 'valise: src/b notes: bad ended with exit code 7: boom'
    expect_exit 1 "$VALISE" synthesize --recursive --program ../bin/bad --json
    json_is failed 1
    json_is slots[0].outcome failed
    # shellcheck disable=SC2016  # its own number
    program signal <<<'kill -SEGV $$'
    expect_exit 1 "$VALISE" synthesize src/b --program ../bin/signal
    stderr_has 'signal was ended by signal 11'
    program large <<<'yes'
    expect_exit 1 "$VALISE" synthesize src/b --program ../bin/large
    stderr_has 'large wrote more than 1048576 bytes'
    program slow <<EOF
echo \$\$ >'$LOG'
sleep 100
EOF
    run "$VALISE" config set program.timeout 300ms
    expect_exit 1 "$VALISE" synthesize src/b --program ../bin/slow
    stderr_has 'slow did not end within 300 ms' 'valise config set program.timeout 1s'
    [ ! -d "/proc/$(cat "$LOG")" ]
    run "$VALISE" list-frames src/b
    stdout_lacks notes
    run "$VALISE" validate
}
t 'programs that fail' failing

# A frame that was there stays, and the next run tries again.
kept() {
    grow
    program turns <<EOF
[ ! -e '$LOG.bad' ] || exit 1
cat
EOF
    run "$VALISE" synthesize --recursive --program ../bin/turns
    run "$VALISE" trust ../bin/turns
    run "$VALISE" get-head src/b --json
    was=$(json_get frameId)
    echo changed | "$VALISE" put-frame src/b/z.c - -q
    : >"$LOG.bad"
    expect_exit 1 "$VALISE" regenerate --recursive --run
    stdout_matches '^failed +src/b notes: turns ended with exit code 1$'
    run "$VALISE" get-head src/b --json
    json_is frameId "$was"
    json_is state stale
    run "$VALISE" validate
    # also where nobody knows any more what is in doubt: all slots are looked at
    "$VALISE" export ../bundle -q
    mkdir ../other
    cp -r src ../other
    (
        cd ../other
        "$VALISE" -q init
        run "$VALISE" import ../bundle
        expect_exit 1 "$VALISE" regenerate --recursive --run
        run "$VALISE" validate
        rm "$LOG.bad"
        run "$VALISE" regenerate --recursive --run
        stdout_matches '^3 made'
    )
    run "$VALISE" regenerate --recursive --run
    stdout_matches '^3 made'
    run "$VALISE" regenerate --recursive --run
    stdout_matches '^0 made'
    run "$VALISE" validate
}
t 'what failed is tried again' kept

# Any bytes are a frame, none too.
bytes() {
    grow
    program binary <<<"printf 'a\\000\\377b'"
    run "$VALISE" synthesize src/b --program ../bin/binary
    run "$VALISE" get-head src/b --json
    json_is size 4
    json_is data YQD/Yg==
    run "$VALISE" synthesize src --program ../bin/binary --recursive
    program feed <<<cat
    run "$VALISE" synthesize src --program ../bin/feed
    run "$VALISE" get-head src
    stdout_has '"base64":"YQD/Yg=="'
    program silent <<<true
    run "$VALISE" synthesize src/b --program ../bin/silent
    run "$VALISE" get-head src/b --json
    json_is size 0
    run "$VALISE" synthesize src/b --program ../bin/silent
    stdout_matches '^0 made, 1 unchanged'
    run "$VALISE" validate
}
t 'any bytes are a frame' bytes

# Twice, on the same bytes.
verified() {
    grow
    counting
    run "$VALISE" synthesize --recursive --program ../bin/count --verify
    stdout_matches '^4 made'
    ran 8
    # what is there is not believed, but seen
    run "$VALISE" synthesize --recursive --program ../bin/count --verify
    stdout_matches '^0 made, 4 unchanged'
    ran 16
    chance
    expect_exit 5 "$VALISE" synthesize src/a --program ../bin/chance --verify
    stderr_has 'chance wrote a different result the second time' --verify
    ran 2
    expect_exit 1 "$VALISE" synthesize src --recursive --program ../bin/chance --verify --output other
    stdout_matches '^0 made, .* 3 failed'
    run "$VALISE" list-frames src/a
    stdout_lacks other
    # without --verify it is what it said first, until somebody wants another
    : >"$LOG"
    run "$VALISE" synthesize src/a --program ../bin/chance --output other
    run "$VALISE" synthesize src/a --program ../bin/chance --output other
    stdout_matches '^0 made, 1 unchanged'
    ran 1
    run "$VALISE" validate
}
t 'verified' verified

# An edit that is taken back finds the frame; a mark asks for another.
again() {
    grow
    chance
    run "$VALISE" synthesize src/a --program ../bin/chance
    run "$VALISE" trust ../bin/chance
    ran 1
    echo other | "$VALISE" put-frame src/a/x.c - -q
    run "$VALISE" regenerate src/a --run
    stdout_matches '^changed +src/a'
    ran 2
    echo 'About src/a/x.c.' | "$VALISE" put-frame src/a/x.c - -q
    run "$VALISE" regenerate src/a --run
    stdout_matches '^changed +src/a'
    ran 2
    run "$VALISE" get-head src/a
    stdout_matches '^    1$'
    run "$VALISE" invalidate src/a --reason 'not good enough'
    run "$VALISE" regenerate src/a
    stdout_matches '^needs its program src/a'
    run "$VALISE" regenerate src/a --run
    stdout_matches '^changed +src/a'
    ran 3
    run "$VALISE" get-head src/a
    stdout_matches '^    3$'
    run "$VALISE" regenerate src/a --run
    stdout_matches '^0 made'
    ran 3
    # of those that were made of the same, what was good enough last comes back
    for i in 1 2 3; do
        echo "other $i" | "$VALISE" put-frame src/a/x.c - -q
        run "$VALISE" regenerate src/a --run
        ran $((3 + i))
        echo 'About src/a/x.c.' | "$VALISE" put-frame src/a/x.c - -q
        run "$VALISE" regenerate src/a --run
        ran $((3 + i))
        run "$VALISE" get-head src/a
        stdout_matches '^    3$'
    done
    # one that was not is none, though nothing else was made of it
    echo first | "$VALISE" put-frame src/a/x.c - -q
    run "$VALISE" regenerate src/a --run
    run "$VALISE" invalidate src/a --reason 'not good either'
    echo second | "$VALISE" put-frame src/a/x.c - -q
    run "$VALISE" regenerate src/a --run
    ran 8
    echo first | "$VALISE" put-frame src/a/x.c - -q
    run "$VALISE" regenerate src/a --run
    ran 9
    run "$VALISE" validate
}
t 'made before, and made again' again

strict() {
    grow
    counting
    echo 6 >src/b/new.c
    expect_exit 5 "$VALISE" synthesize --recursive --program ../bin/count --strict
    stderr_has 'entries without a frame: 1'
    ran 0
    run "$VALISE" list-frames src/a
    stdout_lacks notes
    echo new | "$VALISE" put-frame src/b/new.c - -q
    run "$VALISE" synthesize --recursive --program ../bin/count --strict
    stdout_matches '^4 made'
}
t 'nothing may be missing' strict

# Nothing of ours gets in but what it is made of.
alone() {
    grow
    program see <<'EOF'
echo "args $#"
tr '\0' '\n' </proc/$$/environ | sort | sed 's/^/env /'
for fd in /proc/$$/fd/*; do echo "fd ${fd##*/} $(readlink "$fd")"; done
echo "cwd $(pwd -P)"
read -r pid comm state parent group session rest </proc/self/stat
[ "$session" = $$ ] && echo "own session"
EOF
    exec 7<"$VALISE"
    SECRET=shibboleth run "$VALISE" synthesize src/a --program ../bin/see
    exec 7<&-
    run "$VALISE" get-head src/a
    stdout_has 'args 0' 'env LC_ALL=C' 'env PATH=/usr/local/bin:/usr/bin:/bin' 'env TZ=UTC' 'cwd /' \
        'fd 0 /memfd:valise-input' 'own session'
    stdout_lacks shibboleth
    stdout_lacks "$PWD"
    stdout_lacks HOME
    stdout_lacks 'fd 7 '
    stdout_lacks "$VALISE"
}
t 'a program is alone' alone

# kill -9 between two programs: what the first one made is found, and it does not run again. [C23]
killed() {
    grow
    program stop <<EOF
echo run >>'$LOG'
cat
if [ -e '$LOG.wait' ] && [ "\$(wc -l <'$LOG')" -ge 2 ]; then
    echo \$\$ >'$LOG.pid'
    sleep 100
fi
EOF
    : >"$LOG"
    : >"$LOG.wait"
    "$VALISE" synthesize --recursive --program ../bin/stop -q &
    valise=$!
    until [ -s "$LOG.pid" ]; do sleep 0.01; done
    sleep 0.5 # it has just been started, and is tied to who started it next
    kill -9 "$valise"
    wait "$valise" || true
    # the program goes with it
    for _ in $(seq 500); do
        [ -d "/proc/$(cat "$LOG.pid")" ] || break
        sleep 0.01
    done
    [ ! -d "/proc/$(cat "$LOG.pid")" ]
    ran 2
    rm "$LOG.wait"
    run "$VALISE" validate
    run "$VALISE" list-frames src/b
    stdout_lacks notes # no head moved
    run "$VALISE" synthesize --recursive --program ../bin/stop
    stdout_matches '^4 made'
    ran 5 # src/b once, src/a twice, the others once
    run "$VALISE" validate
}
t 'a run that is killed does not run what was run' killed

# Ctrl-C reaches the program, which is in a session of its own.
interrupted() {
    grow
    program slow <<EOF
echo \$\$ >'$LOG'
sleep 100
EOF
    # what a shell starts with & ignores the signal
    python3 - "$VALISE" "$LOG" "$BIN/slow" <<'EOF'
import os, signal, subprocess, sys, time
valise, log, program = sys.argv[1:]
p = subprocess.Popen([valise, "synthesize", "--recursive", "--program", program],
                     stderr=subprocess.PIPE)
while not os.path.exists(log) or not os.path.getsize(log):
    time.sleep(0.01)
p.send_signal(signal.SIGINT)
said = p.communicate()[1].decode()
assert p.returncode == 130, p.returncode
assert "cancelled" in said, said
assert not os.path.isdir("/proc/" + open(log).read().strip())
EOF
    run "$VALISE" list-frames src
    stdout_lacks notes
    run "$VALISE" validate
}
t 'a run that is interrupted ends its program' interrupted

# Nobody waits for a program but who started it: others write meanwhile, and what was made of
# something else by then is made again. [C23]
beside() {
    grow
    program gate <<EOF
echo run >>'$LOG'
if [ ! -e '$LOG.go' ]; then
    : >'$LOG.at'
    while [ ! -e '$LOG.go' ]; do sleep 0.01; done
fi
cat
EOF
    : >"$LOG"
    "$VALISE" synthesize src/a --program ../bin/gate >"$LOG.out" 2>&1 &
    valise=$!
    until [ -e "$LOG.at" ]; do sleep 0.01; done
    echo meanwhile >../note
    run "$VALISE" put-frame src/a/x.c ../note
    run "$VALISE" gc
    : >"$LOG.go"
    wait "$valise"
    ran 2
    run "$VALISE" get-head src/a
    stdout_has meanwhile fresh
    run "$VALISE" validate
}
t 'others write while it runs' beside

# Several at once: each may run it, one head comes of it, and nothing is left to do.
crowd() {
    grow
    counting
    run "$VALISE" synthesize --recursive --program ../bin/count
    run "$VALISE" trust ../bin/count
    for i in 1 2 3; do
        echo "Round $i." | "$VALISE" put-frame src/a/x.c - -q
        for _ in 1 2 3; do
            ("$VALISE" regenerate --recursive --run -q || echo "$?" >>"$LOG.failed") &
        done
        wait
    done
    # who lost three times said so (5), and nothing else
    [ ! -f "$LOG.failed" ] || ! grep -qv '^5$' "$LOG.failed"
    run "$VALISE" regenerate --recursive --run
    run "$VALISE" regenerate --recursive --run
    stdout_matches '^0 made'
    run "$VALISE" get-head src
    stdout_has 'Round 3.'
    run "$VALISE" validate
}
t 'several at once' crowd

done_testing
