#!/usr/bin/env bash
# 00-lib.sh -- lib.sh itself: what must fail does fail, and says so.
. "$(dirname "$0")/lib.sh"

# What was asked of this script is not meant for the scripts it makes.
export -n VALISE_CLI_ONLY VALISE_CLI_KEEP VALISE_CLI_VERBOSE VALISE_UPDATE_GOLDEN

# A library that never fails would pass all of its own tests: these two are made by hand.
for commands in 'run false' 'false'; do
    printf '. "%s/lib.sh"\nt bad "%s"\ndone_testing\n' "$LIB_DIR" "$commands" >"$LIB_ROOT/bad.sh"
    if bash "$LIB_ROOT/bad.sh" >"$LIB_ROOT/bad.out" 2>&1 ||
        ! grep -qx 'not ok 1 - bad' "$LIB_ROOT/bad.out"; then
        echo "Bail out! a test that fails by $commands is not reported"
        exit 1
    fi
done

# script <<'EOF': a test script with these lines; run it with expect_exit.
script() {
    { echo ". \"$LIB_DIR/lib.sh\"" && cat; } >script.sh
}

# One test with these commands fails, and the report has these texts.
fails() {
    local commands=$1
    shift
    printf '. "%s/lib.sh"\nt case %q\ndone_testing\n' "$LIB_DIR" "$commands" >script.sh
    expect_exit 1 bash script.sh
    stdout_has "not ok 1 - case" "$@"
}

passes() {
    printf '. "%s/lib.sh"\nt case %q\ndone_testing\n' "$LIB_DIR" "$1" >script.sh
    expect_exit 0 bash script.sh
    stdout_matches "^ok 1 - case$"
    stderr_is_empty
}

t 'tests are numbered and planned' '
    script <<"EOF"
t one "run true"
t two "run true"
done_testing
EOF
    run bash script.sh
    stdout_is <<EOF
ok 1 - one
ok 2 - two
1..2
EOF
'

t 'a failing test does not stop the others' '
    script <<"EOF"
t one "expect_exit 0 false"
t two "run true"
done_testing
EOF
    expect_exit 1 bash script.sh
    stdout_has "not ok 1 - one" "ok 2 - two" "1..2"
'

t 'the failing command is shown with its output' '
    fails "run sh -c \"echo out; echo err >&2; exit 4\"" \
        "# exit code 4, expected 0" "# stdout | out" "# stderr | err"
    fails "run true; ls /no/such/file" "# failed with 2: ls /no/such/file" "No such file"
    fails "true | false | true" "failed with 1"
'

t 'exit codes' '
    passes "expect_exit 3 sh -c \"exit 3\""
    fails "expect_exit 3 true" "exit code 0, expected 3: true"
    fails "expect_exit 0 /no/such/program" "exit code 127, expected 0"
'

t 'stdout and stderr are compared' '
    passes "run echo a; stdout_is a; stderr_is_empty"
    fails "run echo a; stdout_is b" "# -b" "# +a" "# stdout differs"
    fails "run printf a; stdout_is a" "No newline at end"
    passes "run sh -c \"echo a >&2\"; stderr_is a; stdout_is_empty"
    fails "run sh -c \"echo a >&2\"; stderr_is b" "# stderr differs"
    fails "run echo a; stdout_is_empty" "# stdout is not empty"
    fails "run sh -c \"echo a >&2\"; stderr_is_empty" "# stderr is not empty"
'

t 'parts of stdout and stderr' '
    passes "run echo abc; stdout_has a b; stdout_lacks d; stdout_matches \"^a.c$\""
    fails "run echo abc; stdout_has a d" "# stdout has no: d"
    fails "run echo abc; stdout_lacks b" "# stdout has: b"
    fails "run echo abc; stdout_matches \"^b\"" "# stdout does not match: ^b"
    passes "run echo \"-x .*\"; stdout_has \"-x .*\""
    fails "run echo x; stdout_has \".*\"" "# stdout has no: .*"
    passes "run sh -c \"echo abc >&2\"; stderr_has b; stderr_lacks d; stderr_matches ^a"
    fails "run true; stderr_has b" "# stderr has no: b"
    fails "run sh -c \"echo abc >&2\"; stderr_lacks b" "# stderr has: b"
    fails "run true; stderr_matches ^a" "# stderr does not match"
'

t 'JSON' '
    need python3
    echo "{\"a\":[1,{\"b\":\"x\"}],\"t\":true}" >doc
    printf "{\"n\":1}\n{\"n\":2}\n" >lines
    echo "{\"b\":\"x\"}" >object
    run="run cat $PWD/doc"
    passes "$run; json_is a[0] 1; json_is a[1].b x; json_is t true"
    passes "$run; json_is a[-1] \"\$(cat $PWD/object)\""
    fails "$run; json_is a[0] 2" "# a[0] is 1, expected 2"
    fails "$run; json_is a[5] 2" "a[5]: IndexError"
    fails "$run; json_is c 2" "c: KeyError"
    fails "run echo nonsense; json_is a 1" "JSONDecodeError"
    passes "run cat $PWD/lines; json_is [1].n 2"
    passes "$run; b=\$(json_get a[1].b); [ \$b = x ]"
'

t 'input reaches the command' '
    passes "run cat <<<hello; stdout_is hello"
    passes "run cat; stdout_is_empty"
'

t 'files' '
    passes "echo a >f; exists f; file_is f a; is_gone g"
    fails "exists g" "# g is not there"
    fails "echo a >f; is_gone f" "# f is there"
    fails "echo a >f; file_is f b" "# f differs"
'

t 'each test has a new directory and an empty home' '
    script <<"EOF"
t one "echo x >file; exists file"
t two "is_gone file; [ -z \"\$(ls -A .)\" ]; [ -z \"\$(ls -A ~)\" ]"
done_testing
EOF
    run bash script.sh
'

t 'skipping' '
    script <<"EOF"
t one "skip not here"
t two "need no-such-program"
done_testing
EOF
    run bash script.sh
    stdout_has "ok 1 - one # SKIP not here" "ok 2 - two # SKIP no-such-program is not installed"
    script <<"EOF"
skip_all no such thing
EOF
    run bash script.sh
    stdout_is "1..0 # SKIP no such thing"
'

t 'a test without a check fails' '
    fails "true" "# no check ran"
'

t 'a script that ends early is not complete' '
    script <<"EOF"
t one "run true"
EOF
    expect_exit 1 bash script.sh
    stdout_has "Bail out!"
    script <<"EOF"
t one "run true"
exit 0
done_testing
EOF
    expect_exit 1 bash script.sh
    script <<"EOF"
done_testing
EOF
    expect_exit 1 bash script.sh
'

t 'only the tests that fit a pattern' '
    script <<"EOF"
t one "run false"
t two "run true"
done_testing
EOF
    run env VALISE_CLI_ONLY="t*" bash script.sh
    stdout_has "ok 1 - two" "1..1"
'

t 'golden files are compared and written' '
    mkdir lib
    cp "$LIB_DIR"/lib.sh "$LIB_DIR"/json_get.py lib
    printf ". lib/lib.sh\nt case \"run echo new; golden sub/out\"\ndone_testing\n" >script.sh
    expect_exit 1 bash script.sh
    stdout_has "is not there (VALISE_UPDATE_GOLDEN=1 writes it)"
    run env VALISE_UPDATE_GOLDEN=1 bash script.sh
    file_is lib/golden/sub/out new
    run bash script.sh
    echo old >lib/golden/sub/out
    expect_exit 1 bash script.sh
    stdout_has "# -old" "# +new" "(VALISE_UPDATE_GOLDEN=1 rewrites it)"
    file_is lib/golden/sub/out old
'

function_body() {
    run echo "from a function"
    stdout_is "from a function"
}
t 'commands may be a function' function_body

t 'nothing is left behind' '
    mkdir tmp
    script <<"EOF"
t one "mkdir locked; run chmod 0 locked"
done_testing
EOF
    run env TMPDIR="$PWD/tmp" bash script.sh
    [ -z "$(ls -A tmp)" ]
'

done_testing
