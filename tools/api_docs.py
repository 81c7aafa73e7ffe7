"""The reference of the C API, made from the public headers.

A header is: a first comment (its name, what it is for, an example, the word on threads), then
paragraphs with blank lines between them. A paragraph is a comment and the declarations it is about.
Comments and declarations are taken over as they stand: what the reference says is what the header
says.
"""
import os
import re

import sources

PLACES = ('include/valise', 'include/valise/sys')
INITIAL = re.compile(r'(#define VALISE_\w+_INIT) *\\\n.*', re.S)
PART = re.compile(r'/\* ---- (.*?) ---- \*/', re.S)
NAMED = re.compile(r'VALISE_API\s+(?:extern\s+)?[^;(]*?\**\b(valise_\w+)\s*[(;]', re.S)
GUARD = re.compile(r'#(?:ifndef VALISE_\w+_H|define VALISE_\w+_H|endif|include .*)$')

# Who may use what a function is given. The first of these that is among its parameters has the word;
# the headers say the same in sentences. A handle that is not here is a mistake, and said.
HANDLES = (
    ('single', ('blob_reader', 'check', 'index_out', 'job', 'making', 'node_run', 'pass', 'prepare',
                'scan', 'status', 'subscription', 'test', 'tool_call', 'view', 'watch')),
    ('single, then shared', ('flow',)),
    ('shared', ('agent_adapter', 'backpack', 'valise')),
    ('immutable', ('blob',)),
)


def headers(root):
    """Paths of the public headers, in the order of the reference."""
    found = []
    for place in PLACES:
        there = os.path.join(root, place)
        names = sorted(os.listdir(there)) if os.path.isdir(there) else []
        found += [f'{place}/{name}' for name in names if name.endswith('.h')]
    return found


def comment_text(comment):
    """What a comment says, without its marks: lines, indented as they are there."""
    lines = comment.strip()[2:-2].rstrip().split('\n')
    rest = [re.sub(r'^ ?\* ?', '', line.strip(' ') if line.strip() == '*' else line)
            for line in lines[1:]]
    return '\n'.join([lines[0].strip()] + [line.rstrip() for line in rest]).strip('\n')


def first_sentence(text):
    """For the index: up to the first period that ends something."""
    text = ' '.join(text.split())
    match = re.search(r'(?<!\.)\.(?=\s|$)', text)
    return text[:match.end()] if match else text


def split_header(text):
    """(the first comment's text, the rest)."""
    end = text.index('*/') + 2
    return comment_text(text[:end]), text[end:]


def paragraphs(body):
    """(comment, code) for each; a comment at the beginning of a line begins another one. A part's
    title comes as (title, None)."""
    lines = [line for line in body.split('\n') if not GUARD.match(line)
             and line not in ('VALISE_BEGIN', 'VALISE_END')]
    blocks, now, depth = [], [], 0
    for line in lines:
        begins = line.startswith('/*') and depth == 0 and any(
            not l.startswith((' *', '/*')) for l in now)
        if (line == '' and depth == 0) or begins:
            blocks, now = blocks + [now], []
        if line or depth:
            now.append(line)
        code = sources.code_only(line)
        depth += code.count('{') - code.count('}')
    for block in blocks + [now]:
        text = '\n'.join(block).strip('\n')
        title = PART.fullmatch(text)
        if title:
            yield ' '.join(title[1].split()).replace('\n', ' '), None
        elif text.startswith('/*') and '*/' in text:
            end = text.index('*/') + 2
            yield comment_text(text[:end]), text[end:].strip('\n')
        elif text:
            yield '', text


def word_for(declaration, opaque):
    """Shared, immutable or single: that of the handle the function is given."""
    parameters = declaration.partition('(')[2]
    given = {name or 'valise' for name in
             re.findall(r'\bvalise(?:_(\w+))? \*(?!\*)', parameters)}
    if re.search(r'_(?:close|free)\b|reply_release', declaration):
        return 'single'
    for word, names in HANDLES:
        if given & set(names):
            return word
    unknown = given & opaque
    if unknown:
        raise SystemExit(f'tools/api_docs.py: HANDLES does not have {", ".join(sorted(unknown))}')
    return 'shared'  # of values alone


def functions(root):
    """(name, brief, header, word) of each public function, in the order of the headers."""
    texts = {path: split_header(sources.read(root, path))[1] for path in headers(root)}
    opaque = {name for body in texts.values() for name in
              re.findall(r'^typedef struct valise_(\w+) valise_\1;', body, re.M)}
    for path, body in texts.items():
        part = ''
        for said, code in paragraphs(body):
            if code is None:
                part = said
                continue
            first = True
            for declaration in re.split(r'(?<=;)', sources.code_only(code)):
                match = NAMED.search(declaration)
                if not match:
                    continue
                beside = re.search(re.escape(match[1]) + r'\b[^;]*; */\*(.*?)\*/', code, re.S)
                brief = said if first and said or not beside else ' '.join(
                    line.strip(' *') for line in beside[1].split('\n')).strip()
                first = False
                yield (match[1], first_sentence(brief or said or part), path,
                       word_for(declaration, opaque))


def anchor(path):
    return re.sub(r'[^a-z0-9_-]', '', path.removeprefix('include/').lower())


def cell(text):
    """Comments as Markdown: `code` and *words* are meant, any other * and < are not."""
    return re.sub(r'(`[^`]*`|(?<!\w)\*\w[\w -]*\*(?!\w))|([*<|])', lambda m: m[1] or '\\' + m[2],
                  text)


def shown(text):
    """The same of several lines: what is indented is an example."""
    out, code = [], False
    for line in text.split('\n'):
        deeper = line.startswith('    ')
        if line and deeper != code:
            blanks = 1 if code and out[-1] == '' else 0
            out[len(out) - blanks:] = ['```text' if deeper else '```'] + [''] * blanks
            code = deeper
        out.append(line[4:] if code else cell(line))
    return '\n'.join(out + ['```'] * code)


def reference(root):
    """The whole page."""
    out = ['# C API reference', '',
           '<!-- made from the headers by tools/gen-api-docs: change these -->', '',
           'Every public function and type, with the comments of the headers. [api.md](api.md) is the',
           'guide: how to open a workspace, what errors are, who owns what. Unless a comment says',
           'otherwise, functions return 0 or a negative `VALISE_E_...`, and outputs are untouched on',
           'failure.', '',
           '## All functions', '',
           'The last column is about the handle that the function takes. *shared*: many threads may use it',
           'at once; *single*: one at a time; *immutable*: it does not change. Each header says more about',
           'threads.',
           '', '| function | what it does | header | threads |', '|---|---|---|---|']
    for name, brief, path, word in sorted(functions(root)):
        header = path.removeprefix('include/')
        out.append(f'| `{name}` | {cell(brief)} | [{header}](#{anchor(path)}) | {word} |')
    for path in headers(root):
        intro, body = split_header(sources.read(root, path))
        name, _, purpose = intro.partition(' -- ')
        purpose = purpose[:1].upper() + purpose[1:]
        out += ['', f'## {path.removeprefix("include/")}', '', shown(purpose or name)]
        for said, code in paragraphs(body):
            if code is None:
                out += ['', f'### {said[0].upper() + said[1:]}']
                continue
            if said:
                out += ['', shown(said)]
            if code:
                out += ['', '```c', INITIAL.sub(r'\1', code), '```']
    return '\n'.join(out) + '\n'
