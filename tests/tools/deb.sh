#!/bin/sh
# deb.sh -- make deb makes packages that lintian has nothing against, that hold all a program needs, and
# writes nothing beside the tree. They are compiled anew, so that this is for the long run.
. "$(dirname "$0")/lib.sh"

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

[ -n "${VALISE_TEST_LONG-}" ] || skip_all 'the packages are built in the long run (VALISE_TEST_LONG=1)'
for tool in dh dpkg-buildpackage lintian git; do
    command -v $tool >/dev/null 2>&1 || skip_all "there is no $tool (tools/deps build deb)"
done
git -C "$root" rev-parse -q --verify HEAD >/dev/null 2>&1 || skip_all 'this is no checkout of git'

unset MAKEFLAGS MAKELEVEL DEB_BUILD_OPTIONS
export VALISE_SKIP_DEPS=1
tree=$scratch/around/valise
system=$scratch/system
debs=$tree/build/deb

make_deb() {
    git clone -q "$root" "$tree" && (cd "$tree" && make deb)
}

nothing_beside() {
    test "$(ls "$scratch/around")" = valise && test -z "$(git -C "$tree" status --porcelain)"
}

unpack() {
    for package in valise libvalise0 libvalise-dev; do
        dpkg-deb -x "$debs/$package"_*.deb "$system" || return
    done
}

depends() { # PACKAGE
    dpkg-deb -f "$debs/$1"_*.deb Depends
}

outside() {
    cp -R "$system/usr/share/doc/libvalise-dev/examples/outside" "$scratch/" && cd "$scratch/outside" &&
        PKG_CONFIG_PATH=$(echo "$system"/usr/lib/*/pkgconfig) make &&
        LD_LIBRARY_PATH=$(echo "$system"/usr/lib/*-linux-*) ./tally "$scratch/shared" &&
        ./tally-static "$scratch/static"
}

outside_cmake() {
    cd "$scratch/outside" && cmake -B build -DCMAKE_PREFIX_PATH="$system/usr" && cmake --build build &&
        build/tally "$scratch/shared" && build/tally-static "$scratch/static"
}

none_called() { # NAME
    test -d "$system/usr/share/doc" && ! find "$system/usr/share/doc" -name "$1" | grep .
}

page() {
    gzip -dc "$system/usr/share/man/man1/valise-pin-add.1.gz"
}

says 'the packages are made, and lintian is content' 'libvalise-dev_.*\.deb' make_deb
green 'nothing is written beside them' nothing_beside
green 'they are unpacked' unpack
says 'the command works' '^valise [0-9]' "$root/tools/smoke" "$system/usr/bin/valise"
says 'it needs what it is linked with' 'libsqlite3-0' depends valise
says 'its pages are there' '^\.TH' page
green 'and its completions, where Debian looks for them' \
    test -s "$system/usr/share/zsh/vendor-completions/_valise"
says 'who builds gets the very library' 'libvalise0 (= ' depends libvalise-dev
says 'the program outside, with make' '^run 1$' outside
if has 'the program outside, with CMake' cmake; then
    says 'the program outside, with CMake' '^run 2$' outside_cmake
fi
green 'without the build files of this tree' none_called meson.build

done_testing
