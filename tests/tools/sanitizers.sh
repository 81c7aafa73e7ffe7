#!/bin/sh
# sanitizers.sh -- the sanitizers work on this machine, with the flags of tools/build: each
# finds a planted bug. A sanitizer that is silently absent would make every test green.
. "$(dirname "$0")/lib.sh"

# The options of a flavour, as the compiler gets them.
flags() { # FLAVOUR
    sed -n "s/^ *$1) echo.*sanitize=\([a-z,]*\).*/-fsanitize=\1/p" "$root/tools/build"
}

compile() { # COMPILER FLAVOUR: the program comes from stdin
    cat >"$scratch/bug.c"
    # shellcheck disable=SC2046  # one word, or none
    "$1" -g -O1 $(flags "$2") -fno-sanitize-recover=undefined -pthread -w \
        -o "$scratch/bug" "$scratch/bug.c"
}

still() {
    if setarch -R true 2>/dev/null; then setarch -R "$@"; else "$@"; fi
}

for flavour in asan fuzz; do
    compile clang "$flavour" <<'END'
#include <stdlib.h>
int main(int argc, char **argv) { char *p = malloc(argc); return p[argc + 1]; }
END
    red "$flavour: a read past the end" 'heap-buffer-overflow' "$scratch/bug"
    compile clang "$flavour" <<'END'
#include <stdlib.h>
char *volatile kept;
int main(void) { kept = malloc(9); kept = NULL; return 0; }
END
    red "$flavour: a leak" 'detected memory leaks' "$scratch/bug"
    compile clang "$flavour" <<'END'
volatile int most = 0x7fffffff;
int main(int argc, char **argv) { return most + argc; }
END
    red "$flavour: an overflow" 'signed integer overflow' "$scratch/bug"
done

compile gcc tsan <<'END'
#include <pthread.h>
static long count;
static void *work(void *arg) { for (int i = 0; i < 1000; i++) count++; return arg; }
int main(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&two, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
END
red 'tsan: a race' 'data race' still "$scratch/bug"

done_testing
