#!/usr/bin/env bash
# 81-session-graph.sh -- conversations as people read them: transcripts, branches, drawings.
. "$(dirname "$0")/lib.sh"

# The id of turn number N.
turn_id() {
    echo "00000000-0000-7000-8000-0000000000$1"
}

# say SESSION N ROLE BLOCKS
say() {
    run "$VALISE" turn add "$1" --turn \
        "{\"id\":\"$(turn_id "$2")\",\"role\":\"$3\",\"blocks\":$4}"
}

text() {
    printf '[{"type":"text","text":"%s"}]' "$1"
}

# What was printed, without times.
timeless() {
    sed 's/  20..-[^ ]*Z  / TIME /' "$OUT" >shown
    cp shown "$OUT"
}

# Two sessions: main says a1 a2 a3 a4; other has a4 in another version, and b5 behind it.
furnish() {
    run "$VALISE" init
    run "$VALISE" session create main --topics parcels
    say main a1 user "$(text 'Where is my parcel?\nIt is late.')"
    say main a2 assistant '[{"type":"text","text":"Let me look."},
        {"type":"tool_use","callId":"c1","name":"track","args":{"id":7}}]'
    say main a3 tool '[{"type":"tool_result","callId":"c1","content":"in Bonn"},
        {"type":"hologram"}]'
    say main a4 assistant "$(text 'It is in Bonn.')"
    run "$VALISE" session fork main --label other
    run "$VALISE" turn edit other HEAD --text 'It is in Bonn, since monday.'
    say other b5 user "$(text thanks)"
}

transcript() {
    furnish
    run "$VALISE" turn log other
    timeless
    stdout_is <<'EOF'
user 000000a1@1 TIME local
    Where is my parcel?
    It is late.

assistant 000000a2@1 TIME local
    Let me look.
    > track {"id":7}

tool 000000a3@1 TIME local
    < in Bonn
    [hologram] (unknown)

assistant 000000a4@2 TIME local
    It is in Bonn, since monday.

user 000000b5@1 TIME local
    thanks

EOF
    run "$VALISE" turn log other --oneline --limit 2
    stdout_is <<'EOF'
000000a4@2 assistant It is in Bonn, since monday.
000000b5@1 user thanks
EOF
}
t 'a transcript reads like a conversation [W8] [W17]' transcript

drawing() {
    furnish
    run "$VALISE" session graph other
    stdout_is <<'EOF'
* 000000b5@1 (HEAD) user: thanks
* 000000a4@2 assistant: It is in Bonn, since monday.
| o 000000a4@1 (tip) assistant: It is in Bonn.
|/
* 000000a3@1 tool: result of c1
* 000000a2@1 assistant: Let me look.
* 000000a1@1 user: Where is my parcel? It is late.
EOF
    run "$VALISE" turn merge other --parents HEAD --parents "$(turn_id a4)@1" --turn \
        "{\"id\":\"$(turn_id b6)\",\"role\":\"user\",\"blocks\":$(text both)}"
    run "$VALISE" turn checkout other "$(turn_id a2)"
    say other b7 user "$(text elsewhere)"
    run "$VALISE" session graph other
    stdout_is <<'EOF'
* 000000b7@1 (HEAD) user: elsewhere
| o   000000b6@1 (tip) user: both
| |\
| o | 000000b5@1 user: thanks
| o | 000000a4@2 assistant: It is in Bonn, since monday.
| | o 000000a4@1 assistant: It is in Bonn.
| |/
| o 000000a3@1 tool: result of c1
|/
* 000000a2@1 assistant: Let me look.
* 000000a1@1 user: Where is my parcel? It is late.
EOF
    run "$VALISE" turn log other
    stdout_lacks Bonn
}
t 'the graph of a session is drawn as branches [W7]' drawing

all_sessions() {
    furnish
    run "$VALISE" session create empty
    run "$VALISE" session graph
    stdout_is <<'EOF'
* 000000b5@1 (other) user: thanks
* 000000a4@2 assistant: It is in Bonn, since monday.
| * 000000a4@1 (main) assistant: It is in Bonn.
|/
* 000000a3@1 tool: result of c1
* 000000a2@1 assistant: Let me look.
* 000000a1@1 user: Where is my parcel? It is late.
EOF
    id=10000000-0000-7000-8000-00000000000c
    run "$VALISE" session fork main --id "$id"
    run "$VALISE" turn checkout main "$(turn_id a2)"
    run "$VALISE" session graph
    stdout_is <<'EOF'
* 000000b5@1 (other) user: thanks
* 000000a4@2 assistant: It is in Bonn, since monday.
| * 000000a4@1 (0000000c) assistant: It is in Bonn.
|/
* 000000a3@1 tool: result of c1
* 000000a2@1 (main) assistant: Let me look.
* 000000a1@1 user: Where is my parcel? It is late.
EOF
    run "$VALISE" session graph --json
    stdout_has "\"heads\":[\"$id\"]" '"heads":["main"]' "\"tips\":[\"$(turn_id a4)@1\"]"
    stdout_lacks '"id"'
    run "$VALISE" session graph --format mermaid
    stdout_has 'user 000000a1@1<br/>' 'user 000000b5@1 other<br/>' '000000a4@1 0000000c<br/>'
    stdout_lacks HEAD
    run "$VALISE" session fork other --label 'o"]
x'
    run "$VALISE" session graph --format dot
    stdout_has '000000b5@1 o\"]\\nx, other\n'
}
t 'the graph of all sessions names their heads [W7]' all_sessions

octopus() {
    run "$VALISE" init
    run "$VALISE" session create s
    say s a1 user "$(text one)"
    for n in a2 a3 a4; do
        run "$VALISE" turn branch s "$(turn_id a1)@1" --turn \
            "{\"id\":\"$(turn_id "$n")\",\"role\":\"user\",\"blocks\":$(text "$n")}"
    done
    run "$VALISE" turn merge s --parents "$(turn_id a2)" --parents "$(turn_id a3)" \
        --parents "$(turn_id a4)" --turn \
        "{\"id\":\"$(turn_id a5)\",\"role\":\"user\",\"blocks\":$(text all)}"
    run "$VALISE" session graph s
    stdout_is <<'EOF'
*   000000a5@1 (HEAD) user: all
|\
|\ \
| | * 000000a4@1 user: a4
| * | 000000a3@1 user: a3
* | | 000000a2@1 user: a2
|_|/
|/
* 000000a1@1 user: one
EOF
    run "$VALISE" turn log s --oneline
    stdout_is <<'EOF'
000000a1@1 user one
000000a2@1 user a2
000000a3@1 user a3
000000a4@1 user a4
000000a5@1 user all
EOF
}
t 'three parents open two lanes [W7]' octopus

roots() {
    run "$VALISE" init
    run "$VALISE" session create s
    say s a1 user "$(text one)"
    say s a2 assistant "$(text two)"
    run "$VALISE" turn edit s "$(turn_id a1)" uno
    run "$VALISE" session graph s
    stdout_is <<'EOF'
* 000000a1@2 (HEAD) user: uno

o 000000a2@1 (tip) assistant: two
o 000000a1@1 user: one
EOF
}
t 'what begins anew stands apart [W7]' roots

difference() {
    furnish
    expect_exit 8 "$VALISE" turn diff main other --patch --exit-code
    timeless
    stdout_is <<'EOF'
common up to 000000a3@1 tool result of c1
- assistant 000000a4@1 TIME local
-     It is in Bonn.
+ assistant 000000a4@2 TIME local
+     edits 000000a4@1
      @@ -1 +1 @@
      -It is in Bonn.
      +It is in Bonn, since monday.
+ user 000000b5@1 TIME local
+     thanks
EOF
    expect_exit 0 "$VALISE" turn diff main main --exit-code
    stdout_is 'common up to 000000a4@1 assistant It is in Bonn.'
}
t 'a difference names what is common [W8]' difference

branches() {
    furnish
    run "$VALISE" turn branches other 0000a4
    stdout_is <<'EOF'
  000000a4@1 assistant It is in Bonn.
    head of main: 000000a4@1
    tip of other: 000000a4@1
* 000000a4@2 assistant It is in Bonn, since monday.
    followed by 000000b5@1
    head of other: 000000b5@1
EOF
    run "$VALISE" turn show other 0000a4
    stdout_has 'versions: 000000a4@1, 000000a4@2' 'children: 000000b5@1' 'needed by: 1 child'
}
t 'the branches of a turn [W7]' branches

formats() {
    furnish
    run "$VALISE" session graph other --format mermaid
    stdout_has 'flowchart TD' '<br/>It is in Bonn.' ' --> '
    stdout_lacks drawing
    run "$VALISE" session graph other --format dot
    stdout_has 'digraph "other" {' ' -> '
    if command -v dot >/dev/null; then
        dot -Tsvg "$OUT" >/dev/null
    fi
    run "$VALISE" session graph other --json
    stdout_has '"nodes":[{' '"edges":[{'
}
t 'a graph for other programs [W7]' formats

harmless() {
    run "$VALISE" init
    run "$VALISE" session create s
    say s a1 user "$(text '\u001b[2J\u202eevil')"
    run "$VALISE" turn add s user secret --hidden
    run python3 "$LIB_DIR/on_terminal.py" "$VALISE" turn log s
    stdout_has '\x1b[2J\u202eevil'
    stdout_lacks secret
    run "$VALISE" turn log s
    stdout_has '\x1b[2J'
    run python3 "$LIB_DIR/on_terminal.py" "$VALISE" session graph s
    stdout_has '\x1b[2J'
    run "$VALISE" turn log s --all
    stdout_has secret '(hidden)'
}
t 'what was said cannot steer a terminal, hidden turns are hidden' harmless

found() {
    furnish
    run "$VALISE" session list
    stdout_matches '^ID +LABEL +TURNS +HEAD +TOPICS +UPDATED'
    stdout_has 000000a4@1 000000b5@1
    short=$(sed -n 's/ .*//;2p' "$OUT")
    run "$VALISE" turn log "$short" HEAD~1 --oneline
    stdout_has 'since monday'
    expect_exit 3 "$VALISE" turn log nobody
    stderr_has 'session list'
    expect_exit 3 "$VALISE" turn show main ffffffff
}
t 'sessions and turns are found by ends, labels and HEAD [W2]' found

done_testing
