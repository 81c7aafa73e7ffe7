#!/usr/bin/env bash
# 21-extension.sh -- operations of an extension are commands like any other. [K6 K13 L6 Q25]
. "$(dirname "$0")/lib.sh"
[ -e "${VALISE_TOY:-}" ] || skip_all "no extension at VALISE_TOY"

mkdir -p "$HOME/.config/valise"
printf '[extension "toy"]\n    path = %s\n' "$VALISE_TOY" >"$HOME/.config/valise/config"

t 'they are found, explained, listed and completed' '
    run "$VALISE" toy rows 2 hello
    stdout_is "NUMBER  TEXT
     1  hello
     2  hello"
    run "$VALISE" toy rows 2 --json
    stdout_is "{\"number\":1,\"text\":\"\"}
{\"number\":2,\"text\":\"\"}"
    run "$VALISE" toy --help
    stdout_has "toy rows COUNT [TEXT]"
    run "$VALISE" help toy rows
    stdout_has "valise toy rows 3 hello"
    run "$VALISE" help
    stdout_has "toy rows"
    run "$VALISE" commands
    stdout_has "toy:work"
    run "$VALISE" __complete -- toy r
    stdout_has "rows"
    expect_exit 2 "$VALISE" toy rwos
    stderr_has "toy rows"
'

t 'a job runs in a workspace, and is quiet where there is no terminal [L6]' '
    expect_exit 3 "$VALISE" toy work 3
    "$VALISE" -q init
    run "$VALISE" toy work 3
    stdout_is "done: 3"
    stderr_is_empty
'

t 'on a terminal it says how far it is [L6]' '
    need script
    "$VALISE" -q init
    script -qec "\"$VALISE\" toy work 8 --pause 60" /dev/null >shown
    run cat -v shown
    stdout_matches "toil  \[=*> *\] +[0-9]+ %  [0-9]+ of 8 steps"
    stdout_matches "\^M\^\[\[K.*done:.* 8"
    script -qec "\"$VALISE\" -q toy work 8 --pause 60" /dev/null >shown
    run cat -v shown
    stdout_lacks toil
'

t 'Ctrl-C stops it where everything is consistent [L6 K28]' '
    "$VALISE" -q init
    # A shell lets background jobs ignore SIGINT.
    env --default-signal=INT "$VALISE" toy work 500 --pause 20 >out 2>err &
    pid=$!
    until [ "$(readlink /proc/$pid/exe)" = "$VALISE" ] &&
        grep -q "^SigCgt:.*[2367abef]\$" /proc/$pid/status; do sleep 0.01; done
    kill -INT $pid
    code=0
    wait $pid || code=$?
    [ $code = 130 ] || fail "exit code $code"
    run cat err
    stdout_has "valise:"
    run "$VALISE" pin list
'

t 'a secret is taken from the environment or a private file, and never shown [Q25]' '
    expect_exit 2 "$VALISE" toy whisper
    stderr_has VALISE_SECRET_API_KEY --api-key-file
    VALISE_SECRET_API_KEY=planted run "$VALISE" toy whisper
    stdout_is "length: 7"
    expect_exit 2 "$VALISE" toy whisper --api-key planted
    stderr_lacks planted
    echo planted >key
    chmod 644 key
    expect_exit 4 "$VALISE" toy whisper --api-key-file key
    stderr_has "chmod 600 key"
    chmod 600 key
    run "$VALISE" toy whisper --api-key-file key --json
    stdout_is "{\"length\":7}"
'

t 'ids may be given as they are printed: short [K2]' '
    "$VALISE" -q init
    "$VALISE" -q pin add a
    "$VALISE" -q pin add b
    run "$VALISE" log list --json
    a=$(json_get [1].id)
    b=$(json_get [0].id)
    run "$VALISE" toy echo "${a: -8}" --commands "${b: -8}" --commands "$a" --json
    json_is command "$a"
    json_is commands "[\"$b\",\"$a\"]"
    run "$VALISE" toy echo "$a"
    stdout_is "command: ${a: -8}"
    expect_exit 3 "$VALISE" toy echo ffffffff
    stderr_has "ffffffff"
    expect_exit 3 "$VALISE" toy echo --object "${a: -8}"
    stderr_has "of this kind"
    expect_exit 6 "$VALISE" toy echo xyz
    expect_exit 6 "$VALISE" toy echo abc
'

t 'a command may be told what to expect; a conflict says what is there [K8 L5]' '
    "$VALISE" -q init
    run "$VALISE" toy set x 1 --expect null
    run "$VALISE" toy set x 2 --expect 1
    expect_exit 5 "$VALISE" toy set x 3 --expect 1
    stderr_has "it is now 2"
    [ "$(wc -l <"$ERR")" = 2 ]
    echo 1 >expected
    expect_exit 5 "$VALISE" toy set x 3 --expect @expected --json
    [ "$("$VALISE" json get "@$ERR" /error/current)" = 2 ]
    [ "$("$VALISE" json get "@$ERR" /error/code)" = "\"CONFLICT\"" ]
    expect_exit 6 "$VALISE" toy set x 3 --expect nonsense
    run "$VALISE" help toy set
    stdout_has "--expect is compared with the number"
'

t 'trust is recorded in the configuration of the user [K34]' '
    cp "$VALISE_TOY" here.so
    XDG_CONFIG_HOME=$PWD/config run "$VALISE" trust here.so
    run cat config/valise/config
    stdout_has here.so sha256
    XDG_CONFIG_HOME=$PWD/config run "$VALISE" trust --remove here.so
    XDG_CONFIG_HOME=$PWD/config expect_exit 3 "$VALISE" trust --remove here.so
    XDG_CONFIG_HOME=$PWD/config expect_exit 3 "$VALISE" trust /nonexistent
'

t 'rows are cut at the width of a terminal, and only there [L4]' '
    need script
    long=$(printf "x%.0s" {1..100})
    script -qec "stty cols 40; \"$VALISE\" toy rows 1 $long" /dev/null >shown
    run tail -1 shown
    stdout_matches "^     1  x{31}…"
    run "$VALISE" toy rows 1 "$long"
    stdout_has "$long"
'

t 'what steers a terminal is shown there and passed on elsewhere [Q26]' '
    need script
    text=$(printf "a\033[31mb\302\233")
    script -qec "\"$VALISE\" --color never toy rows 1 \"$text\"" /dev/null >shown
    run cat shown
    stdout_has "a\\x1b[31mb\\u009b"
    run "$VALISE" toy rows 1 "$text" --json
    stdout_has "u001b[31mb$(printf "\302\233")"
'

t 'colours only on a terminal, and as --color and NO_COLOR say [L4]' '
    need script
    bold=$(printf "\033[1m")
    run "$VALISE" toy rows 1
    stdout_lacks "$bold"
    run "$VALISE" --color always toy rows 1
    stdout_has "$bold"
    script -qec "TERM=xterm \"$VALISE\" toy rows 1" /dev/null >shown
    run cat shown
    stdout_has "$bold"
    script -qec "TERM=xterm NO_COLOR=1 \"$VALISE\" toy rows 1" /dev/null >shown
    run cat shown
    stdout_lacks "$bold"
    script -qec "TERM=xterm NO_COLOR=1 \"$VALISE\" toy rows 1 --color=always" /dev/null >shown
    run cat shown
    stdout_has "$bold"
    script -qec "TERM=xterm \"$VALISE\" toy rows 1 --color=never" /dev/null >shown
    run cat shown
    stdout_lacks "$bold"
'

t 'long lists on a terminal go through the pager, without a shell [L4 Q26]' '
    need script
    printf "#!/bin/sh\necho paged \"\$@\"\ntail -1\n" >pager
    chmod +x pager
    script -qec "stty rows 10; PAGER=\"./pager -x\" \"$VALISE\" toy rows 50 hello" /dev/null >shown
    run cat shown
    stdout_has "paged -x" "50  hello"
    stdout_lacks "49  hello"
    script -qec "stty rows 10; PAGER=./pager \"$VALISE\" toy rows 3 hello" /dev/null >shown
    run cat shown
    stdout_lacks paged
    script -qec "stty rows 10; PAGER=./pager \"$VALISE\" --no-pager toy rows 50 hello" /dev/null >shown
    run cat shown
    stdout_lacks paged
    script -qec "stty rows 10; PAGER=cat \"$VALISE\" toy rows 50 hello" /dev/null >shown
    run cat shown
    stdout_has "49  hello"
    script -qec "stty rows 10; PAGER=\"/nonexistent; touch evil\" \"$VALISE\" toy rows 50 hello" /dev/null >shown
    run cat shown
    stdout_has "49  hello"
    is_gone evil
    PAGER=./pager run "$VALISE" toy rows 50
    stdout_lacks paged
'

t 'a list is streamed: a reader that goes away ends it' '
    run bash -o pipefail -c "\"$VALISE\" toy rows 100000000 x --json | head -1"
    stdout_is "{\"number\":1,\"text\":\"x\"}"
    stderr_is_empty
'

t 'an extension that is broken is told of, but what is built in still works' '
    echo nonsense >"$PWD/broken.so"
    mkdir -p config/valise
    printf "[extension \"toy\"]\n    path = %s\n" "$PWD/broken.so" >config/valise/config
    XDG_CONFIG_HOME=$PWD/config run "$VALISE" json canonical 1
    XDG_CONFIG_HOME=$PWD/config run "$VALISE" help
    XDG_CONFIG_HOME=$PWD/config run "$VALISE" __complete -- j
    XDG_CONFIG_HOME=$PWD/config expect_exit 1 "$VALISE" toy rows 1
    stderr_has broken.so
'

done_testing
