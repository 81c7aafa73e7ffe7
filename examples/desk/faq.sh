#!/bin/sh
# faq.sh -- a tool: the line of faq.txt about a topic.
topic=$(sed 's/.*"topic":"\([^"]*\)".*/\1/')
grep "^$topic: " faq.txt
