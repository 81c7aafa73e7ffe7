#!/bin/sh
# test_run.sh -- tools/test-run counts right, and whatever goes wrong is a failure.
. "$(dirname "$0")/lib.sh"

mkdir "$scratch/tools"
cp "$root/tools/test-run" "$scratch/tools/"

program() { # NAME: what it does comes from stdin
    { echo '#!/bin/sh' && cat; } >"$scratch/$1"
    chmod +x "$scratch/$1"
}

test_run() {
    "$scratch/tools/test-run" "$@"
}

ends_with() { # LAST-LINE STEP...: the summary is the last line, whatever the verdict
    line=$1
    shift
    test_run "$@" >"$scratch/all"
    tail -n 1 "$scratch/all" | grep -qx "$line"
}

program good <<'END'
printf 'TAP version 13\nok 1 - a\nok 2 - b # SKIP no data\nok 3\n1..3\n'
END
program bad <<'END'
printf '1..2\nok 1 - a\n# before\nnot ok 2 - b\n# because of it\n'; exit 1
END
program crash <<'END'
printf 'ok 1 - a\n'; kill -9 $$
END
program short <<'END'
printf '1..3\nok 1 - a\n'
END
program leak <<'END'
printf 'ok 1 - a\n1..1\n'; exit 23
END
program empty <<'END'
printf '1..0\n'
END
program skipped <<'END'
printf '1..0 # SKIP no network\n'
END
program bail <<'END'
printf 'ok 1\nBail out! disk on fire\n1..1\n'
END

green 'passed and skipped cases are counted' ends_with '2 passed, 0 failed, 1 skipped' ./good
green 'a skipped program is one skip' ends_with '0 passed, 0 failed, 1 skipped' ./skipped
says 'the reason of a skip is shown' 'skipped 1: no data' test_run ./good
red 'not ok fails the run' '^1 passed, 1 failed' test_run ./bad
red 'a failing case is named' 'FAILED ./bad: b' test_run ./bad
red 'a crash fails the run' '^1 passed, 1 failed' test_run ./crash
red 'a plan that is not kept fails the run' 'planned 3 cases and ran 1' test_run ./short
red 'a bad exit code alone fails the run' 'status 23' test_run ./leak
red 'no cases fail the run' 'has no cases' test_run ./empty
red 'bailing out fails the run' 'disk on fire' test_run ./bail
green 'steps are added up' ends_with '4 passed, 2 failed, 2 skipped' ./good ./bad ./crash ./skipped
green 'the summary is kept in a file' grep -qx '4 passed, 2 failed, 2 skipped' \
    "$scratch/build/test-summary"

# The same programs as the tests of a build directory.
program tools/build <<END
cd "$scratch" && { [ -d build/x ] || meson setup build/x >/dev/null; }
END
cat >"$scratch/meson.build" <<'END'
project('x')
foreach name : ['good', 'bad', 'crash']
  test(name, find_program(name), protocol: 'tap', suite: name)
endforeach
END
red 'a build directory is counted' '^4 passed, 2 failed, 1 skipped' test_run build/x
red 'a failing case is shown with its remarks' 'because of it' test_run build/x
red 'a crash is named by its program' 'FAILED build/x: x:crash / crash: ended' test_run build/x
says 'one suite can be asked for' '^2 passed, 0 failed, 1 skipped' test_run build/x:good
red 'several can' '^3 passed, 1 failed, 1 skipped' test_run build/x:good,crash
says 'all but some can' '^2 passed, 0 failed, 1 skipped' test_run build/x:-bad,-crash
red 'a suite without tests fails the run' 'no test ran' test_run build/x:nonsense
program tools/build <<'END'
echo 'main.c:1: error: nonsense'; exit 1
END
red 'a build that breaks fails the run' 'error: nonsense' test_run build/x
green 'and is one failure' ends_with '2 passed, 1 failed, 1 skipped' build/x ./good

done_testing
