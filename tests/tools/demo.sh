#!/bin/sh
# demo.sh -- `make demo` plays the tour of the README to its end, to a file and on a terminal.
. "$(dirname "$0")/lib.sh"

# A copy of the tree's demo, with a README of our own.
other() { # COMMAND
    mkdir -p "$scratch/tools" "$scratch/build/release" &&
        cp "$root/tools/demo" "$root/tools/sessions.py" "$scratch/tools" &&
        ln -sfn "$build/cli" "$scratch/build/release/cli" &&
        printf '%s\n' "## A minute's tour" '```console' "\$ $1" '```' '## End' >"$scratch/README.md" &&
        "$scratch/tools/demo"
}

says 'all of it, to the end' '^.valise help. lists the commands' "$root/tools/demo"
# The first sentence of a paragraph begins a line.
says 'its paragraphs are divided' '^# What agents know about files' "$root/tools/demo"
says 'on a terminal, in colours' '\[32mdone' env -u NO_COLOR TERM=xterm \
    python3 "$root/tests/cli/on_terminal.py" --columns 100 "$root/tools/demo"
says 'a command is run, what it prints is shown' '^valise [0-9]' other 'valise version'
red 'a command that fails ends it' 'this failed: valise bp unpack' other 'valise bp unpack nope nope'

done_testing
