# SPDX-License-Identifier: Apache-2.0
"""A terminal at which somebody sits."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from support import WORK, Failed, patience


class Terminal:
    """A pseudo-terminal with an interactive bash that is its session's leader."""

    def __init__(self, command=("bash", "--norc", "-i"), rows=37, columns=101):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(WORK)
            os.environ.update(PS1="ready> ", TERM="dumb", HISTFILE="")
            os.execvp(command[0], command)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.text = ""

    def send(self, text):
        os.write(self.fd, text.encode())

    def expect(self, pattern, seconds=20):
        """Waits for the pattern in what is new; returns the match."""
        end = time.monotonic() + patience(seconds)
        while True:
            match = re.search(pattern, self.text)
            if match:
                self.text = self.text[match.end() :]
                return match
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise Failed(f"the terminal shows {self.text!r}, nothing like {pattern!r}")
            try:
                self.text += os.read(self.fd, 4096).decode("utf-8", "replace")
            except OSError:
                raise Failed(f"the terminal closed after {self.text!r}, nothing like {pattern!r}") from None

    def close(self):
        os.close(self.fd)
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)
