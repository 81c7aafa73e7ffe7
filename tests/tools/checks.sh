#!/bin/sh
# checks.sh -- every checker of tools/ is green on a small clean tree and red on a tree with
# one thing wrong in it. [K27 Q27]
. "$(dirname "$0")/lib.sh"

# A tree with a public header, two layers and a command; all as it should be.
fresh() {
    rm -rf "$scratch/t"
    mkdir -p "$scratch/t/include/valise" "$scratch/t/src/base" "$scratch/t/src/json" \
        "$scratch/t/cli" "$scratch/t/tests/cli" "$scratch/t/tools"
    cd "$scratch/t" || exit 1
    cp "$root/tools/layers.txt" tools/
    cp "$root/.clang-format" "$root/.clang-tidy" .
    cat >include/valise/api.h <<'END'
/* api.h -- Threads: immutable. */
#ifndef VALISE_API_H
#define VALISE_API_H
#ifdef __cplusplus
extern "C" {
#endif
typedef struct valise_thing {
    int size;
} valise_thing;
enum { VALISE_ONE = 1 };
int valise_twice(const valise_thing *thing);
#ifdef __cplusplus
}
#endif
#endif
END
    cat >src/base/one.h <<'END'
/* one.h */
#ifndef VLS_ONE_H
#define VLS_ONE_H
#include <valise/api.h>
int vls_one_add(int number);
#endif
END
    cat >src/base/one.c <<'END'
/* one.c */
#include "base/one.h"

static int plain(int number)
{
    return number + VALISE_ONE;
}

int vls_one_add(int number)
{
    return plain(number);
}

int valise_twice(const valise_thing *thing)
{
    return thing->size * 2;
}
END
    cat >src/json/two.h <<'END'
/* two.h */
#ifndef VLS_TWO_H
#define VLS_TWO_H
#include "base/one.h"
int vls_two(void);
#endif
END
    cat >cli/main.c <<'END'
/* main.c */
#include <valise/api.h>

int main(void)
{
    return 0;
}
END
    printf 'all: help\nhelp:\n' >Makefile
    cat >README.md <<'END'
See [the table](tools/layers.txt), `src/base/one.c`, `src/AREA/x.c`, `make help` and
`src/later`, which is to come.
END
    for folder in src/base cli; do
        seq 12 >"$folder/README.md"
    done
}

check() { # NAME: run tools/check-NAME on the tree
    "$root/tools/check-$1" "$scratch/t"
}

# The lines of stdin behind what FILE holds.
add() {
    cat >>"$1"
}

fresh
for name in layers sizes names text docs headers clang-tidy; do
    green "$name: a clean tree is green" check $name
done

# ---- layers ----

printf '#include "json/two.h"\n' | add src/base/one.c
red 'layers: base may not include json' 'src/base may not include src/json/two.h' check layers
fresh
printf '#include "../../cli/words.h"\n' | add src/json/two.h
printf '/* words.h */\n' >cli/words.h
red 'layers: the library may not include the command' 'src/json may not include cli/words.h' \
    check layers
fresh
printf '#include "../../tests/t.h"\n' | add src/json/two.h
printf '/* t.h */\n' >tests/t.h
red 'layers: nor a test' 'may not include tests/t.h' check layers
fresh
printf '#include "base/one.h"\n' | add include/valise/api.h
red 'layers: public headers include no internal ones' 'include may not include src/base/one.h' \
    check layers
fresh
printf '/* three.h */\n#include "base/one.h"\n' >src/base/three.h
printf '#include "base/three.h"\n' | add src/base/one.h
red 'layers: a circle is found' 'one.h -> src/base/three.h -> src/base/one.h' check layers
fresh
mkdir src/extra
printf '/* x.h */\n' >src/extra/x.h
red 'layers: a folder must have its place' 'src/extra/x.h: its folder is not in' check layers
fresh
printf '#include "base/gone.h"\n' | add src/base/one.c
red 'layers: what is included exists' 'there is no "base/gone.h"' check layers

# ---- sizes ----

long_function() { # LINES
    printf 'void vls_long(void)\n{\n'
    yes '    ;' | head -n $(($1 - 2))
    printf '}\n'
}

fresh
long_function 101 | add src/base/one.c
red 'sizes: a function of 101 lines' 'a function of 101 lines' check sizes
fresh
long_function 100 | add tests/t.c
green 'sizes: one of 100 may be' check sizes
long_function 101 | add tests/t.c
red 'sizes: tests are measured too' 'tests/t.c:[0-9]*: a function of 101' check sizes
fresh
long_function 51 | add src/base/one.c
red 'sizes: most functions are short' '95th percentile of function lengths is 51' check sizes
fresh
yes '/* */' | head -n 1001 | add src/json/two.h
red 'sizes: a file of more than 1000 lines' 'two.h: 1007 lines' check sizes

# ---- names ----

fresh
printf 'int other_name(void);\n' | add include/valise/api.h
red 'names: a public function' 'other_name is public' check names
fresh
printf 'typedef int other_type;\n' | add include/valise/api.h
red 'names: a public type' 'api.h:16: other_type is public' check names
fresh
printf 'struct other_tag {\n    int a;\n};\n' | add include/valise/api.h
red 'names: a public struct' 'other_tag is public' check names
fresh
printf 'enum { OTHER_CONSTANT };\n' | add include/valise/api.h
red 'names: a public constant' 'OTHER_CONSTANT is public' check names
fresh
printf '#define OTHER_MACRO 1\n' | add include/valise/api.h
red 'names: a public macro' 'OTHER_MACRO is public' check names
fresh
printf 'const char *shared(void)\n{\n    return 0;\n}\n' | add src/base/one.c
red 'names: a function other files see' 'one.c:18: shared is seen' check names
fresh
printf 'static void vls_hidden(int a,\n    int b)\n{\n}\n' | add src/base/one.c
red 'names: a static function' 'vls_hidden is static' check names
fresh
printf 'static void vls_auto_it(int *a)\n{\n}\nstatic int vls_later(void);\n' | add src/base/one.c
green 'names: vls_auto_ is what VLS_AUTO looks for' check names
fresh
sed 's/VLS_TWO_H/VLS_ONE_H/' src/json/two.h >two.h && mv two.h src/json/
red 'names: two headers with one guard' 'two.h: VLS_ONE_H guards src/base/one.h as well' check names
fresh
printf 'typedef struct vls_pair {\n    struct {\n        int a;\n    } in;\n} vls_pair;\n' |
    add src/base/one.h
printf '\ntypedef int vls_pair(void *arg,\n                     int (*more)(int a));\n' | add src/json/two.h
red 'names: a type with two meanings' 'two.h:8: vls_pair is another type in src/base/one.h:7' \
    check names
fresh
printf 'struct vls_pair {\n    int a;\n};\n' | add src/base/one.h
printf 'struct vls_pair {\n    char b;\n};\n' | add src/base/one.c
red 'names: one of them in a file of its own' 'one.h:7: vls_pair is another type in src/base/one.c:18' \
    check names
fresh
printf 'typedef struct vls_pair vls_pair;\n' | add src/base/one.h
printf 'typedef struct vls_pair vls_pair;\n' | add src/json/two.h
printf 'struct vls_pair {\n    int a;\n};\nstruct pair {\n    int b;\n};\n' | add src/base/one.c
printf '#define VLS_X(a) \\\n    struct vls_pair { \\\n        a;\nstruct pair;\n' | add src/json/two.h
green 'names: a type that others see from outside has one' check names

# ---- text ----

fresh
printf '/* a */ \n' | add src/base/one.c
red 'text: a space at the end of a line' 'one.c:18: space at the end' check text
fresh
printf '\tint a;\n' | add src/base/one.c
red 'text: a tab' 'a tab' check text
fresh
printf '! grep -q secret file\n' | add tests/cli/10-one.sh
red 'text: a check that cannot fail' 'cannot fail without' check text
fresh
printf '! grep -q secret file || fail it\n' | add tests/cli/10-one.sh
green 'text: a check that can' check text
fresh
printf '/* no newline */' | add src/base/one.c
red 'text: the end of a file' 'does not end in one newline' check text
fresh
printf '\n' | add src/base/one.c
red 'text: an empty line at the end' 'does not end in one newline' check text
fresh
printf '/* \377 */\n' | add src/base/one.c
red 'text: not UTF-8' 'not UTF-8' check text
for word in 'TO''DO' 'FIX''ME' 'XX''X'; do
    fresh
    printf '/* %s: later */\n' $word | add src/base/one.c
    red "text: left open ($word)" 'left open' check text
done
fresh
printf '/* Copyr''ight (c) 2001 Someone */\n' | add src/base/one.c
red 'text: a foreign notice' 'foreign licence notice' check text
fresh
mkdir src/vendor
printf '/* x */\n' >src/vendor/x.h
red 'text: a folder of foreign code' 'not kept in vendor/' check text
fresh
printf '\0\1' >tests/blob
red 'text: a binary file' 'tests/blob: a binary file' check text
fresh
rm src/base/README.md
red 'text: a folder without README' 'src/base/README.md: missing' check text
fresh
seq 31 >cli/README.md
red 'text: a README that is too long' 'cli/README.md: 31 lines; 10 to 30' check text

fresh
printf 'typedef struct vls_one {\n    int a;\n} vls_one;\n' | add src/base/one.h
red 'text: a type without a word about threads' 'src/base/one.h: declares vls_one' check text
fresh
printf '/* Threads: single. */\nstruct vls_one {\n    int a;\n};\n' | add src/base/one.h
green 'text: with it, all is well' check text

fresh
printf 'void f(void)\n{\n    VLS_AUTO(buf) vls_buf b;\n}\n' | add src/base/auto.c
red 'text: a variable that may be released before it is set' 'src/base/auto.c:3: not init' check text

fresh
printf 'int f(int a)\n{\n    return VLS_MIN(VLS_MAX(a, (int)sizeof(a)),\n                   0);\n}\n' |
    add src/base/twice.c
green 'text: two values' check text
printf 'int g(int a)\n{\n    return VLS_MIN(0,\n                   f(a));\n}\n' | add src/base/twice.c
red 'text: a call that may be made twice' 'src/base/twice.c:8: a call in VLS_MIN' check text

# ---- docs ----

fresh
printf '[a page](docs/gone.md)\n' | add README.md
red 'docs: a link that leads nowhere' 'README.md: the link to docs/gone.md' check docs
fresh
# shellcheck disable=SC2016  # these are Markdown's quotes
printf 'See `src/base/gone.h`.\n' | add cli/README.md
red 'docs: a path that is not there' 'cli/README.md: there is no src/base/gone.h' check docs
fresh
# shellcheck disable=SC2016
printf '```sh\nmake A=1 gone\n```\n' | add README.md
red 'docs: a target that is not there' 'no target for "make gone"' check docs
fresh
# shellcheck disable=SC2016
printf '```\nSOME_TABLE\n```\n' | add README.md
red 'docs: a block that was to be filled in' 'SOME_TABLE was never filled in' check docs
fresh
printf '    meson test -C build\n    build/tests/unit/x\n' | add README.md
red 'docs: a build folder that is none' '"-C build" lacks the flavour' check docs
fresh
printf 'const char *vls_event = "slot.painted";\n' | add src/base/one.c
red 'docs: an event that nobody is told of' 'does not have the event slot.painted' check docs
fresh
printf '# A title\n[up](#a-title) [down](#another-title)\n' | add README.md
red 'docs: a heading that is not there' 'README.md has no heading for #another-title' check docs
fresh
mkdir docs && echo '# Guide' >docs/api.md && "$root/tools/gen-api-docs" "$scratch/t"
green 'docs: a reference that is made from the headers' check docs
printf 'VALISE_API int valise_thrice(const valise_thing *thing);\n' | add include/valise/api.h
red 'docs: a reference that the headers have left behind' \
    'docs/api-reference.md: the headers say something else' check docs
fresh
mkdir docs && printf 'X(GONE, -1, "gone", 1, 404)\n' >include/valise/errors.def
printf '### OTHER\n' >docs/troubleshooting.md
red 'docs: an error that nobody helps with' 'there is no heading GONE' check docs
fresh
mkdir docs && printf '[one](one.md)\n' >docs/README.md
printf '# One\n' | tee docs/one.md >docs/two.md
red 'docs: a document that nothing leads to' 'it does not lead to docs/two.md' check docs

# ---- headers ----

fresh
printf 'size_t vls_length(void);\n' | add src/json/two.h
red 'headers: an internal one that needs another' 'json/two.h alone (gcc -std=c11)' check headers
fresh
printf 'static inline int valise_x(void *p)\n{\n    int *q = p;\n    return *q;\n}\n' |
    add include/valise/api.h
sed -i '1,3d' include/valise/api.h # and no guard
red 'headers: a public one without guard' 'valise/api.h alone (clang -std=c11)' check headers
fresh
sed -i 's/int size;/int class;/' include/valise/api.h
red 'headers: a public one that is no C++' 'valise/api.h alone (g++ -std=c++17)' check headers
red 'headers: for either compiler' 'valise/api.h alone (clang++ -std=c++17)' check headers
fresh
sed -i 's/^enum {/#define VALISE_THING_INIT {.size = 1}\n&/' include/valise/api.h
red 'headers: an initializer that is no C++' 'valise/api.h alone (g++ -std=c++17)' check headers
sed -i 's/{.size = 1}/{1}/' include/valise/api.h
green 'headers: one that is' check headers

# ---- clang-tidy ----

fresh
printf '#define TWICE(a) a + a\n' | add src/base/one.c
red 'clang-tidy: a careless macro' 'bugprone-macro-parentheses' check clang-tidy
red 'clang-tidy: what was red stays red' 'bugprone-macro-parentheses' check clang-tidy
fresh
printf 'int vls_null(int a)\n{\n    int *p = 0;\n    return a ? *p : 1;\n}\n' | add src/base/one.c
check_long() {
    (export VALISE_TEST_LONG=1 && check "$@")
}
red 'clang-tidy: the analyser is on in the long run' 'clang-analyzer-core.NullDereference' \
    check_long clang-tidy
fresh
green 'clang-tidy: a clean tree is remembered' check clang-tidy
printf '#define VLS_TWICE(a) a + a\n' | add src/base/one.h
red 'clang-tidy: a changed header is looked at' 'one.h:7:.*bugprone-macro' check clang-tidy

done_testing
