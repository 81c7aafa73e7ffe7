#!/usr/bin/env python3
"""chat_pty.py SCRIPT COMMAND... -- talk to a command on a terminal.

SCRIPT has lines `wait TEXT` (until TEXT was shown since the last wait), `type TEXT` (and the return
key) and `press C` (Ctrl-C, Ctrl-D). Prints all that was shown, and exits with the code of the
command. Nothing waits for a clock: what does not come fails.
"""
import os
import pty
import select
import sys

PATIENCE_S = 60


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        steps = [line.rstrip('\n').split(' ', 1) for line in file if line.strip()]
    pid, fd = pty.fork()
    if pid == 0:
        os.environ['TERM'] = 'vt100'
        os.execvp(sys.argv[2], sys.argv[2:])
    out, seen, open_ = b'', 0, True
    while open_ or steps:
        while steps:
            what, rest = steps[0]
            if what == 'wait':
                at = out.find(rest.encode(), seen)
                if at < 0:
                    break
                seen = at + len(rest.encode())
            elif what == 'type':
                os.write(fd, rest.encode() + b'\n')
            else:
                os.write(fd, bytes([ord(rest) - 64]))
            steps.pop(0)
        ready, _, _ = select.select([fd], [], [], PATIENCE_S)
        if not ready:
            sys.exit(f'it does not come: {steps[:1]} in {out!r}')
        try:
            piece = os.read(fd, 65536)
        except OSError:
            piece = b''
        out += piece
        open_ = bool(piece)
        if not open_:
            break
    sys.stdout.buffer.write(out.replace(b'\r\n', b'\n'))
    sys.stdout.flush()
    if steps:
        sys.exit(f'it ended before: {steps[0]}')
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


sys.exit(main())
