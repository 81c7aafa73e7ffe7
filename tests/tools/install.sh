#!/bin/sh
# install.sh -- what `make install` leaves can be used from outside, from C11 and from C++17,
# shared and static, with nothing but pkg-config. [K27]
. "$(dirname "$0")/lib.sh"

cat >"$scratch/outside.c" <<'END'
/* Compiles as C11 and as C++17. */
#include <stdio.h>
#include <string.h>

#include <valise.h>
#include <valise/sys/env.h>

int main(void)
{
    valise_str word = valise_str_of("word");
    valise_error err = VALISE_ERROR_INIT;
    const valise_env *env = valise_env_default();
    unsigned char bytes[8] = {0};

    if (word.len != 4 || err.code != 0 || env->random(env->self, bytes, sizeof bytes) != 0)
        return 1;
    printf("%s %s %d\n", valise_version(), valise_error_name(VALISE_E_NOT_FOUND),
           strcmp(valise_version(), VALISE_VERSION));
    return 0;
}
END
cp "$scratch/outside.c" "$scratch/outside.cc"
version=$(sed -n 's/^#define VALISE_VERSION "\(.*\)"/\1/p' "$root/include/valise/api.h")
expected="^$version NOT_FOUND 0\$"

install_valise() {
    meson install -C "$build" --no-rebuild --quiet --destdir "$scratch/staged" &&
        mv "$scratch/staged$prefix" "$scratch/valise"
}

# The tree was moved after the installation: valise.pc goes along.
pc() {
    PKG_CONFIG_PATH=$scratch/valise/lib/pkgconfig pkg-config "$@" valise
}

strict='-Wall -Wextra -pedantic -Werror'

compile() { # COMPILER STANDARD SOURCE
    # shellcheck disable=SC2046,SC2086  # flags must be split
    "$1" "-std=$2" $strict -o "$scratch/outside" "$scratch/$3" $(pc --cflags --libs)
}

compile_static() { # COMPILER STANDARD SOURCE
    # shellcheck disable=SC2046,SC2086  # flags must be split
    "$1" "-std=$2" $strict -static -o "$scratch/outside" "$scratch/$3" \
        $(pc --static --cflags --libs)
}

run_shared() {
    LD_LIBRARY_PATH=$scratch/valise/lib "$scratch/outside"
}

needs_the_library() {
    readelf -d "$scratch/outside" | grep -q 'NEEDED.*libvalise\.so\.0'
}

prefix=$(meson introspect "$build" --buildoptions |
    python3 -c 'import json, sys; print(next(o["value"] for o in json.load(sys.stdin)
        if o["name"] == "prefix"))')
green 'install into a directory of its own' install_valise
says 'pkg-config knows the version' "^$version\$" pc --modversion
for pair in gcc:c11:outside.c clang:c11:outside.c g++:c++17:outside.cc clang++:c++17:outside.cc; do
    compiler=${pair%%:*} source=${pair##*:}
    standard=${pair#*:} standard=${standard%:*}
    green "$compiler, $standard, shared: compiles" compile "$compiler" "$standard" "$source"
    green "$compiler, $standard, shared: uses the shared library" needs_the_library
    says "$compiler, $standard, shared: runs" "$expected" run_shared
done
green 'gcc, c11, static: compiles' compile_static gcc c11 outside.c
red 'gcc, c11, static: needs no library' '' needs_the_library
says 'gcc, c11, static: runs' "$expected" "$scratch/outside"
green 'g++, c++17, static: compiles' compile_static g++ c++17 outside.cc
says 'g++, c++17, static: runs' "$expected" "$scratch/outside"

# Examples are for those who have nothing but the installed headers. They are small, but for extensions that are
# whole ones.
is_extension() { # FILE
    case $1 in */extension/notes.c | */recipes/*) return 0 ;; *) return 1 ;; esac
}

example() { # FILE
    # shellcheck disable=SC2046,SC2086  # flags must be split
    if is_extension "$1"; then
        gcc -std=c11 $strict -shared -fPIC -o "$scratch/example.so" "$1" $(pc --cflags)
    else
        gcc -std=c11 $strict -o "$scratch/example" "$1" $(pc --cflags --libs)
    fi
}

is_small() { # FILE
    is_extension "$1" || [ "$(wc -l <"$1")" -lt 120 ]
}

for file in "$root"/examples/*/*.c; do
    name=${file#"$root"/examples/}
    green "$name compiles, as plain C11 against what is installed" example "$file"
    green "$name has under 120 lines" is_small "$file"
    case $name in
    recipes/*) ;;
    *) green "$name stands in examples/README.md" grep -qF "[$name](" "$root/examples/README.md" ;;
    esac
done
green 'the man page of a command is installed' \
    grep -q '^\.TH' "$scratch/valise/share/man/man1/valise-pin-add.1"
green 'and the completion of bash' \
    bash -n "$scratch/valise/share/bash-completion/completions/valise"
says 'the installed command runs' "^valise $version\$" "$scratch/valise/bin/valise" version
red 'a header that is not there is not found' 'valise/nonsense.h' \
    gcc "-I$scratch/valise/include" -fsyntax-only -include valise/nonsense.h -x c /dev/null

done_testing
