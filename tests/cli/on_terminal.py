#!/usr/bin/env python3
"""on_terminal.py [--columns N] [--interrupt TEXT] COMMAND... -- run a command on a terminal.

The terminal has 80 columns and 24 rows. Prints what it was sent and exits with the code of the
command. --interrupt presses Ctrl-C once TEXT was seen. Nothing waits for a clock: a command that does not end fails the test.
"""
import fcntl
import os
import pty
import select
import struct
import sys
import termios

PATIENCE_S = 60


def main():
    words = sys.argv[1:]
    interrupt = None
    columns = 80
    if words[0] == '--columns':
        columns, words = int(words[1]), words[2:]
    if words[0] == '--interrupt':
        interrupt, words = words[1].encode(), words[2:]
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.setdefault('TERM', 'vt100')
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
        os.execvp(words[0], words)
    out = b''
    while True:
        ready, _, _ = select.select([fd], [], [], PATIENCE_S)
        if not ready:
            sys.exit(f'it does not end: {out!r}')
        try:
            piece = os.read(fd, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        out += piece
        if interrupt and interrupt in out:
            os.write(fd, b'\x03')
            interrupt = None
    sys.stdout.buffer.write(out.replace(b'\r\n', b'\n'))
    sys.stdout.flush()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


sys.exit(main())
