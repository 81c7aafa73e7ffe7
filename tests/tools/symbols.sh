#!/bin/sh
# symbols.sh -- what the libraries really define: the shared one exports the public functions
# and nothing else, the static one has no name that could clash, neither has global state. [K27]
. "$(dirname "$0")/lib.sh"

shared=$build/src/libvalise.so
static=$build/src/libvalise.a

# Every function and table the public headers declare; not what their comments show.
declared() {
    cat "$root"/include/*.h "$root"/include/valise/*.h "$root"/include/valise/sys/*.h |
        grep -v -e '^#' -e '^ \*' | tr '\n' ' ' | grep -o 'VALISE_API [^;(]*[;(]' |
        sed 's/.*[ *]\(valise_[a-z0-9_]*\)[;(]/\1/' | sort
}

# What a shared library exports, without versions and version names.
exported() { # LIBRARY
    nm -D --defined-only "$1" | awk '$2 != "A" {sub("@.*", "", $3); print $3}' | sort
}

only_ours() { # LIBRARY
    test -n "$(exported "$1")" && ! exported "$1" | grep -v '^valise_'
}

all_declared() { # LIBRARY
    declared >"$scratch/declared"
    exported "$1" >"$scratch/exported"
    diff "$scratch/declared" "$scratch/exported"
}

no_clash() { # LIBRARY
    names=$(nm -g --defined-only "$1" | awk 'NF == 3 {print $3}')
    test -n "$names" && ! echo "$names" | grep -v -e '^valise_' -e '^vls_'
}

# Writable data. Tables of pointers (.data.rel.ro) are read-only once the loader is done; gcov
# and the sanitizers, which have data of their own, are not in this build.
no_state() { # LIBRARY
    ! objdump -t "$1" | awk '
        /file format/ {object = $1}
        {for (i = 1; i < NF; i++) if ($i ~ /^\.(data|bss|tdata|tbss)/ && $i !~ /^\.data\.rel\.ro/ &&
            $(i + 1) !~ /^0+$/) print object, $0}' | grep .
}

nothing_of_cli() { # LIBRARY
    ! ar t "$1" | grep -i -e '^cli_' -e '^main'
}

green 'the shared library exports only valise_*' only_ours "$shared"
green 'it exports exactly what the headers declare' all_declared "$shared"
says 'its symbols carry a version' '@@VALISE_0$' nm -D "$shared"
says 'it has a soname' 'SONAME.*\[libvalise.so.0\]' readelf -d "$shared"
green 'the static library defines only valise_* and vls_*' no_clash "$static"
green 'the library has no writable globals [K26]' no_state "$static"
green 'the library holds nothing of cli/' nothing_of_cli "$static"

# These checks can fail.
cd "$scratch" || exit 1
printf 'int other(void) { return 1; }\nint count = 1;\nstatic int last;\n%s\n' \
    'int valise_last(void) { return last++; }' >main.c
gcc -shared -fPIC -o other.so main.c && gcc -c main.c && ar rc other.a main.o
red 'a foreign export is found' '^other' only_ours other.so
red 'a missing export is found' '< valise_version' all_declared other.so
red 'a name that could clash is found' '^other' no_clash other.a
red 'a writable global is found' ' count' no_state other.a
red 'a static one too' ' last' no_state other.a
red 'a piece of the command is found' '^main.o' nothing_of_cli other.a

done_testing
