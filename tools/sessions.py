"""Console sessions in documents: what is typed in them, and where it runs."""
import os
import re

BLOCK = re.compile(r'^```(console|c|json|python)(?: ([\w.-]+))?\n(.*?)^```$', re.M | re.S)
CD = re.compile(r'cd ([\w./-]+)')


def steps(text):
    """(the lines as they are shown, the command) for each command of a session."""
    shown = []
    for line in text.splitlines():
        if line.startswith('$ '):
            shown = [line]
        elif shown:
            shown.append(line)
        else:
            continue
        if not line.endswith('\\'):
            yield shown, '\n'.join(shown)[2:]
            shown = []


def begin(root, cwd, document):
    """Make the folder where the sessions of a document begin. One that copies an example finds the
    examples there, as who has cloned the tree does."""
    os.mkdir(cwd)
    if re.search(r'^\$ cp -r examples/', document, re.M):
        os.symlink(os.path.join(os.path.abspath(root), 'examples'), os.path.join(cwd, 'examples'))


def moved(cwd, command):
    """Where a command `cd DIR` leads; None when it is another command."""
    match = CD.fullmatch(command)
    return os.path.normpath(os.path.join(cwd, match[1])) if match else None
