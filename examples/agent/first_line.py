#!/usr/bin/env python3
"""An agent in another language: says of each file what its first line says."""
import json
import subprocess
import sys

valise = subprocess.Popen(['valise', 'agent', 'serve', '--as', 'reader'], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ask(op, **args):
    """One question, one answer: a line each."""
    print(json.dumps({'id': 1, 'op': op, 'args': args}), file=valise.stdin, flush=True)
    answer = json.loads(valise.stdout.readline())
    if 'error' in answer:
        sys.exit(answer['error']['message'])
    return answer['result']


for path in sys.argv[1:]:
    with open(path, encoding='utf-8') as file:
        said = ask('write_context', node=path, type='first', text=file.readline().strip())
    known = ask('read_context', node=path, view='type=first')['frames'][0]
    print(path, 'was known:' if said['existed'] else 'is new:', known['text'])
valise.stdin.close()
sys.exit(valise.wait())
