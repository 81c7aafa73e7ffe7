#!/bin/sh
# track.sh -- a tool that fails: the carrier is asked, and does not answer.
cat >/dev/null
echo "the carrier does not answer" >&2
exit 1
