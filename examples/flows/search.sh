#!/bin/sh
# search.sh -- a node: the lines of notes.txt that have a longer word of the question.
question=$(sed 's/.*"question":"\([^"]*\)".*/\1/')
words=$(printf '%s' "$question" | tr -cs '[:alpha:]' '\n' | grep -E '.{4,}' | paste -sd '|')
found=$(grep -iE "${words:-^$}" notes.txt | head -n 3 | sed 's/[\\"]/\\&/g' | paste -sd ' ')
printf '{"pack":{"found":"%s"}}\n' "$found"
