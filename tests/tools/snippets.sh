#!/bin/sh
# snippets.sh -- what documents show is run as it stands, and leaves the user's configuration alone.
. "$(dirname "$0")/lib.sh"

export HOME="$scratch/home" VALISE="$build/cli/valise" VALISE_SOURCE_ROOT="$root"
unset XDG_CONFIG_HOME
mkdir "$HOME"

run_document() {
    "$root/tests/docs/snippets" "$scratch/page.md"
}

document() { # LINE...
    printf '%s\n' '```console' "$@" '```' >"$scratch/page.md"
}

document '$ echo one' one
green 'what is printed as it is shown passes' run_document
document '$ echo one' two
red 'what is printed otherwise does not' 'not ok 1' run_document

# shellcheck disable=SC2016  # the session expands it
document '$ echo step >step.sh && valise init -q && valise trust step.sh -q' \
    '$ grep -c sha256 "$HOME/.config/valise/config"' 1
green 'a session may trust a program' run_document
red 'and the user does not trust it then' '' test -e "$HOME/.config"

python() { # STATEMENT
    printf '%s\n' '```python two.py' "$1" '```' '```console' '$ two.py' 2 '```' >"$scratch/page.md"
}

python 'print(1 + 1)'
green 'a script with a name is called by it' run_document
python 'print(1 +'
red 'one that Python does not understand fails' 'not ok 1' run_document

done_testing
