#!/bin/sh
# package.sh -- an installed tree that was moved is found by CMake and by pkg-config, and is taken away
# again without a trace; its pages and completions are sound; what is said twice is said alike. [K27]
. "$(dirname "$0")/lib.sh"

version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" "$root/meson.build")
unset DESTDIR PREFIX PKG_CONFIG_PATH CMAKE_PREFIX_PATH LD_LIBRARY_PATH MAKEFLAGS MAKELEVEL

# ---- make install, make uninstall: of the build that is tested ----

mkdir -p "$scratch/tree/tools" "$scratch/tree/build"
cp "$root/tools/install" "$scratch/tree/tools/"
ln -s "$build" "$scratch/tree/build/release"
prefix=$(meson introspect "$build" --buildoptions |
    python3 -c 'import json, sys; print(next(o["value"] for o in json.load(sys.stdin)
        if o["name"] == "prefix"))')
staged="$scratch/st aged"
valise="$scratch/va lise"

install_valise() { # PREFIX DESTDIR ARGUMENTS...
    (cd "$scratch" && PREFIX=$1 DESTDIR=$2 && shift 2 && export PREFIX DESTDIR && umask 077 &&
        tree/tools/install "$@")
}

files_of() { # FOLDER
    (cd "$1" && find . ! -type d | sort)
}

readable_by_all() { # FOLDER
    ! find "$1" -mindepth 1 ! -type l ! -perm -o=r | grep .
}

nothing_but() { # FOLDER FILE
    test "$(files_of "$1")" = "$2" && ! find "$1" -mindepth 1 -name 'valise*' | grep .
}

for odd in "it's" 'a"b' 'a:b' 'a;b' 'a\b' "a\`b" "a\$b"; do
    red "a prefix that would not be found again is refused: $odd" 'would not be found again' \
        install_valise "/opt/$odd" "$staged"
done
red 'so is one with a line break' 'a line break' install_valise "/opt/a
b" "$staged"
red 'and none' 'PREFIX is empty' install_valise '' "$staged"
red 'and words nobody knows' "what is '--nonsense'" install_valise "$prefix" "$staged" --nonsense
green 'nothing was installed so far' test ! -e "$staged"
says 'it is installed into a folder with a blank in its name, seen from here' \
    "installed below $staged$prefix" install_valise "$prefix" 'st aged'
green 'for all to read, whatever the umask' readable_by_all "$staged$prefix"
cp -R "$staged$prefix" "$valise"
touch "$staged$prefix/share/man/man1/other.1"
says 'it is taken away again' 'removed [0-9][0-9]* files' \
    install_valise "$prefix" "$staged" --remove
green 'without a trace, and without what others have there' \
    nothing_but "$staged$prefix" ./share/man/man1/other.1
says 'a second time there is nothing' 'removed 0 files' \
    install_valise "$prefix" "$staged" --remove

# Another prefix is told to meson, as one word.
mkdir -p "$scratch/played/build" "$scratch/bin"
cp -R "$scratch/tree/tools" "$scratch/played/tools"
cat >"$scratch/bin/meson" <<END
#!/bin/sh
[ "\$1" != introspect ] || echo '[{"name": "prefix", "value": "/usr/local"}]'
for word; do printf '<%s>' "\$word"; done >>"$scratch/log"
END
printf '#!/bin/sh\n' >"$scratch/played/tools/build"
chmod +x "$scratch/bin/meson" "$scratch/played/tools/build"
elsewhere() {
    PATH=$scratch/bin:$PATH PREFIX=/opt/va\ lise/ DESTDIR=$scratch/none \
        "$scratch/played/tools/install" &&
        grep -F '<configure><build/release><-Dprefix=/opt/va lise>' "$scratch/log"
}
green 'another prefix is told to meson' elsewhere

# ---- the program outside, in a tree that was moved ----

cp -R "$root/examples/outside" "$scratch/out side"
cd "$scratch/out side" || exit 1

# Twice, and the second time it knows of the first.
ran() { # PROGRAM FOLDER [LIBRARIES]
    LD_LIBRARY_PATH=${3-} "$1" "$2" && LD_LIBRARY_PATH=${3-} "$1" "$2" >"$2/said" &&
        printf 'compiled with Valise %s, runs with %s\nrun 1\nrun 2\n' "$version" "$version" |
        diff - "$2/said"
}

needs_valise() {
    readelf -d "$1" | grep -q 'NEEDED.*libvalise\.so\.0'
}

strict='-Wall -Wextra -pedantic -Werror'

with_make() {
    PKG_CONFIG_PATH=$valise/lib/pkgconfig make CFLAGS="$strict"
}

green 'outside, with make and pkg-config' with_make
green 'its program runs' ran ./tally "$scratch/by-make" "$valise/lib"
green 'and uses the shared library' needs_valise tally
green 'the static one runs' ran ./tally-static "$scratch/by-make-static"
red 'and has Valise inside' '' needs_valise tally-static

# What docs/install.md tells a program to do.
documented() { # PATTERN: of the lines that begin with it
    PKG_CONFIG_PATH=$scratch/plain/lib/pkgconfig
    export PKG_CONFIG_PATH
    grep "^$1" "$root/docs/install.md" >"$scratch/lines" || return
    while read -r line; do
        eval "$line" && ran ./tally "$scratch/documented-$((lines += 1))" "$valise/lib" || return
    done <"$scratch/lines"
}

# shellcheck disable=SC2016  # those are backquotes of Markdown
all_there() {
    sed -n '/^## What is where/,/^## A program/s/^| `\([^`]*\)`.*/\1/p' "$root/docs/install.md" \
        >"$scratch/places"
    sed -n '/^## What is where/,/^## A program/s/^| `.*, `\([^`]*\)`.*/\1/p' "$root/docs/install.md" \
        >>"$scratch/places"
    test "$(wc -l <"$scratch/places")" -gt 10 || return
    while read -r place; do
        test -e "$valise/$place" || { echo "there is no $place" && return 1; }
    done <"$scratch/places"
}

ln -s "$valise" "$scratch/plain"
green 'all is where docs/install.md says' all_there
green 'what it says about pkg-config' documented 'cc tally.c -o tally \$'
green 'and about static linking' documented 'cc tally.c -o tally .*--static'

with_cmake() { # FOLDER OPTIONS...
    cmake_folder=$1
    shift
    cmake -S . -B "$cmake_folder" -DCMAKE_PREFIX_PATH="$valise" "$@" && cmake --build "$cmake_folder"
}

# A project of its own. The compilers are known after the first one.
project() { # LINE...
    mkdir -p "$scratch/project"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.13)' 'project(p LANGUAGES CXX)' "$@" \
        >"$scratch/project/CMakeLists.txt"
    cp tally.c "$scratch/project/tally.cc"
    (cd "$scratch/project" && rm -f build/CMakeCache.txt && with_cmake build)
}

if has 'outside, with CMake' cmake; then
    green 'outside, with CMake' with_cmake build -DCMAKE_C_FLAGS="$strict"
    green 'its program runs' ran build/tally "$scratch/by-cmake"
    green 'and uses the shared library' needs_valise build/tally
    green 'the static one runs' ran build/tally-static "$scratch/by-cmake-static"
    red 'and has Valise inside' '' needs_valise build/tally-static
    green 'from C++, with nothing shared at all, and found twice' project \
        'find_package(valise CONFIG REQUIRED)' 'find_package(valise 0.1...<0.2 CONFIG REQUIRED)' \
        'add_executable(tally tally.cc)' 'target_link_libraries(tally valise::static -static)'
    green 'it runs' ran "$scratch/project/build/tally" "$scratch/by-cmake-cc"
    awk '/^```cmake/ {on = 1; next} /^```/ {on = 0} on' "$root/docs/install.md" \
        >"$scratch/out side/CMakeLists.txt"
    green 'as docs/install.md has it' with_cmake documented
    green 'that runs too' ran documented/tally "$scratch/by-document"
    red 'a version to come is not there' "version: $version" \
        project 'find_package(valise 99 CONFIG REQUIRED)'
    red 'before 1.0 another minor version promises nothing' 'version: 0.1' \
        project 'find_package(valise 0.0 CONFIG REQUIRED)'
    green 'this very version is there' project "find_package(valise $version EXACT CONFIG REQUIRED)"
    red 'a range that ends before it is told' "version: $version" \
        project "find_package(valise 0.0...<$version CONFIG REQUIRED)"
    red 'a component nobody knows is told' 'no component nonsense, only valise and' \
        project 'find_package(valise CONFIG REQUIRED COMPONENTS nonsense)'
    says 'unless it is optional' 'static TRUE, nonsense FALSE' project \
        'find_package(valise CONFIG REQUIRED COMPONENTS static OPTIONAL_COMPONENTS nonsense)' \
        "message(STATUS \"static \${valise_static_FOUND}, nonsense \${valise_nonsense_FOUND}\")"
    sed -i 's/set(_valise_needs /&nonsense /' "$valise/lib/cmake/valise/valise-config.cmake"
    red 'a library that the static one needs is told' 'needs libnonsense, which is not' \
        project 'find_package(valise CONFIG REQUIRED COMPONENTS static)'
    green 'and is no matter for the shared one' project 'find_package(valise CONFIG REQUIRED)'
    rm "$valise/lib/libvalise.a"
    red 'an archive that is not there is told' 'library of valise::static is not in' \
        project 'find_package(valise CONFIG REQUIRED COMPONENTS static)'
fi
cd "$scratch" || exit 1

# ---- pages and completions ----

sound() { # COMMAND...: has nothing to say
    "$@" >"$scratch/complaints" 2>&1 && ! grep . "$scratch/complaints"
}

groff_is_content() { # FILE...
    sound groff -man -ww -Tutf8 -Kutf8 -z "$@"
}

# A date would make the pages others at each build.
mandoc_is_content() { # FILE...
    ! mandoc -T lint -W warning "$@" 2>&1 | grep -v 'missing date'
}

# apropos and whatis find them.
lexgrog_is_content() { # FILE...
    lexgrog "$@" >"$scratch/named" && test $# -eq "$(grep -c ': "valise[a-z-]* - ' "$scratch/named")"
}

printf '.TH X 1\n.SH NAME\n\\fBx\\*[nonsense]\n.nonsense\n' >"$scratch/bad.1"
printf 'if then ( {\n' >"$scratch/bad"
for tool in groff mandoc lexgrog; do
    if has "man pages, $tool" $tool; then
        green "man pages, $tool" ${tool}_is_content "$valise"/share/man/man1/*
        red 'a bad page is found' '' ${tool}_is_content "$scratch/bad.1"
    fi
done
completion() { # SHELL FILE OPTION
    if has "completion, $1" "$1"; then
        green "completion, $1" sound "$1" "$3" "$valise/share/$2"
        red 'one that is no script is found' '' sound "$1" "$3" "$scratch/bad"
    fi
}
completion bash bash-completion/completions/valise -n
completion zsh zsh/site-functions/_valise -n
completion fish fish/vendor_completions.d/valise.fish --no-execute

# ---- what is said twice is said alike ----

soversion=$(sed -n "s/^soversion = '\(.*\)'$/\1/p" "$root/src/meson.build")
says 'valise.map names the soversion' "^VALISE_$soversion {" grep VALISE_ "$root/src/valise.map"
says 'so does the Debian package' "^Package: libvalise$soversion\$" grep Package "$root/debian/control"
says 'which is of this version' "^valise ($version) " sed -n 1p "$root/debian/changelog"

# libc and its like come with the others.
built_with() {
    sed -n '/^Build-Depends:/,/^[A-Z]/p' "$root/debian/control" |
        grep -o '\(lib[a-z0-9-]*-dev\|meson\)' | sort >"$scratch/by-debian"
    awk '$1 == "build" && $2 ~ /^(lib.*-dev|meson)$/ && $2 != "libc6-dev" {print $2}' \
        "$root/tools/packages.txt" | sort >"$scratch/by-tools"
    test -s "$scratch/by-tools" && diff "$scratch/by-debian" "$scratch/by-tools"
}
green 'Debian builds it with the libraries of tools/packages.txt' built_with

done_testing
