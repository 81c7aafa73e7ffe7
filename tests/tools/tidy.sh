#!/bin/sh
# tidy.sh -- tools/tidy runs every check, and each can turn it red. The checkers of our own are
# tried in checks.sh; here are the tools of others, and the way they are called. [Q27]
. "$(dirname "$0")/lib.sh"

# A copy of the tree, with as little code as makes a library, in which things can be broken.
cp -r "$root/tools" "$root/include" "$root/.clang-format" "$root/.clang-tidy" \
    "$root/.shellcheckrc" "$root/meson.build" "$root/meson_options.txt" "$scratch"
mkdir -p "$scratch/src/base" "$scratch/cli"
for dir in bench examples; do
    mkdir -p "$scratch/$dir"
    touch "$scratch/$dir/meson.build"
done
cp "$root"/src/base/*.h "$root/src/base/version.c" "$scratch/src/base"
cat >"$scratch/src/meson.build" <<'END'
libvalise = both_libraries('valise', 'base/version.c', include_directories: inc)
valise_static = declare_dependency(link_with: libvalise.get_static_lib(), include_directories: inc)
END
printf 'int main(void)\n{\n    return 0;\n}\n' >"$scratch/cli/main.c"
echo "valise = executable('valise', 'main.c')" >"$scratch/cli/meson.build"
tidy=$scratch/tools/tidy
code=$scratch/src/base/version.c
cp "$code" "$scratch.c"

broken() { # what stdin holds is put behind version.c
    cat "$scratch.c" - >"$code"
}

red 'an unknown check is refused' 'The checks are: clang-tidy, ' "$tidy" nonsense

broken </dev/null
says 'format: clean' '^ok 1 - format' "$tidy" format
echo 'static int  x ;' | broken
red 'format: red' '^not ok 1 - format' "$tidy" format
green 'format: is repaired' "$tidy" --fix-format
green 'format: and clean again' "$tidy" format

broken </dev/null
cat >"$scratch/tools/script" <<'END'
#!/bin/sh
cat $1
END
red 'shellcheck: red, for files without ending too' 'SC2086' "$tidy" shellcheck
rm "$scratch/tools/script"
green 'shellcheck: clean' "$tidy" shellcheck

green 'cppcheck: clean' "$tidy" cppcheck
broken <<'END'
int vls_late(int count);
int vls_late(int count)
{
    int list[4] = {0};

    for (int i = 0; i < 4; i++)
        list[i] = count;
    return list[4];
}
END
red 'cppcheck: red' 'arrayIndexOutOfBounds' "$tidy" cppcheck

broken </dev/null
green 'gcc -fanalyzer: clean' "$tidy" 'gcc -fanalyzer'
broken <<'END'
int vls_leak(const char *path);
int vls_leak(const char *path)
{
    FILE *file = fopen(path, "r");

    return file ? fgetc(file) : 0;
}
END
red 'gcc -fanalyzer: red' 'analyzer-file-leak' "$tidy" 'gcc -fanalyzer'

rm -f "$scratch.c"
done_testing
