#!/usr/bin/env python3
"""The built-in policies, written from docs/formats.md, "Derived frames", alone. [C17] [C18]

usage: reference.py SPEAK FORMATS.md [SEED]

Both must make the same frames of inputs at random. SPEAK is the program made of speak.c. Speaks TAP.
"""
import random
import re
import subprocess
import sys

WHITE = b' \t\n\v\f\r'
LOOK = 16777216
NOTHING = (b'[empty directory]\n', b'[nothing is known about what is in this directory]\n')


# ---- what policies share

def characters(data):
    """(bytes, code point), or (byte, None) for what is no UTF-8."""
    at = 0
    while at < len(data):
        for size in (1, 2, 3, 4):
            try:
                text = data[at:at + size].decode('utf-8')
            except UnicodeDecodeError:
                continue
            if len(text) == 1:
                yield data[at:at + size], ord(text)
                at += size
                break
        else:
            yield data[at:at + 1], None
            at += 1


def escaped(data, also=b''):
    out = b''
    for piece, code in characters(data):
        if code is None or code < 0x20 or code == 0x5c or 0x7f <= code <= 0x9f or \
                0x2028 <= code <= 0x202e or 0x2066 <= code <= 0x2069 or (code < 0x80 and piece in also):
            piece = b''.join(b'\\x%02x' % byte for byte in piece)
        out += piece
    return out


def heading(item, shown):
    total = len(item['content'])
    size = b'%d of %d' % (shown, total) if shown < total else b'%d' % shown
    return b'## %s%s (%s, %s, %s bytes)\n' % (
        escaped(item['name']), b'/' if item['directory'] else b'',
        escaped(item['type'], b' (),'), escaped(item['agent'], b' (),'), size)


def section(first, head, body):
    out = (b'' if first else b'\n') + head
    if body:
        out += b'\n' + body + (b'' if body.endswith(b'\n') else b'\n')
    return out


def marker(first, budget, left, count):
    return (b'' if first else b'\n') + b'[cut at %d bytes: %d of %d inputs left out]\n' % (budget, left, count)


def marker_room(budget, count):
    return len(marker(False, budget, count, count))


def is_text(data):
    try:
        data.decode('utf-8')
    except UnicodeDecodeError:
        return False
    return b'\0' not in data


def head_of(data, size):
    """The first bytes, or up to 3 less, so that no character is split."""
    if len(data) <= size:
        return data
    for less in range(4):
        at = size - less
        if at >= 0 and data[at] & 0xc0 != 0x80:
            return data[:at]
    return data[:size]


def no_text(item):
    return b'[no text, %d bytes]' % len(item['content'])


# ---- concatenation

def concatenation(inputs, budget):
    def whole(i):
        item = inputs[i]
        if is_text(item['content']):
            return section(i == 0, heading(item, len(item['content'])), item['content'])
        return section(i == 0, heading(item, 0), no_text(item))

    sections = [whole(i) for i in range(len(inputs))]
    if sum(map(len, sections)) <= budget:
        return b''.join(sections)
    room, out, shown = budget - marker_room(budget, len(inputs)), b'', 0
    while len(out) + len(sections[shown]) <= room:
        out += sections[shown]
        shown += 1
    item = inputs[shown]
    size = len(item['content'])
    if is_text(item['content']) and size > 0:
        left = room - len(out) - (shown > 0) - len(heading(item, size - 1)) - 2
        body = head_of(item['content'], left) if left > 0 else b''
        if body:
            out += section(shown == 0, heading(item, len(body)), body)
            shown += 1
    return out + marker(not out, budget, len(inputs) - shown, len(inputs))


# ---- summarization

OWN = re.compile(rb'## .*, ([0-9]+ of )?[0-9]+ bytes\)|\[no text, [0-9]+ bytes\]|'
                 rb'\[cut at .* inputs left out\]|\[empty directory\]|'
                 rb'\[nothing is known about what is in this directory\]', re.S)
WORD = re.compile(rb'[A-Za-z0-9\x80-\xff]+')
HEADING = re.compile(rb'#{1,6}[ \t\v\f\r](.*)', re.S)
ITEM = re.compile(rb'([-*+]|[0-9]{1,9}[.)])[ \t\v\f\r](.+)', re.S)
END = re.compile(rb'[.!?][.!?"\')\]*_`]*(?=$|\Z| (?![a-z]))|\xe3\x80\x82|\xef\xbc\x81|\xef\xbc\x9f')


def is_own(line):
    if not OWN.fullmatch(line):
        return False
    if line.startswith(b'## '):
        return b' (' in re.sub(rb'([0-9]+ of )?[0-9]+ bytes\)$', b'', line)
    return True


def single(data):
    return re.sub(rb'[ \t-\r]+', b' ', data)


def outline(text):
    """(title or None, whether it is the first sentence, sentences)."""
    sentences, paragraph, heads, firsts = [], [], [], []

    def end():
        rest = single(b' '.join(paragraph))
        paragraph.clear()
        at = 0
        while at < len(rest):
            found = END.search(rest, at)
            stop = found.end() if found else len(rest)
            one = rest[at:stop].strip(WHITE)
            at = stop
            if WORD.search(one):
                sentences.append(one)

    fence = None
    for line in text.split(b'\n'):
        if len(sentences) >= 10000:
            break
        line = line.strip(WHITE)
        if line[:3] in (b'```', b'~~~'):
            fence = line[:1] if fence is None else None if fence == line[:1] else fence
            end()
            continue
        if not line or is_own(line):
            end()
            continue
        firsts.append(line)
        if fence:
            continue
        head, item = HEADING.fullmatch(line), ITEM.fullmatch(line)
        if head:
            end()
            if WORD.search(head[1]):
                heads.append(head[1].strip(WHITE))
        elif not WORD.search(line):
            end()
        elif item:
            end()
            paragraph.append(item[2].strip(WHITE))
        else:
            if line.startswith(b'|'):
                end()
            paragraph.append(line)
    end()
    del sentences[10000:]
    if heads:
        title, led = heads[0], False
    elif sentences:
        title, led = sentences[0], True
    elif firsts:
        title, led = firsts[0], False
    else:
        return None, False, sentences
    title = single(title)
    if len(title) > 160:
        title = head_of(title, 157).rstrip(WHITE) + b'...'
    return title, led, sentences


def log2_256(number):
    power = number.bit_length() - 1
    return 256 * power + 256 * (number - 2 ** power) // 2 ** power


class Summary:
    def __init__(self, inputs, budget, stops):
        self.inputs, self.budget, self.stops = inputs, budget, stops
        self.parts = []
        for i, item in enumerate(inputs):
            looked = head_of(item['content'], max(1024, LOOK // len(inputs)))
            if is_text(looked):
                title, led, sentences = outline(looked)
                if title is None and looked in NOTHING:
                    title = looked[:-1]
                part = {'title': title or b'', 'led': led, 'sentences': sentences, 'looked': len(looked)}
            else:
                part = {'title': no_text(item), 'led': False, 'sentences': [], 'looked': 0, 'binary': True}
            part['base'] = len(section(i == 0, heading(item, 0), part['title'])) + len(str(budget)) - 1
            self.parts.append(part)

    def buckets_of(self, sentence):
        out = []
        for word in WORD.findall(sentence):
            word = bytes(c + 32 if 65 <= c <= 90 else c for c in word)
            if len(word) < 3 or word in self.stops:
                continue
            number = 2166136261
            for byte in word:
                number = (number ^ byte) * 16777619 % 2 ** 32
            out.append((number ^ number // 65536) % self.buckets)
        return out

    def show(self):
        count = len(self.parts)
        room = self.budget
        if sum(part['base'] for part in self.parts) > room:
            room -= marker_room(self.budget, count)
            while sum(part['base'] for part in self.parts) > room:
                self.parts.pop()
        rest = room - sum(part['base'] for part in self.parts)
        total = sum(part['looked'] for part in self.parts)
        for part in self.parts:
            part['share'], part['rest'] = divmod(rest * part['looked'], total) if total else (0, 0)
        if total:
            order = sorted(self.parts, key=lambda part: -part['rest'])
            for part in order[:rest - sum(part['share'] for part in self.parts)]:
                part['share'] += 1
        self.buckets = 1024
        while self.buckets < 262144 and self.buckets < total // 4:
            self.buckets *= 2

    def choose(self, part, inputs_of, room):
        times = {}
        for sentence in part['sentences']:
            for bucket in self.buckets_of(sentence):
                times[bucket] = times.get(bucket, 0) + 1
        candidates, seen = [], {part['title']}
        for at, sentence in enumerate(part['sentences']):
            if sentence in seen or (part['led'] and at == 0):
                continue
            seen.add(sentence)
            words = self.buckets_of(sentence)
            total = sum(log2_256(1 + times[b]) * (log2_256(16 * len(self.parts) // inputs_of[b]) - 960)
                        for b in set(words))
            candidates.append((-(total // (8 + len(words))), at))
        taken = []
        for _, at in sorted(candidates):
            cost = len(part['sentences'][at]) + (3 if taken else 4)
            if cost <= room:
                room -= cost
                taken.append(at)
        return sorted(taken), room

    def frame(self):
        self.show()
        inputs_of = {}
        for part in self.parts:
            for bucket in {b for sentence in part['sentences'] for b in self.buckets_of(sentence)}:
                inputs_of[bucket] = inputs_of.get(bucket, 0) + 1
        out, room = b'', 0
        for i, part in enumerate(self.parts):
            taken, room = self.choose(part, inputs_of, room + part['share'])
            body = part['title']
            for k, at in enumerate(taken):
                body += (b'\n- ' if k else b'\n\n- ') + part['sentences'][at]
            shown = 0 if part.get('binary') else len(body)
            out += section(i == 0, heading(self.inputs[i], shown), body)
        left = len(self.inputs) - len(self.parts)
        if left:
            out += marker(not out, self.budget, left, len(self.inputs))
        return out


# ---- the comparison

PIECES = [b'parser', b'Buffer', b'the', b'queue', b'Because', b'is', b'\xc3\xa9t\xc3\xa9', b'\xe6\x97\xa5\xe6\x9c\xac',
          b'e.g.', b'42', b'3.14', b'a', b'Writes', b'reads', b'(x.)', b'"Yes."', b'\t', b'\r\n', b'\n', b'\n\n', b'\n- ',
          b'\n* ', b'\n12) ', b'\n1234567890. ', b'\n# ', b'\n###### ', b'\n####### ', b'\n#', b'\n```\n', b'\n~~~\n', b'\n~~~ x\n',
          b'\n| a | b |\n', b'\n---\n', b'\n## a (summary, local, 5 bytes)\n', b'\n## b/ (x, y, 5 of 9 bytes)\n',
          b'\n## a, 5 bytes)\n', b'\n[empty directory]\n', b'\n[no text, 5 bytes]\n', b'\n  [cut at 3 bytes: 1 of 4 inputs left out]\n',
          b'...', b'!?', b'*_', b'\xe3\x80\x82', b'\xef\xbc\x81', b'\x1b[1m', b'\v', b'_', b"don't", b'x' * 40]
GLUE = [b' ', b' ', b' ', b' ', b'. ', b'. ', b'! ', b'', b'\n', b'.\n', b'  ']


def some_content(rng):
    if rng.random() < 0.05:
        return rng.choice(NOTHING) + rng.choice([b'', b'', b'\n'])
    words = rng.choice([0, 1, 5, 30, 200, 1500])
    data = b''.join(rng.choice(PIECES) + rng.choice(GLUE) for _ in range(rng.randint(0, words)))
    if rng.random() < 0.08:
        data += rng.choice([b'\0', b'\xff', b'\xc3', b'\x80' * 2000])
    return data


def some_case(rng):
    name = [b'a.c', b'lib', b'photo (1), x.jpg', b'\xff\n\\', b'\xe2\x80\xae\xc2\x9b\xc3\xa4', b'n' * 200]
    inputs = [{'name': rng.choice(name), 'directory': rng.random() < 0.3,
               'type': rng.choice([b'summary', b'notes', b'a, (b)']),
               'agent': rng.choice([b'local', b'team/w-1', b'\xfe']),
               'content': some_content(rng)} for _ in range(rng.choice([1, 2, 3, 5, 12, 40]))]
    return {'policy': rng.choice([0, 1, 2, 2, 2]), 'budget': rng.choice([256, 300, 700, 4096, 65536]),
            'inputs': inputs}


def large_cases(rng):
    """Over the part that is looked at, over the sentences that are read, many buckets."""
    base = {'name': b'n', 'directory': False, 'type': b't', 'agent': b'a'}
    words = [b'%s%d' % (rng.choice([b'Word', b'term', b'Name']), i) for i in range(30000)]
    long = b''.join(b' '.join(rng.choices(words, k=rng.randint(2, 20))) + b'. X' for _ in range(9000))
    yield [dict(base, content=long), dict(base, content=long[:70000])]
    yield [dict(base, content=b'A%d b.\nC d. ' % (i % 7) * 90) for i in range(4000)]
    yield [dict(base, content=b'Ab%d c. ' * 12000 % tuple(range(12000)))]
    yield [dict(base, content=b'# a \xc3\xa4' + b'\xc3\xa4' * 200), dict(base, content=b'{}' * 100)]


def pack(case):
    def string(data):
        return len(data).to_bytes(4, 'big') + data
    out = bytes([case['policy']]) + case['budget'].to_bytes(4, 'big') + len(case['inputs']).to_bytes(4, 'big')
    for item in case['inputs']:
        out += bytes([item['directory']]) + string(item['name']) + string(item['type']) + \
            string(item['agent']) + string(item['content'])
    return out


def main(speak, formats, seed):
    with open(formats, encoding='utf-8') as file:
        stops = set(re.search(r'```stop-words\n(.*?)```', file.read(), re.S)[1].encode().split())
    rng = random.Random(seed)
    cases = [some_case(rng) for _ in range(400)]
    cases += [{'policy': policy, 'budget': 65536, 'inputs': inputs}
              for inputs in large_cases(rng) for policy in (0, 2)]
    got = subprocess.run([speak], input=b''.join(map(pack, cases)), stdout=subprocess.PIPE, check=True).stdout
    print('TAP version 13\n1..1')
    at = 0
    for number, case in enumerate(cases):
        size = int.from_bytes(got[at:at + 4], 'big')
        frame = got[at + 4:at + 4 + size]
        at += 4 + size
        if case['policy'] == 2:
            wanted = Summary(case['inputs'], case['budget'], stops).frame()
        else:
            wanted = concatenation(case['inputs'], case['budget'])
        if frame != wanted:
            print(f'not ok 1 - case {number} of seed {seed}')
            print(f'# policy {case["policy"]}, budget {case["budget"]}')
            print(f'# inputs: {str(case["inputs"])[:4000]}\n# is:     {frame[:4000]}\n# wanted: {wanted[:4000]}')
            return 1
    print(f'ok 1 - {len(cases)} frames as docs/formats.md has them (seed {seed})')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1))
