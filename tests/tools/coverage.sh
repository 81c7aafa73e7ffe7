#!/bin/sh
# coverage.sh -- tools/coverage measures src/ and is red below its bar. [Q29]
. "$(dirname "$0")/lib.sh"

mkdir -p "$scratch/src" "$scratch/tools" "$scratch/cli" "$scratch/build/asan/src"
cp "$root/tools/coverage" "$scratch/tools"
coverage=$scratch/tools/coverage

# Eleven lines, of which ten run without an argument.
cat >"$scratch/src/work.c" <<'END'
int work(int count);
int work(int count)
{
    int a = count;
    a += 1;
    a += 2;
    a += 3;
    a += 4;
    a += 5;
    if (count > 1)
        a += 6;
    return a;
}
END
cat >"$scratch/cli/main.c" <<'END'
int work(int count);
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 5)
        return argc;
    return work(argc) == 0;
}
END

measured() { # run the program with the given arguments, then measure
    "$coverage" --clear && ./program "$@" && "$coverage"
}

red 'nothing to measure is a failure' 'coverage: 0.0 % of lines in src/ (bar: 85 %)' "$coverage"
cd "$scratch/build/asan" || exit 1
profile=-fprofile-instr-generate=$scratch/build/asan/profile/%c%m.profraw
clang -O0 -fPIC "$profile" -fcoverage-mapping -mllvm -runtime-counter-relocation \
    -c "$scratch/src/work.c" "$scratch/cli/main.c" &&
    clang "$profile" -shared -o src/libvalise.so work.o && clang "$profile" -o program work.o main.o
says 'lines of src/ are counted, others are not' 'coverage: 90.9 % of lines in src/' measured
says 'all of them can be reached' 'coverage: 100.0 % of lines in src/' measured more
"$coverage" --clear
./program
green 'a bar that is met is green' "$coverage" --bar 90
red 'a bar that is missed is red' '^not ok 1' "$coverage" --bar 91
says 'the report names the files' 'src/work.c .* 90.91%' "$coverage" --report
green 'and writes a page' test -s "$scratch/build/coverage/index.html"
"$coverage" --clear
red 'what was cleared does not count' 'coverage: 0.0 %' "$coverage"

done_testing
