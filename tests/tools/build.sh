#!/bin/sh
# build.sh -- tools/build configures once, again when its options change, and .ci/run always
# ends with the summary. meson, ninja and make are played by scripts.
. "$(dirname "$0")/lib.sh"

unset JOBS # of `make JOBS=2 test`; what is built here says its own
bin=$scratch/bin
mkdir "$bin" "$scratch/tools" "$scratch/.ci"
cp "$root/tools/build" "$scratch/tools/"
cp "$root/.ci/run" "$scratch/.ci/"

fake() { # NAME: its script comes from stdin
    { echo '#!/bin/sh' && cat; } >"$bin/$1"
    chmod +x "$bin/$1"
}

fake meson <<END
echo "\$CC \$*" >>"$scratch/log"
mkdir -p "\$2" && touch "\$2/build.ninja"
END
fake ninja <<END
echo "ninja \$*" >>"$scratch/log"
END

build() {
    PATH=$bin:$PATH "$scratch/tools/build" "$@"
}

logged() { # TIMES WORDS
    test "$1" -eq "$(grep -c -e "$2" "$scratch/log")"
}

red 'an unknown flavour is refused' "no flavour 'nonsense'" build nonsense
green 'asan is configured' build --configure asan
green 'with sanitizers and coverage' \
    logged 1 '^clang setup build/asan .*b_sanitize=address,undefined .*cover=true'
green 'and not compiled' logged 0 ninja
green 'then it is compiled' build asan
green 'by ninja' logged 1 'ninja .*-C build/asan'
green 'without being configured again' logged 1 '^clang setup'
echo 'clang -Dother=true' >"$scratch/build/asan/valise-options"
green 'other options' build asan
green 'make it anew' logged 2 '^clang setup'
green 'the product alone' build --product release
green 'is a target of its own' logged 1 'ninja .*-C build/release product'
green 'and made' logged 1 '^gcc setup build/release'
fake meson <<'END'
echo 'meson.build:1: error: nonsense'; exit 1
END
red 'a configuration that breaks is shown' 'error: nonsense' build tsan

ci() { # STATUS, and the summary make leaves, or nothing
    rm -f "$scratch/build/test-summary"
    fake make <<END
[ -z "$2" ] || echo "$2" | tee "$scratch/build/test-summary"
echo "make: *** [Makefile] Error $1"
exit $1
END
    PATH=$bin:$PATH "$scratch/.ci/run" >"$scratch/ci"
    status=$?
    tail -n 1 "$scratch/ci"
    return "$status"
}

red 'ci: a red run ends with its summary' '^3 passed, 1 failed, 0 skipped$' \
    ci 2 '3 passed, 1 failed, 0 skipped'
red 'ci: a run that dies has one too' '^0 passed, 1 failed, 0 skipped$' ci 2 ''
green 'ci: a green run is green' ci 0 '3 passed, 0 failed, 0 skipped'

done_testing
