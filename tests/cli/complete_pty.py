#!/usr/bin/env python3
"""complete_pty.py SHELL SCRIPT LINE... -- type into a real shell, and print what tab makes of it.

Each LINE is typed, followed by a tab. Then the whole line is put between quotes and printed by the
shell itself, so nothing has to be guessed from what it draws, and nothing waits for a clock.
"""
import os
import pty
import re
import select
import sys

STARTS = {
    'bash': (['bash', '--norc', '--noprofile', '-i'],
             "bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; "
             "bind 'set show-all-if-ambiguous on'; . {script}"),
    'zsh': (['zsh', '-f', '-i'],
            "bindkey -e; autoload -U compinit; compinit -D -u; . {script}"),
}
PATIENCE_S = 60


def read_until(fd, pattern):
    out = ''
    while not (found := re.search(pattern, out)):
        ready, _, _ = select.select([fd], [], [], PATIENCE_S)
        piece = os.read(fd, 65536) if ready else b''
        if not piece:
            sys.exit(f'no {pattern!r} in {out!r}')
        out += piece.decode('utf-8', 'replace')
    return found


def main():
    shell, script, lines = sys.argv[1], sys.argv[2], sys.argv[3:]
    command, setup = STARTS[shell]
    pid, fd = pty.fork()
    if pid == 0:
        os.environ['TERM'] = 'vt100'
        os.execvp(command[0], command)
    os.write(fd, (setup.format(script=script) + '; echo RE""ADY\n').encode())
    read_until(fd, 'READY')
    for line in lines:
        # Ctrl-A, Ctrl-E: to the beginning and to the end of the line.
        os.write(fd, line.encode() + b"\t\x01printf '<<%s>>\\n' '\x05'\n")
        print(read_until(fd, r'\n<<(.*?)>>').group(1))
    os.write(fd, b'exit\n')
    os.close(fd)
    os.waitpid(pid, 0)
    return 0


sys.exit(main())
