#!/usr/bin/env python3
"""answers.py FOLDER -- do answers fit the schemas that the command gives of them?

FOLDER has what commands with --json said: N.words (a word a line), N.out and N.err. Each line of N.out
must fit `valise help --schema COMMAND`, each of N.err `valise help --schema`. Every command that has
a schema must have answered at least one line there, unless what it prints is nothing at all by its
nature. VALISE names the command, which checks the values itself. Prints what does not fit.
"""
import concurrent.futures
import json
import os
import subprocess
import sys

VALISE = os.environ['VALISE']


def valise(*words, text=None):
    return subprocess.run([VALISE, *words], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding='utf-8', check=False)


def schema_of(*words):
    """The schema, or None: there is none."""
    done = valise('help', '--schema', *words)
    return json.loads(done.stdout) if done.returncode == 0 else None


def records(folder):
    for name in sorted(os.listdir(folder)):
        if not name.endswith('.words'):
            continue
        base = os.path.join(folder, name[:-len('.words')])
        with open(base + '.words', encoding='utf-8', errors='replace') as file:
            words = file.read().splitlines()
        texts = []
        for end in ('.out', '.err'):
            with open(base + end, encoding='utf-8') as file:
                texts.append(file.read().splitlines())
        yield words, *texts


def command_of(words, names):
    """The longest name that begins these words, in which options may stand first."""
    while words and words[0].startswith('-'):
        words = words[2 if words[0] in ('-C', '--actor', '--agent', '--workspace') else 1:]
    for count in range(min(len(words), 3), 0, -1):
        name = ' '.join(words[:count]).replace(':', ' ')
        if name in names:
            return name
    return None


def check(name, schema, lines):
    """What is wrong with these lines; or None."""
    document = {'items': {k: v for k, v in schema.items() if k != '$schema'}, 'type': 'array'}
    values = '[' + ','.join(line for line, _ in lines) + ']'
    with open(f'{sys.argv[1]}/{name.replace(" ", "-")}.schema', 'w', encoding='utf-8') as file:
        json.dump(document, file)
    done = valise('json', 'validate', '-', '@' + file.name, text=values)
    if done.returncode == 0:
        return None
    return f'{name}: {done.stdout}{done.stderr}' + '\n'.join(
        f'  {number}: {" ".join(words)}: {line[:300]}'
        for number, (line, words) in enumerate(lines))


def main():
    names = valise('help', '--names').stdout.splitlines()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        schemas = dict(zip(names, pool.map(lambda name: schema_of(*name.split()), names)))
    answers = {schema['title']: [] for schema in schemas.values() if schema}
    errors, bad, count = [], [], 0
    for words, out, err in records(sys.argv[1]):
        count += 1
        plain = words[1:] if words[0] == 'run' else words
        name = command_of(plain, schemas)
        errors += [(line, words) for line in err]
        if out and (name is None or schemas[name] is None):
            bad.append(f'no schema: {" ".join(words)}')
        elif out:
            answers[schemas[name]['title']] += [(line, words) for line in out]
    work = [(schema['title'].split('`')[1], schema, answers[schema['title']])
            for schema in {s['title']: s for s in schemas.values() if s}.values()]
    for name, _, lines in work:
        if not lines:
            bad.append(f'{name}: no answer was looked at')
    work.append(('error', schema_of(), errors))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        bad += filter(None, pool.map(lambda args: check(*args), work))
    print(f'{count} answers, {len(work)} schemas')
    print('\n'.join(bad))
    return 1 if bad or not errors else 0


sys.exit(main())
