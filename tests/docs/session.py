# SPDX-License-Identifier: Apache-2.0
"""A user's shell on a terminal of its own, which runs one command after the other as a person would type them."""

import os
import pty
import pwd
import re
import select
import signal
import termios
import time

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MARK = "\036"
END = re.compile(rf"{MARK}(\d+){MARK}\r?\n")


class SessionError(Exception):
    """The shell did not end its command; the text has what it wrote."""


class Session:
    def __init__(self, user, seconds, more=None):
        account = pwd.getpwnam(user)
        self.seconds, self.buffer = seconds, ""
        commands, self.commands = os.pipe()
        os.fchown(commands, account.pw_uid, account.pw_gid)
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.close(self.commands)
            os.dup2(commands, 9)
            os.initgroups(user, account.pw_gid)
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)
            os.chdir(account.pw_dir)
            # No colours, and as wide as a page may be.
            environment = {"PATH": f"{account.pw_dir}/.local/bin:{PATH}", "HOME": account.pw_dir, "USER": user, "LOGNAME": user, "SHELL": "/bin/bash", "LANG": "C.UTF-8",
                           "TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "120", "PAGER": "cat", **(more or {})}  # fmt: skip
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "/dev/fd/9"], environment)
        os.close(commands)
        termios.tcsetwinsize(self.terminal, (50, 120))
        settings = termios.tcgetattr(self.terminal)
        settings[3] &= ~termios.ECHO
        termios.tcsetattr(self.terminal, termios.TCSANOW, settings)

    def run(self, text):
        """Returns status and lines of output."""
        # The status stays what it was for a command that reads it.
        os.write(self.commands, f"{text}\n{{ s=$?; printf '{MARK}%d{MARK}\\n' $s; (exit $s); }} 2>&1\n".encode())
        end = time.monotonic() + self.seconds
        while not (match := END.search(self.buffer)):
            if not select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
                raise SessionError(f"no end after {self.seconds} seconds; so far: {self.buffer}")
            try:
                some = os.read(self.terminal, 1 << 16)
            except OSError:
                some = b""
            if not some:
                raise SessionError(f"the shell has ended; its last words: {self.buffer}")
            self.buffer += some.decode(errors="replace")
        came, self.buffer = self.buffer[: match.start()], self.buffer[match.end() :]
        return int(match[1]), came.replace("\r\n", "\n").split("\n")

    def close(self):
        os.close(self.commands)
        try:
            os.kill(self.process, signal.SIGHUP)
        except ProcessLookupError:
            pass
        os.close(self.terminal)
        os.waitpid(self.process, 0)
