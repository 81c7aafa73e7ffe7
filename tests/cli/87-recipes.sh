#!/usr/bin/env bash
# 87-recipes.sh -- the recipes of examples/recipes do what they say, once. [W19] [K14] [K12]
. "$(dirname "$0")/lib.sh"
RECIPES=${VALISE_RECIPES:-${VALISE_EXAMPLES:-}/recipes}
[ -e "$RECIPES/shadow.so" ] || skip_all "no recipes at VALISE_RECIPES"
mkdir -p "$HOME/.config/valise"

# with NAME...: these are loaded from here on
with() {
    for name in "$@"; do
        printf '[extension "%s"]\n    path = %s/%s.so\n' "$name" "$RECIPES" "$name"
    done >"$HOME/.config/valise/config"
}

begin() {
    with "$@"
    "$VALISE" -q init
    "$VALISE" -q agent add auto-memory --role writer
    "$VALISE" -q agent add topic-discovery --role writer
    "$VALISE" -q session create support
}

say() {
    "$VALISE" -q turn add support "$@"
}

seq_now() {
    "$VALISE" log --limit 1 --json | "$VALISE" json get - /seq
}

# Rows of the stored places of processors: kept, and put back as if the process had died before it
# could store where it has come to.
places() { # keep | put_back
    python3 - "$1" <<'END'
import json, sqlite3, sys
db = sqlite3.connect('.valise/valise.db')
if sys.argv[1] == 'keep':
    rows = [[c.hex() if isinstance(c, bytes) else c for c in row]
            for row in db.execute('select * from cursor')]
    types = [[isinstance(c, bytes) for c in row] for row in db.execute('select * from cursor')]
    assert len(rows) == 2, rows
    json.dump([rows, types], open('places', 'w'))
else:
    rows, types = json.load(open('places'))
    db.execute('delete from cursor')
    for row, kinds in zip(rows, types):
        row = [bytes.fromhex(c) if kind else c for c, kind in zip(row, kinds)]
        db.execute('insert into cursor values (' + ','.join('?' * len(row)) + ')', row)
    db.commit()
END
}

t 'shadow: a hidden system turn before each user turn, in one transaction [W19]' '
    begin shadow
    say user "Where is it?"
    say assistant "On its way."
    run "$VALISE" turn log support --all --json
    python3 - "$OUT" <<END
import json, sys
turns = [json.loads(line) for line in open(sys.argv[1])]
said = [(x["role"], x["hidden"], x["blocks"][0]["text"]) for x in turns]
assert said == [("system", True, "Say so where you are not sure."), ("user", False, "Where is it?"),
                ("assistant", False, "On its way.")], said
END
    run "$VALISE" turn log support
    stdout_lacks "not sure"
    # Nothing is left of it where the turn is refused.
    before=$(seq_now)
    expect_exit 6 "$VALISE" turn add support --turn "{\"role\":\"user\",\"blocks\":[]}"
    stderr_lacks "give either"
    [ "$(seq_now)" = "$before" ]
'

t 'shadow: a retry and a given head make no second one [W19]' '
    begin shadow
    id=018f0000-0000-7000-8000-000000000001
    say user once --id $id
    say user once --id $id
    run "$VALISE" session show support
    stdout_matches "turns: +2\$"
    head=$("$VALISE" session show support --json | "$VALISE" json get - /head)
    say user twice --expect "$head"
    run "$VALISE" session show support
    stdout_matches "turns: +4\$"
    expect_exit 5 "$VALISE" turn add support user thrice --expect "$head"
    run "$VALISE" session show support
    stdout_matches "turns: +4\$"
'

t 'topics: of user turns, added to those that are there [W19] [K14]' '
    begin topics
    "$VALISE" -q session update support --topic complaints
    say assistant "About a refund?"
    run "$VALISE" session show support
    stdout_lacks refunds
    say user "Where is my PARCEL?
Shipped? The bill, reparcelled."
    run "$VALISE" session show support
    stdout_matches "topics: +complaints, invoices, parcels\$"
    # What says nothing new changes nothing.
    before=$(seq_now)
    say user "parcel!"
    [ "$(seq_now)" = $((before + 1)) ]
    run "$VALISE" log --type session:update --limit 1
    stdout_has topic-discovery
    # What followed from a command branches off it. [L7]
    run "$VALISE" log --graph --until "$before"
    sed -E "s/ [0-9a-f]{8} / ID /; s/  .*//" "$OUT" | tail -n +1 | head -4 >drawn
    cat drawn
    grep -q "^\* [0-9]* ID topic-discovery session:update" drawn
    grep -qE "^(\| )?\* [0-9]* ID local turn:add" drawn
'

t 'memory: what the assistant marks, added or changed [W19] [K14]' '
    begin memory
    say user "REMEMBER a: not this"
    say assistant "Yes.
REMEMBER customer/name: Ada \"the first\" \\n
 REMEMBER b: not this
REMEMBER c
REMEMBER : nor this
REMEMBER customer/city: Paris"
    run "$VALISE" context list
    stdout_lacks "a  " "b  " "c  "
    stdout_has customer/name customer/city auto-memory
    run "$VALISE" context show customer/name
    stdout_has "Ada \"the first\" \\n"
    say assistant "REMEMBER customer/city: Rome"
    run "$VALISE" context show customer/city
    stdout_has Rome
    stdout_matches "version: +2\$"
'

t 'memory: a key that is none stops nobody [K14]' '
    begin memory
    say assistant "REMEMBER $(printf "%02000d" 0): too long
REMEMBER good: kept"
    say assistant "REMEMBER later: kept"
    run "$VALISE" context list
    stdout_has good later
'

t 'what was said while nobody processed it is caught up with, once [K14]' '
    begin memory topics
    say user hello
    with
    say user "my parcel"
    say assistant "REMEMBER city: Paris"
    run "$VALISE" context list
    stdout_lacks city
    with memory topics
    "$VALISE" -q pin add a
    "$VALISE" -q pin add b
    run "$VALISE" context show city
    stdout_matches "version: +1\$"
    run "$VALISE" session show support
    stdout_matches "topics: +parcels\$"
    run "$VALISE" log --type context:add --json
    [ "$(wc -l <"$OUT")" = 1 ]
'

t 'a processor that runs again after a crash changes nothing [K14]' '
    begin memory topics
    places keep
    say user "my parcel"
    say assistant "REMEMBER city: Paris"
    say assistant "REMEMBER city: Rome"
    before=$("$VALISE" workspace hash --json | "$VALISE" json get - /hash)
    seq=$(seq_now)
    places put_back
    "$VALISE" -q pin add a
    "$VALISE" -q pin remove a
    [ "$(seq_now)" = $((seq + 2)) ]
    run "$VALISE" context show city
    stdout_has Rome
    stdout_matches "version: +2\$"
    [ "$("$VALISE" workspace hash --json | "$VALISE" json get - /hash)" = "$before" ]
'

t 'its own turns do not make a processor run [K14]' '
    begin memory
    "$VALISE" -q --actor auto-memory turn add support assistant "REMEMBER city: Paris"
    "$VALISE" -q pin add a
    run "$VALISE" context list
    stdout_lacks city
'

t 'an actor that may not is told of, and what waits is done once it may [K14]' '
    with memory
    "$VALISE" -q init
    "$VALISE" -q session create support
    say assistant "REMEMBER city: Paris"
    run "$VALISE" context list
    stdout_lacks city
    "$VALISE" -q agent add auto-memory --role writer
    sleep 0.2
    "$VALISE" -q pin add a
    run "$VALISE" context show city
    stdout_has Paris
'

t 'a log that arrives whole is run by none of them [W19] [K32]' '
    begin shadow memory topics
    say user "my parcel"
    say assistant "REMEMBER city: Paris"
    run "$VALISE" export all.valise
    mkdir copy
    cd copy
    "$VALISE" -q init
    run "$VALISE" import ../all.valise
    run "$VALISE" session show support
    stdout_matches "turns: +3\$"
    run "$VALISE" context show city
    stdout_matches "version: +1\$"
    [ "$("$VALISE" workspace hash --json)" = "$(cd .. && "$VALISE" workspace hash --json)" ]
    "$VALISE" -q pin add a
    run "$VALISE" log --type context:add --json
    [ "$(wc -l <"$OUT")" = 1 ]
'

done_testing
