#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Run a command on a terminal, and print what it writes there.

screen.py ROWS COLUMNS [--then ROWS COLUMNS] COMMAND...

With --then the terminal gets another size as soon as the command has written something.
"""
import fcntl
import os
import pty
import struct
import sys
import termios


def resize(terminal, rows, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ,
                struct.pack("HHHH", int(rows), int(columns), 0, 0))


def main():
    rows, columns, *command = sys.argv[1:]
    then = command[1:3] if command[0] == "--then" else None
    command = command[3 if then else 0:]
    pid, terminal = pty.fork()
    if not pid:
        resize(1, rows, columns)
        os.execvp(command[0], command)
    while True:
        try:
            text = os.read(terminal, 1 << 16)
        except OSError:     # the command has ended
            break
        sys.stdout.buffer.write(text.replace(b"\r\n", b"\n"))
        sys.stdout.flush()
        if then:
            resize(terminal, *then)
            then = None
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


main()
