#!/bin/sh
# convert.sh -- a tool: euros in dollars. The rate is in its environment.
sed 's/.*"euros":\([0-9.]*\).*/\1/' | awk -v rate="$RATE" '{printf "{\"dollars\":%.2f}\n", $1 * rate}'
