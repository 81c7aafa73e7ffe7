#!/usr/bin/env python3
"""Write those texts of the corpus that need no author: ids, numbers, dumps, logs, and hard cases.

usage: tests/data/tokens/generate.py

The same bytes every time. The other files of the folder are written by hand, or copies of sources of
this repository. After a change: count.mjs, which see.
"""
import base64
import json
import os
import random
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
DICE = random.Random(16)
WORDS = ('agent budget cache chunk commit config context cursor digest engine entry error event fork frame '
         'handle header history index journal kernel label ledger limit memory merge node object parser path '
         'payload policy prompt query range record reply retry role schema session snapshot source store stream '
         'summary token tool tree turn update value vector version view watch window worker').split()


def raw(count):
    return bytes(DICE.randrange(256) for _ in range(count))


def name():
    parts = DICE.choices(WORDS, k=DICE.randrange(1, 4))
    style = DICE.randrange(4)
    if style == 0:
        return '_'.join(parts)
    if style == 1:
        return '_'.join(parts).upper()
    return parts[0] + ''.join(p.title() for p in parts[1:]) if style == 2 else ''.join(p.title() for p in parts)


def some(count):
    return ' '.join(DICE.choices(WORDS, k=count))


def stamp():
    return '2026-%02d-%02dT%02d:%02d:%02d.%03dZ' % (DICE.randrange(1, 13), DICE.randrange(1, 29), DICE.randrange(24),
                                                    DICE.randrange(60), DICE.randrange(60), DICE.randrange(1000))


def record(seq):
    return {'seq': seq, 'id': str(uuid.UUID(bytes=raw(16))), 'type': DICE.choice(WORDS) + ':' + DICE.choice(WORDS),
            'at': stamp(), 'actor': {'kind': DICE.choice(['user', 'agent', 'tool']), 'name': name()},
            'text': some(DICE.randrange(4, 20)) + '.', 'tokens': DICE.randrange(5000), 'score': DICE.random(),
            'tags': DICE.choices(WORDS, k=DICE.randrange(4)), 'parent': None if seq % 7 == 0 else raw(8).hex(),
            'done': DICE.random() < 0.5}


def log_line():
    return '%s %-5s [%s-%d] %s.c:%d %s id=%s took=%.1fms addr=0x%012x' % (
        stamp(), DICE.choice(['INFO', 'WARN', 'ERROR', 'DEBUG']), name(), DICE.randrange(16), DICE.choice(WORDS),
        DICE.randrange(1, 900), some(DICE.randrange(3, 9)), raw(6).hex(), DICE.uniform(0, 900), DICE.randrange(1 << 48))


def url():
    return 'https://%s.example.%s/%s?%s=%s&id=%s#%s' % (
        DICE.choice(['www', 'api', 'docs', 'cdn-3']), DICE.choice(['org', 'com', 'net']),
        '/'.join(name() for _ in range(DICE.randrange(1, 4))), name(), DICE.choice([raw(6).hex(), name(), '42']),
        base64.urlsafe_b64encode(raw(9)).decode(), name())


def random_text(alphabet, low, high, words):
    return ' '.join(''.join(DICE.choice(alphabet) for _ in range(DICE.randrange(low, high))) for _ in range(words))


def lines(make, count):
    return ''.join(make() + '\n' for _ in range(count))


def texts():
    wrapped = base64.b64encode(raw(6000)).decode()
    records = [record(seq) for seq in range(40)]
    lower = 'abcdefghijklmnopqrstuvwxyz'
    yield 'base64', ''.join(wrapped[at:at + 76] + '\n' for at in range(0, len(wrapped), 76))
    yield 'hex', lines(lambda: raw(32).hex(), 60) + raw(2000).hex() + '\n'
    yield 'uuids', lines(lambda: str(uuid.UUID(bytes=raw(16))), 150)
    yield 'numbers', lines(lambda: '%d, %.4f, %d%%, %s' % (DICE.randrange(10 ** DICE.randrange(1, 12)), DICE.uniform(-999, 999),
                                                           DICE.randrange(101), format(DICE.randrange(10 ** 9), ',')), 250)
    yield 'json', json.dumps(records[:20], indent=2) + '\n'
    yield 'json-minified', json.dumps(records[20:], separators=(',', ':')) + '\n'
    yield 'logs', lines(log_line, 80)
    yield 'urls', lines(url, 80)
    yield 'hard-letters', random_text(lower, 1, 30, 250) + '\n' + random_text('aA', 4, 40, 40) + '\n'
    yield 'hard-keys', random_text(lower + lower.upper() + '0123456789', 8, 44, 200) + '\n'
    yield 'hard-punctuation', random_text('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~', 1, 20, 300) + '\n'
    yield 'hard-runs', ''.join(DICE.choice('-=*# .\n_/') * DICE.choice([1, 2, 3, 8, 20, 60, 300]) for _ in range(150)) + '\n'


def main():
    for title, text in texts():
        with open(os.path.join(HERE, title), 'w', encoding='utf-8', newline='\n') as file:
            file.write(text)


if __name__ == '__main__':
    main()
