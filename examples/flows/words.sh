#!/bin/sh
# words.sh -- a node: how many words a document has, and the longest of them.
text=$(sed 's/.*"text":"\([^"]*\)".*/\1/')
printf '%s\n' "$text" | tr -cs '[:alpha:]' '\n' | awk '
    length($0) > 0 { count++ }
    length($0) > length(longest) { longest = $0 }
    END { printf "{\"pack\":{\"result\":%d,\"longest\":[\"%s\"]}}\n", count, longest }'
