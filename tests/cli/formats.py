#!/usr/bin/env python3
"""Ids as docs/formats.md has them, computed from that text alone: no line of Valise's is used.

    formats.py vectors FORMATS.md      compute the vectors of trees, frames, slots and views again
    formats.py root DIR < PATHS        the root of a tree that has these nodes, each followed by NUL,
                                       and the directories on the way to them
    formats.py nodes DIR < PATHS       all of its nodes: path, NUL, node id, newline, NUL
    formats.py frame TYPE AGENT OBJECT < CONTENT     basis and frame id about a node
    formats.py slots < JSON            frame set roots and context root of
                                       {"PATH": {"TYPE": [[FRAME, ...], HEAD]}, ...}
"""
import hashlib
import json
import os
import re
import stat
import sys


def tagged(tag, *fields):
    """Fields are bytes, numbers, or None."""
    message = b''
    for field in (tag.encode(),) + fields:
        if field is None:
            message += b'\xff' * 8
            continue
        if isinstance(field, int):
            field = field.to_bytes(8, 'big')
        message += len(field).to_bytes(8, 'big') + field
    return bytes(b ^ 0xff for b in hashlib.sha256(message).digest())


def counted(items):
    """A list: how many, then the fields of each."""
    return [len(items)] + [field for item in items for field in item]


# ---- trees ----

def file_id(runs, content):
    return tagged('valise.file.1', 1 if runs else 0, hashlib.sha256(content).digest())


def link_id(target):
    return tagged('valise.link.1', target)


def dir_id(entries):
    """entries: (name, kind, object id)."""
    return tagged('valise.dir.1', *counted([(n, k.encode(), i) for n, k, i in sorted(entries)]))


def node_id(path, obj):
    return tagged('valise.node.1', path, obj)


def tree(root, paths):
    """{path: node id} of all nodes."""
    below = {b'': {}}

    def directory(path):
        if path not in below:
            below[path] = {}
            parent, _, name = path.rpartition(b'/')
            directory(parent)[name] = 'dir'
        return below[path]

    nodes = {}

    def leaf(path):
        full = os.path.join(root, path)
        st = os.lstat(full)
        if stat.S_ISDIR(st.st_mode):
            directory(path)
            return
        parent, _, name = path.rpartition(b'/')
        directory(parent)[name] = None
        if stat.S_ISLNK(st.st_mode):
            nodes[path] = ('link', link_id(os.readlink(full)))
        else:
            with open(full, 'rb') as f:
                nodes[path] = ('file', file_id(st.st_mode & 0o100, f.read()))

    for path in paths:
        leaf(path)
    for path in sorted(below, key=lambda p: p.count(b'/') if p else -1, reverse=True):
        entries = []
        for name in below[path]:
            kind, obj = nodes[path + b'/' + name if path else name]
            entries.append((name, kind, obj))
        nodes[path] = ('dir', dir_id(entries))
    return {path: node_id(path, obj) for path, (_, obj) in nodes.items()}


# ---- Merkle maps, frames, slots ----

def varint(n):
    out = b''
    while n >= 0x80:
        out += bytes([n & 0x7f | 0x80])
        n >>= 7
    return out + bytes([n])


def merkle_root(pairs, depth=0):
    """pairs: {key: value}, 32 bytes each."""
    if len(pairs) <= 16:
        page = b'\0' + bytes([len(pairs)]) + b''.join(k + pairs[k] for k in sorted(pairs))
        return tagged('valise.merkle.1', page)
    steps, which = b'', 0
    for step in range(16):
        part = {k: v for k, v in pairs.items()
                if (k[depth // 2] >> (0 if depth % 2 else 4)) & 15 == step}
        if part:
            which |= 1 << (15 - step)
            steps += varint(len(part)) + merkle_root(part, depth + 1)
    return tagged('valise.merkle.1', b'\1' + which.to_bytes(2, 'big') + steps)


def frame_id(frame_type, agent, obj, content):
    basis = tagged('valise.basis.1', b'\1' + obj)
    return basis, tagged('valise.frame.1', basis, frame_type, agent,
                         hashlib.sha256(content).digest())


def slot_key(path, frame_type):
    return tagged('valise.slot.1', path, frame_type)


def head_value(frame, marked):
    return tagged('valise.head.1', frame, int(marked))


def frame_set_root(slots):
    """slots: {type: [frame ids]}."""
    return tagged('valise.frame-set.1', *counted(
        [(t, merkle_root({f: f for f in slots[t]})) for t in sorted(slots)]))


# ---- the document ----

def check(what, got, want):
    if got.hex() != want:
        sys.exit(f'{what}: {got.hex()}, but the document has {want}')


def lines(text, name):
    found = re.search('^```' + name + '\n(.*?)^```', text, re.M | re.S).group(1).splitlines()
    if not found:
        sys.exit(f'no {name}')
    return [[part.strip() for part in line.rsplit(' = ', 1)] for line in found]


def unquoted(text):
    return text[1:-1].encode().decode('unicode_escape').encode('latin-1')


def tree_vectors(text):
    ids, names = [], ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth']
    kinds = ['file', 'file', 'link', 'unreadable', 'dir', 'dir']
    for given, want in lines(text, 'tree-vectors'):
        kind, _, rest = given.partition(' ')
        if kind == 'file':
            got = file_id(rest[0] == '1', unquoted(rest[2:]))
        elif kind == 'link':
            got = link_id(unquoted(rest))
        elif kind == 'unreadable':
            got = tagged('valise.unreadable.1')
        elif kind == 'dir':
            entries = re.findall(r'("[^"]*") (\w+)', rest)
            got = dir_id([(unquoted(n), kinds[names.index(o)], ids[names.index(o)])
                          for n, o in entries])
        else:
            path, ordinal = re.match(r'("[^"]*") (\w+)', rest).groups()
            got = node_id(unquoted(path), ids[names.index(ordinal)])
        check(given, got, want)
        ids.append(got)
    return len(ids)


def other_vectors(text):
    def sha(n):
        return hashlib.sha256(n.encode()).digest()

    count = 0
    for given, want in lines(text, 'merkle-vectors'):
        pairs = {sha(f'key {n}'): sha(f'value {n}') for n in range(1, int(given) + 1)}
        check(given, merkle_root(pairs), want)
        count += 1
    for given, want in lines(text, 'frame-vectors'):
        kind, agent, obj, content = given.split(' ')
        basis, frame = frame_id(kind.encode(), agent.encode(), bytes.fromhex(obj), content.encode())
        check(given, basis, want.split(' ')[0])
        check(given, frame, want.split(' ')[1])
        count += 1
    for given, want in lines(text, 'slot-vectors'):
        path, kind, head, mark = given.split(' ')
        check(given, slot_key(path.encode(), kind.encode()), want.split(' ')[0])
        check(given, head_value(bytes.fromhex(head), mark == '1'), want.split(' ')[1])
        count += 1
    for line in re.search('^```view-vectors\n(.*?)^```', text, re.M | re.S).group(1).splitlines():
        canonical, want = line.split(' = ')[1].rsplit(' ', 1)
        check(line, tagged('valise.view.1', canonical.encode()), want)
        count += 1
    for line in re.search('^```policy-vectors\n(.*?)^```', text, re.M | re.S).group(1).splitlines():
        canonical, want = line.split(' = ')[1].rsplit(' ', 1)
        check(line, tagged('valise.compose.1', canonical.encode()), want)
        count += 1
    empty = re.search(r'without slots it is\n`([0-9a-f]{64})`', text).group(1)
    check('no slots', frame_set_root({}), empty)
    return count + 1


# ---- prompts ----

def joined(text, name):
    return re.search('^```%s\n(.*?)^```' % name, text, re.M | re.S).group(1).replace('\n', '')


def section_hash(before, parts):
    fields = []
    for _, kind, says, _, name, version, obj, blob, words, _, _, _, *edits in parts:
        fields += [kind, says, name.encode(), 1 << 63 if version is None else version,
                   bytes.fromhex(obj or '0' * 64), bytes.fromhex(blob or '0' * 64), words.encode()]
        fields += counted([[n % (1 << 64) for n in e[:5]] + [e[5].encode(), e[6].encode()]
                           for e in edits])
    return tagged('valise.prompt-section.1', before, *fields)


def prompt_vectors(text):
    manifest = json.loads(joined(text, 'prompt-manifest'))
    neutral = joined(text, 'prompt-neutral').encode()
    before = None
    if hashlib.sha256(neutral).hexdigest() != manifest['neutral']:
        sys.exit('the neutral prompt has another hash than its manifest says')
    if not len(neutral) == manifest['neutralBytes'] == sum(s[0] for s in manifest['spans']):
        sys.exit('the spans are not as long as the neutral prompt')
    for i, want in enumerate(manifest['chain']):
        before = section_hash(before, [p for p in manifest['parts'] if p[0] == i])
        check('section %d' % i, before, want)
    params = tagged('valise.value.1', b'{"temperature":0}')
    check('params', params, manifest['parts'][0][6])
    return 3


# ---- commands ----

def paths_of_input():
    return [p for p in sys.stdin.buffer.read().split(b'\0') if p]


def print_slots():
    state, heads = json.load(sys.stdin), {}
    for path, slots in state.items():
        frames = {t.encode(): [bytes.fromhex(f) for f in s[0]] for t, s in slots.items()}
        print('set', path, frame_set_root(frames).hex())
        for kind, (_, head) in slots.items():
            heads[slot_key(path.encode(), kind.encode())] = head_value(bytes.fromhex(head), False)
    print('context', merkle_root(heads).hex())


def main(command, *args):
    if command == 'vectors':
        with open(args[0], encoding='utf-8') as f:
            text = f.read()
        print(tree_vectors(text) + other_vectors(text) + prompt_vectors(text), 'vectors')
    elif command == 'root':
        print(tree(os.fsencode(args[0]), paths_of_input())[b''].hex())
    elif command == 'nodes':
        for path, node in sorted(tree(os.fsencode(args[0]), paths_of_input()).items()):
            sys.stdout.buffer.write(path + b'\0' + node.hex().encode() + b'\n\0')
    elif command == 'frame':
        for found in frame_id(args[0].encode(), args[1].encode(), bytes.fromhex(args[2]),
                              sys.stdin.buffer.read()):
            print(found.hex())
    elif command == 'slots':
        print_slots()
    else:
        sys.exit(__doc__)


if __name__ == '__main__':
    main(*sys.argv[1:])
