#!/usr/bin/env bash
# 30-completion.sh -- completion in real shells, and what they ask. [L8]
. "$(dirname "$0")/lib.sh"
PATH=$(dirname "$VALISE"):$PATH

# The words that `valise __complete` offers for a line, without descriptions.
offers() {
    lib_checked
    "$VALISE" __complete -- "$@" | cut -f1
}

t 'commands, groups and verbs' '
    [ "$(offers pi)" = pin ]
    [ "$(offers pin a)" = add ]
    offers "" | grep -qx json
    offers "" | grep -qx version
    ! offers "" | grep -q __complete || fail "__complete is offered"
    [ "$(offers help pin r)" = remove ]
    [ "$(offers --json pin a)" = add ]
    [ "$(offers -C . pin a)" = add ]
    [ -z "$(offers nonsense x)" ]
    [ "$("$VALISE" __complete -- | wc -c)" = 0 ]
'

t 'options, and what stands behind them' '
    offers pin list --at | grep -qx -- --at || fail "--at is offered again"
    ! offers pin add --at | grep -qx -- --at || fail "--at is offered again"
    [ "$(offers --ver)" = --version ]
    [ "$(offers json diff --te)" = --tests ]
    [ "$(offers json diff --no-t)" = --no-tests ]
    [ "$(offers backpack pack --ta)" = --tag ]
    [ "$(offers backpack pack --no-t)" = --no-tags ]
    [ "$(offers agent add x --no-tags --role wr)" = writer ]
    [ "$(offers pin list --color al)" = always ]
    [ "$(offers pin list --color=al)" = --color=always ]
    [ "$(offers --color n)" = never ]
    [ "$(offers agent add x --role wr)" = writer ]
    [ "$(offers agent add x --role=wr)" = --role=writer ]
    [ "$(offers completion z)" = zsh ]
    [ "$(offers run pin:l)" = pin:list ]
'

t 'files are left to the shell' '
    [ "$("$VALISE" __complete -- json canonical "")" = "$(printf "\t@files")" ]
    [ "$("$VALISE" __complete -- --workspace "")" = "$(printf "\tdirs")" ]
    [ "$("$VALISE" __complete -- -C "")" = "$(printf "\tdirs")" ]
    [ "$("$VALISE" __complete -- init "")" = "$(printf "\tdirs")" ]
    [ "$("$VALISE" __complete -- batch "")" = "$(printf "\tfiles")" ]
    run true
'

t 'ids come from the workspace, a bounded number of them; without one there is silence' '
    expect_exit 0 "$VALISE" __complete -- pin remove ""
    stdout_is_empty
    stderr_is_empty
    "$VALISE" -q init
    for i in {1..250}; do echo "{\"type\":\"pin:add\",\"payload\":{\"name\":\"p$i\"}}"; done >pins
    "$VALISE" -q batch pins
    [ "$(offers pin remove p24 | sort | tr "\n" " ")" = "p24 p240 p241 p242 p243 p244 p245 p246 p247 p248 p249 " ]
    [ "$(offers pin remove p | wc -l)" -le 200 ]
    [ "$(offers pin remove -- p17 | head -1)" = p17 ]
    [ "$(offers --actor lo)" = local ]
'

t 'sessions by label and by id, turns with what they say' '
    "$VALISE" -q init
    "$VALISE" -q session create support
    "$VALISE" -q turn add support user "Where is my parcel?"
    [ "$(offers turn show s)" = support ]
    run "$VALISE" __complete -- turn show ""
    stdout_matches "^support[[:space:]]label$"
    stdout_matches "^[-0-9a-f]{36}[[:space:]]support$"
    run "$VALISE" __complete -- turn edit support ""
    stdout_matches "^[-0-9a-f]{36}@1[[:space:]]Where is my parcel\\?$"
'

t 'hashes by their first digits, and places [K2 L8]' '
    "$VALISE" -q init
    mkdir d && echo a >d/f && "$VALISE" -q scan
    echo note | "$VALISE" -q put-frame d/f -
    "$VALISE" -q pin add first
    frame=$("$VALISE" list-frames d/f --json | sed "s/.*\"frameId\":\"\([^\"]*\)\".*/\1/")
    node=$("$VALISE" get-node d/f --json | sed "s/.*\"nodeId\":\"\([^\"]*\)\".*/\1/")
    object=$(python3 -c "import sqlite3; print(sqlite3.connect(\".valise/valise.db\").execute(
        \"select hex(hash) from object where body = ?\", (b\"note\\n\",)).fetchone()[0].lower())")
    [ "$(offers frame show "${frame:0:3}")" = "$frame" ]
    [ "$(offers frame show "")" = "$frame" ]
    for words in show "pin add x"; do
        # shellcheck disable=SC2086
        for id in "$frame" "$object" "$node"; do
            offers $words "${id:0:8}" | grep -qx "$id" || fail "no $id for $words"
        done
        # shellcheck disable=SC2086
        [ "$(offers $words pin/)" = pin/first ]
        # shellcheck disable=SC2086
        [ "$(offers $words "frame/${frame:0:2}")" = "frame/$frame" ]
        # shellcheck disable=SC2086
        [ "$(offers $words sess | head -n 1)" = session/ ]
    done
    [ "$(offers get-node "${node:0:6}" | tail -n 1)" = "$node" ]
    [ -z "$(offers show zz)" ]
    "$VALISE" -q agent add blind --capability backpack:read
    VALISE_ACTOR=blind run "$VALISE" __complete -- frame show ""
    stdout_is_empty
'

t 'words that were given as options are not waited for again' '
    "$VALISE" -q init
    "$VALISE" -q pin add first
    [ "$(offers pin remove --name fi)" = first ]
    [ -z "$(offers pin remove --name first fi)" ]
'

lines=('valise pi' 'valise pin a' 'valise pin remove fi' 'valise json canonical @da'
    'valise completion z' 'valise pin list --js' 'valise run pin:l' 'valise pin list --color=al'
    'valise agent add bob --role=wr' 'valise -C su' 'valise get-node da' 'valise put-frame data.json da'
    'valise list-frames data.json --type su' 'valise bp unpack ru' 'valise bp unpack run-1 qu'
    'valise turn add supp' 'valise config get core.dur' 'valise flow run da')
expected='valise pin
valise pin add
valise pin remove first
valise json canonical @data.json
valise completion zsh
valise pin list --json
valise run pin:list
valise pin list --color=always
valise agent add bob --role=writer
valise -C sub
valise get-node data.json
valise put-frame data.json data.json
valise list-frames data.json --type summary
valise bp unpack run-1
valise bp unpack run-1 query
valise turn add support
valise config get core.durability
valise flow run data.json'

prepare() {
    "$VALISE" -q init
    "$VALISE" -q pin add first
    "$VALISE" -q pin add second
    mkdir sub
    touch data.json
    "$VALISE" -q scan
    "$VALISE" -q put-frame data.json data.json --type summary
    "$VALISE" -q bp create run-1
    "$VALISE" -q bp pack run-1 query 1
    "$VALISE" -q session create support
}

in_shell() {
    need "$1"
    prepare
    "$VALISE" completion "$1" >script
    run python3 "$LIB_DIR/complete_pty.py" "$1" ./script "${lines[@]}"
    sed -i 's,/* *$,,' "$OUT"
    stdout_is "$expected"
}

t 'in bash, at a terminal' 'in_shell bash'
t 'in zsh, at a terminal' 'in_shell zsh'

t 'in fish' '
    need fish
    prepare
    "$VALISE" completion fish >script
    for line in "${lines[@]}"; do
        fish --no-config -c "source script; complete -C \"$line\"" | cut -f1
    done >found
    run cat found
    stdout_is "pin
add
first
@data.json
zsh
--json
pin:list
--color=always
--role=writer
sub/
data.json
data.json
summary
run-1
query
support
core.durability
data.json"
'

t 'scripts are clean' '
    "$VALISE" completion bash >bash.sh
    run bash -n bash.sh
    expect_exit 6 "$VALISE" completion csh
    stderr_has "bash, zsh, fish"
'

t 'prompts by their ids, the newest first, and providers by their names' '
    "$VALISE" -q init
    "$VALISE" -q session create --label s
    "$VALISE" -q turn add s user hello
    "$VALISE" -q prompt build s --provider openai --model a
    "$VALISE" -q prompt build s --provider openai --model b
    "$VALISE" prompt list --json | sed "s/.*\"id\":\"\([0-9a-f]*\)\".*/\1/" >ids
    [ "$(wc -l <ids)" -eq 2 ]
    for verb in show blame delete diff explain-miss; do
        offers prompt $verb "" | cmp - ids
        id=$(head -1 ids)
        [ "$(offers prompt $verb "${id:0:8}")" = "$id" ]
    done
    offers prompt diff "$(head -1 ids)" "" | cmp - ids
    session=$("$VALISE" session list --json | sed "s/.*\"id\":\"\([0-9a-f-]*\)\".*/\1/")
    for verb in build budget list compact; do
        [ "$(offers prompt $verb "" | sort | tr "\n" " ")" = "$session s " ]
    done
    for line in "prompt build s" "prompt budget s" "prompt lint" "prompt render" "prompt parse" "prompt compact s" \
        "ask s hello" "chat s"; do
        [ "$(offers $line --provider anth)" = anthropic ] || fail "$line: no anthropic"
        [ "$(offers $line --provider=anth)" = --provider=anthropic ]
        [ "$(offers $line --provider "" | wc -l)" -eq 7 ] || fail "$line: not all"
    done
    [ "$("$VALISE" __complete -- ask s hello --replay "")" = "$(printf "\tfiles")" ]
    mkdir -p "$HOME/.config/valise"
    printf "[provider \"home\"]\n\tadapter = compatible\n" >"$HOME/.config/valise/config"
    for line in "prompt compact s" "ask s hello" "chat s"; do
        [ "$(offers $line --provider ho)" = home ] || fail "$line: no provider of the configuration"
    done
    [ -z "$(offers prompt build s --provider ho)" ] || fail "a prompt is built in a format"
    rm "$HOME/.config/valise/config"
'

done_testing
