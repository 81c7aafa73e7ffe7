#!/bin/sh
# hardening.sh -- what users get is hardened: fortified calls, stack protector, read-only
# relocations bound at start, position independent code, no executable stack. [Q27]
. "$(dirname "$0")/lib.sh"

command=$build/cli/valise
library=$build/src/libvalise.so

elf() { # OPTION FILE WORDS
    readelf -W "$1" "$2" | grep -e "$3"
}

relro() {
    elf -l "$1" GNU_RELRO && elf -d "$1" BIND_NOW
}

stack_not_executable() {
    elf -l "$1" 'GNU_STACK.* RW '
}

stack_protected() {
    elf -s "$1" '__stack_chk_fail'
}

fortified() {
    elf -s "$1" '__[a-z]*printf_chk'
}

pie() {
    elf -h "$1" 'DYN' && elf -d "$1" 'FLAGS_1.*PIE'
}

no_search_path() {
    ! elf -d "$1" 'RPATH\|RUNPATH'
}

# Who never asks a model does not need what asks one.
runs_without_curl() {
    ! ldd "$1" | grep -i libcurl
}

for file in "$command" "$library"; do
    name=$(basename "$file")
    green "$name: libcurl is not needed to run it [L10]" runs_without_curl "$file"
    green "$name: relocations are read-only and bound at start" relro "$file"
    green "$name: the stack is not executable" stack_not_executable "$file"
    green "$name: calls are fortified" fortified "$file"
    green "$name: libraries are looked for in the system's places only" no_search_path "$file"
done
green 'the command is position independent' pie "$command"
green 'functions with arrays watch the stack' stack_protected "$library"

# These checks can fail.
cd "$scratch" || exit 1
printf '#include <stdio.h>\nint main(void) { puts(""); return 0; }\n' >weak.c
gcc -no-pie -fno-stack-protector -U_FORTIFY_SOURCE -z norelro -z lazy -z execstack \
    -Wl,-rpath,/nowhere -o weak weak.c 2>/dev/null
for check in relro stack_not_executable stack_protected fortified pie no_search_path; do
    red "a weak program is found: $check" '' $check "$scratch/weak"
done

done_testing
