#!/bin/sh
# dist.sh -- the file of sources: the same commit gives the same bytes, whoever makes it, and it builds
# where there is no git. In the long run it is built there; otherwise it is configured.
. "$(dirname "$0")/lib.sh"

unset MAKEFLAGS MAKELEVEL
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b

# ---- a small tree of our own ----

small=$scratch/small
mkdir -p "$small/tools" "$scratch/one" "$scratch/other"
cp "$root/tools/dist" "$small/tools/"
cp "$root/.gitignore" "$small/"
printf "project('valise', 'c',\n  version: '7.8.9',\n)\n" >"$small/meson.build"
(cd "$small" && git init -q && git add -A && git commit -qm one) || exit 1

# Somebody else, who likes it otherwise, later.
somebody() {
    git clone -q "$small" "$scratch/clone" && cd "$scratch/clone" &&
        git config tar.umask 0077 && git config core.autocrlf true && git config core.eol crlf &&
        echo '*.build export-ignore' >"$scratch/attributes" &&
        git config core.attributesFile "$scratch/attributes" &&
        touch -d 2001-01-01 meson.build && umask 077 &&
        XZ_OPT=--block-size=1000 XZ_DEFAULTS=--check=none tools/dist "$scratch/other"
}

sum_is_right() {
    (cd "$scratch/one" && sha256sum -c valise-7.8.9.tar.xz.sha256)
}

same_bytes() {
    cmp "$scratch/one/valise-7.8.9.tar.xz" "$scratch/other/valise-7.8.9.tar.xz"
}

holds_all() {
    tar -tf "$scratch/one/valise-7.8.9.tar.xz" | grep -v '/$' | sort >"$scratch/in"
    (cd "$small" && git ls-files) | sed 's,^,valise-7.8.9/,' | sort | diff - "$scratch/in"
}

says 'it is made of a commit, and says where it is' "^$scratch/one/valise-7.8.9.tar.xz\$" \
    "$small/tools/dist" "$scratch/one"
green 'its sum stands beside it' sum_is_right
green 'all that is kept is in it' holds_all
green 'somebody else makes it' somebody
green 'of the same bytes' same_bytes
echo '# more' >>"$small/meson.build"
says 'what is not committed is told' 'not committed' "$small/tools/dist" "$scratch/other"
green 'and is not in it' same_bytes
(cd "$small" && git commit -qam two) || exit 1
green 'another commit' "$small/tools/dist" "$scratch/other"
red 'is another file' differ same_bytes
mkdir -p "$small/build/unpacked"
tar -C "$small/build/unpacked" -xf "$scratch/one/valise-7.8.9.tar.xz"
red 'sources that lie in a checkout of something else are none' 'not a checkout of git' \
    "$small/build/unpacked/valise-7.8.9/tools/dist"

# ---- this tree ----

if ! git -C "$root" rev-parse -q --verify HEAD >/dev/null 2>&1; then
    count=$((count + 1))
    echo "ok $count - this tree # SKIP it is no checkout of git"
    done_testing
fi

unpack() {
    tar -C "$scratch" -xf "$("$root/tools/dist" "$scratch/real")"
}

configured() {
    (cd "$1" && VALISE_SKIP_DEPS=1 tools/build --configure release)
}

# What the commands of git say elsewhere is nothing for a build.
built() {
    (cd "$1" && PATH=$scratch/no-git:$PATH VALISE_SKIP_DEPS=1 make)
}

green 'this tree is packed and unpacked' unpack
sources=$(echo "$scratch"/valise-*)
red 'outside of git' '' git -C "$sources" rev-parse HEAD
green 'it is configured' configured "$sources"
if [ -n "${VALISE_TEST_LONG-}" ]; then
    mkdir "$scratch/no-git"
    printf '#!/bin/sh\nexit 1\n' >"$scratch/no-git/git"
    chmod +x "$scratch/no-git/git"
    green 'it is built' built "$sources"
    says 'it works' '^valise [0-9]' "$sources/tools/smoke" "$sources/build/release/cli/valise"
fi

done_testing
