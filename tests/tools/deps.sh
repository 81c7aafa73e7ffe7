#!/bin/sh
# deps.sh -- tools/deps on machines that lack things. dpkg, apt, id and sudo are played by
# scripts that write down how they were called.
. "$(dirname "$0")/lib.sh"

bin=$scratch/bin
log=$scratch/log
all=$(awk '/^[a-z]/ {print $2}' "$root/tools/packages.txt")

fake() { # NAME: its script comes from stdin
    { echo '#!/bin/sh' && cat; } >"$bin/$1"
    chmod +x "$bin/$1"
}

# A machine with nothing but what the script itself needs.
machine() { # INSTALLED-PACKAGES...
    rm -rf "$bin" "$log"
    mkdir "$bin"
    for tool in sh dirname awk sed env cat; do
        ln -s "$(command -v $tool)" "$bin/$tool"
    done
    for package; do echo "installed $package"; done >"$scratch/installed"
    fake dpkg-query <<END
cat "$scratch/installed"
exit 1
END
    fake id <<END
echo 0
END
    fake apt-get <<END
echo "apt-get \$* (\$DEBIAN_FRONTEND)" >>"$log"
END
}

deps() {
    PATH=$bin "$root/tools/deps" "$@"
}

logged() {
    grep -q -e "$1" "$log"
}

# shellcheck disable=SC2086  # the list must be split
machine $all
green 'does nothing when all is there' deps
green 'and calls no apt' test ! -e "$log"

# shellcheck disable=SC2046
machine $(echo "$all" | grep -v '^meson$')
green 'installs what is missing' deps
green 'updates the lists first' logged 'apt-get update -q (noninteractive)'
green 'asks for that package only' logged 'no-install-recommends meson (noninteractive)'

# shellcheck disable=SC2046
machine $(echo "$all" | grep -v '^meson$' | grep -v '^cppcheck$')
green 'a group is enough' deps build
green 'and the others are left alone' logged 'recommends meson (noninteractive)'
red 'an unknown group is refused' "no packages in group 'nonsense'" deps nonsense

machine gcc
echo 'config-files meson' >>"$scratch/installed"
green 'a removed package with its configuration left is not installed' deps build
green 'so it is asked for' logged ' meson '

machine gcc
fake id <<END
echo 1000
END
red 'without root and sudo it says what to run' 'run as root: apt-get install .*meson' deps
fake sudo <<END
echo "sudo \$*" >>"$log"
END
green 'without root it uses sudo' deps
green 'for apt, with the environment passed on' \
    logged 'sudo env DEBIAN_FRONTEND=noninteractive apt-get install'

machine gcc
fake apt-get <<END
exit 100
END
red 'a failing apt is reported with the list' 'apt-get failed' deps
rm "$bin/apt-get"
red 'no apt at all is reported' 'no apt-get' deps
rm "$bin/dpkg-query"
red 'another system is told what it needs' 'not a Debian system.*libssl-dev' deps
green 'unless it says that it has it' env VALISE_SKIP_DEPS=1 PATH="$bin" "$root/tools/deps"

# The list is complete: what meson looks for comes in a package of group build, which is all that
# `make demo` installs.
packaged() { # NAME: of a dependency, as pkg-config knows it
    dpkg-query -S "*/pkgconfig/$1.pc" >"$scratch/owners" &&
        sed 's/:.*//' "$scratch/owners" | sort -u >"$scratch/names" &&
        awk '$1 == "build" {print $2}' "$root/tools/packages.txt" | grep -qxf "$scratch/names"
}
names=$(find "$root" -name meson.build -not -path '*/build/*' -exec \
    sed -n "s/.*[ =]dependency('\([^']*\)'.*/\1/p" {} + | grep -vx threads | sort -u)
for name in $names; do
    green "$name is in the list" packaged "$name"
done
red 'what is in no package of the list is found' '' packaged libnonsense

done_testing
