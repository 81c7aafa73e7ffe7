#!/usr/bin/env python3
"""json_get.py FILE PATH -- print one value of a JSON file, for lib.sh."""
import json
import re
import sys


def load(text):
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line]


def main():
    file, path = sys.argv[1:]
    steps = re.findall(r"\[(-?\d+)\]|([^.\[\]]+)", path)
    try:
        with open(file, encoding="utf-8") as f:
            value = load(f.read())
        for index, name in steps:
            value = value[int(index)] if index else value[name]
    except (ValueError, LookupError, TypeError) as error:
        print(f"{path}: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    if isinstance(value, str):
        print(value)
    else:
        print(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")))
    return 0


sys.exit(main())
