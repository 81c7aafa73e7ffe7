#!/usr/bin/env python3
"""Bundles as anybody can change them: rows as docs/formats.md has them, and a right hash behind.

    bundle.py forge IN OUT COLLECTION STATEMENTS
        run STATEMENTS for each row of the collection: `row` is a dict of its fields, `rows` all
        rows of that collection; put(KIND, BYTES) adds an object and returns its id. A row that is
        set to None goes
"""
import hashlib
import json
import sys

LINE = b'valise bundle 1\n'
NULL, INT, REAL, TEXT, BLOB = range(5)


def read_number(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at


def write_number(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_string(data, at):
    size, at = read_number(data, at)
    return data[at:at + size], at + size


def write_string(data):
    return write_number(len(data)) + data


def load(path):
    with open(path, 'rb') as file:
        data = file.read()
    assert data.startswith(LINE)
    at, records = len(LINE), []
    while at < len(data):
        tag = data[at:at + 1]
        body, at = read_string(data, at + 1)
        records.append((tag, body))
    return records[:-1]


def save(path, records):
    out = LINE + b''.join(tag + write_string(body) for tag, body in records)
    with open(path, 'wb') as file:
        file.write(out + b'Z' + write_string(hashlib.sha256(out).digest()))


def read_cells(data, at):
    cells = []
    while at < len(data):
        kind = data[at]
        at += 1
        if kind == NULL:
            cells.append(None)
        elif kind == INT:
            number, at = read_number(data, at)
            cells.append((number >> 1) ^ -(number & 1))
        elif kind == REAL:
            cells.append(data[at:at + 8])
            at += 8
        else:
            text, at = read_string(data, at)
            cells.append(text.decode() if kind == TEXT else text)
    return cells


def write_cells(cells):
    while cells and cells[-1] is None:
        cells = cells[:-1]
    out = bytearray()
    for cell in cells:
        if cell is None:
            out.append(NULL)
        elif isinstance(cell, int):
            out.append(INT)
            out += write_number(cell << 1 if cell >= 0 else (-cell << 1) - 1)
        else:
            out.append(TEXT if isinstance(cell, str) else BLOB)
            out += write_string(cell.encode() if isinstance(cell, str) else cell)
    return bytes(out)


def object_id(kind, data):
    message = b''
    for field in (b'valise.' + kind.encode() + b'.1', data):
        message += len(field).to_bytes(8, 'big') + field
    return bytes(b ^ 0xff for b in hashlib.sha256(message).digest())


def forge(source, target, collection, statements):
    records, added, names, fields = load(source), {}, [], {}

    def put(kind, data):
        added[object_id(kind, data)] = kind
        records_of_objects[object_id(kind, data)] = (
            b'O', write_string(kind.encode()) + object_id(kind, data) + data)
        return object_id(kind, data)

    records_of_objects = {}
    for tag, body in records:
        if tag == b'C':
            name, at = read_string(body, 0)
            names.append(name.decode())
            fields[name.decode()] = [f['name'] for f in json.loads(body[at:])['fields']]
        elif tag in b'OX':
            at = read_string(body, 0)[1]
            records_of_objects[body[at:at + 32]] = (tag, body)
    rows = []
    for tag, body in records:
        if tag == b'R':
            number, at = read_number(body, 0)
            seq, at = read_number(body, at)
            row = read_cells(body, at)
            row += [None] * (len(fields[names[number]]) - len(row))
            rows.append([number, seq, dict(zip(fields[names[number]], row))])
    wanted = [r for r in rows if names[r[0]] == collection]
    assert wanted, 'no rows of ' + collection
    code = compile(statements, 'statements', 'exec')
    for item in wanted:
        scope = {'row': item[2], 'rows': [r[2] for r in wanted], 'put': put}
        exec(code, scope)
        item[2] = scope['row']
    out = [r for r in records if r[0] in b'HC']
    out += [records_of_objects[i] for i in sorted(records_of_objects)]
    out += [(b'R', write_number(n) + write_number(seq) + write_cells(list(row.values())))
            for n, seq, row in rows if row is not None]
    out += [r for r in records if r[0] not in b'HCOXR']
    save(target, out)


if __name__ == '__main__':
    assert sys.argv[1] == 'forge'
    forge(*sys.argv[2:])
