#!/bin/sh
# add_operation.sh -- docs/adding-an-operation.md, word for word: one file and one line, and the
# operation is everywhere. [K6]
. "$(dirname "$0")/lib.sh"

tree=$scratch/tree
document=docs/adding-an-operation.md
valise=$tree/build/cli/valise

# ---- what is in the tree ----

# Whoever forgets the line has a file that nobody compiles.
every_file_is_listed() {
    (cd "$root/src" && ls ./*/op_*.c) | sed 's,^\./,,' | sort >"$scratch/files"
    grep -v -e '^#' -e '^$' "$root/src/ops.txt" | sort >"$scratch/lines"
    diff "$scratch/files" "$scratch/lines"
}

lines_are_in_order() {
    grep -v -e '^#' -e '^$' "$root/src/ops.txt" >"$scratch/lines"
    # Operations by name within their area; an area stands in one piece.
    cut -d/ -f1 "$scratch/lines" | uniq | sort | uniq -d | grep . && return 1
    for area in $(cut -d/ -f1 "$scratch/lines" | uniq); do
        grep "^$area/" "$scratch/lines" | LC_ALL=C sort -c || return 1
    done
}

green 'every operation file is in ops.txt, and every line has its file' every_file_is_listed
green 'ops.txt is in order' lines_are_in_order

# ---- the document ----

copy_tree() {
    mkdir "$tree" &&
        (cd "$root" && tar -cf - --exclude=./build --exclude=./.git .) | tar -xf - -C "$tree"
}

# The block behind the heading "## The file: PATH" or "## The line: PATH".
block() { # WHAT
    awk -v heading="^## The $1: " '
        $0 ~ heading { found = 1 }
        found && /^```$/ { exit }
        inside { print }
        found && /^```./ { inside = 1 }' "$tree/$document"
}

path() { # WHAT
    sed -n "s/^## The $1: //p" "$tree/$document"
}

configure() {
    CC=${CC:-cc} meson setup "$tree/build" "$tree" -Dtests=false -Dbuildtype=plain
}

add_it() {
    block file >"$tree/$(path file)" && block line >>"$tree/$(path line)" &&
        grep -q valise_op "$tree/$(path file)"
}

green 'the tree is copied' copy_tree
green 'and configured as it is' configure
green 'the file and the line of the document are added' add_it
green 'ninja notices the line by itself, and builds it' ninja -C "$tree/build" -j2 product
says 'the operation is in the library' vls_op_kernel_pin_rename \
    nm "$tree/build/src/libvalise.a"

# ---- everywhere ----

export HOME="$scratch" XDG_CONFIG_HOME="$scratch/config"
place=$scratch/place

in_place() { # ARGUMENT...
    mkdir -p "$place" && cd "$place" && "$valise" "$@"
}

says 'valise commands --json lists it' '"pin:rename"' in_place commands --json
says 'help has its brief' 'Give a pin another name\.' in_place pin rename --help
says 'and its operands' 'NAME TO' in_place help pin rename
says 'the list of commands has it' 'pin rename' in_place help
says 'the shell completes it' '^rename' in_place __complete -- pin ren
says 'there is a man page' '^\.TH' in_place help --man pin rename
green 'there can be a workspace' in_place init
green 'with a pin' in_place pin add draft
says 'whose name the shell completes' '^draft' in_place __complete -- pin rename d
green 'it can be done' in_place pin rename draft v1
says 'and was done' v1 in_place pin list
says 'the log says so' pin:rename in_place log list
red 'not twice' "there is no pin 'draft'" in_place pin rename draft v1
red 'nor by somebody unknown' 'valise agent add eve --role writer' \
    in_place --actor eve pin rename v1 v2

# ---- mistakes ----

with_line() { # LINE
    echo "$1" >>"$tree/src/ops.txt"
    meson setup "$scratch/other" "$tree" -Dtests=false
    with_status=$?
    sed -i '$d' "$tree/src/ops.txt"
    return "$with_status"
}

red 'a line that is no operation is refused' 'is not like "kernel/op_pin_add.c"' \
    with_line kernel/agent.c
red 'and so is one without a file' op_missing.c with_line kernel/op_missing.c

done_testing
