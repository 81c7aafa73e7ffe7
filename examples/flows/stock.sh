#!/bin/sh
# stock.sh -- a tool: how many of a thing there are. What it cannot do it says on standard error.
item=$(sed 's/.*"item":"\([^"]*\)".*/\1/')
line=$(grep -m 1 "^$item$(printf '\t')" stock.tsv) || {
    echo "there is no $item; there are: $(cut -f 1 stock.tsv | paste -sd ' ')" >&2
    exit 1
}
printf '%s\n' "$line" | awk -F '\t' '{printf "{\"item\":\"%s\",\"count\":%d,\"euros\":%s}\n", $1, $2, $3}'
