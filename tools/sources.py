"""What the checkers of tools/ share: finding files, reading C, saying what is wrong."""
import os
import re
import sys

# Where sources live, seen from the root. Corpora and golden files are data, not sources.
FOLDERS = ('.ci', 'bench', 'cli', 'debian', 'docs', 'examples', 'include', 'src', 'tests', 'tools')
DATA = ('corpus', 'golden', 'data', '__pycache__')

COMMENT_OR_STRING = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def find(root, *endings, under=FOLDERS):
    """Paths below the folders that end in one of these, relative to root, sorted."""
    found = []
    for folder in under:
        for where, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = [f for f in folders if f not in DATA]
            found += [os.path.relpath(os.path.join(where, name), root)
                      for name in names if name.endswith(endings)]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding='utf-8', errors='replace') as file:
        return file.read()


def code_only(text):
    """C without comments and without what stands in quotes; lines keep their numbers."""
    def blank(match):
        found = match[0]
        quote = found[0] if found[0] in '"\'' else ''
        return quote + '\n' * found.count('\n') + quote
    return COMMENT_OR_STRING.sub(blank, text)


def root_argument():
    """The tree to check: the first argument, or the one this tool is part of."""
    if len(sys.argv) > 1:
        return os.path.abspath(sys.argv[1])
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def finish(problems, fine):
    """Print the problems, or the line that says all is fine; the exit code of the tool."""
    for problem in problems:
        print(problem)
    if not problems:
        print(fine)
    return 1 if problems else 0
