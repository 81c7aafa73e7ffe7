#!/bin/sh
# security.sh -- SECURITY.md says what is promised, what is not, and how to report. [Q28]
. "$(dirname "$0")/lib.sh"

# The lines below a heading, up to the next.
section() { # HEADING
    awk -v heading="## $1" '$0 == heading {on = 1; next} /^## / {on = 0} on' "$root/SECURITY.md"
}

says 'what is promised' 'vulnerability' section 'What is promised'
says 'what is not promised' '^- \*\*' section 'What is not promised'
says 'which versions are looked after' 'supported' section 'Versions'
says 'how to report' 'private vulnerability reporting' section 'How to report'
says 'the README leads there' '(SECURITY.md)' cat "$root/README.md"

done_testing
