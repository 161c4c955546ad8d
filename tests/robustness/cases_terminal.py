# SPDX-License-Identifier: Apache-2.0
"""At a terminal cordon run behaves as if it were not there."""

import fcntl
import os
import struct
import termios

from support import CORDON, LOG, SHELL_POLICY, WORK, case, ensure_daemon, equal, processes, processes_like, status_of, wait_for
from terminal import Terminal

RUN = f"{CORDON} run --policy {SHELL_POLICY} --workdir {WORK} --log {LOG} --"


def at_terminal(function):
    def body():
        ensure_daemon()
        terminal = Terminal()
        try:
            terminal.expect("ready> ")
            function(terminal)
        finally:
            terminal.close()

    return body


def wait_until_asleep(terminal, line):
    """Until the command of that line runs in the foreground and waits, in no state of being started or continued.

    A signal that meets the child of a shell between vfork and exec is lost on dash, cordon or not: there it
    runs the shell's handler, which leaves the signal to a parent that waits for the child. And a shell that
    takes a job to the foreground says so before it gives the terminal to it.
    """

    def asleep():
        for (pid, _), found in processes().items():
            try:
                if found.strip() == line and status_of(pid)["State"].startswith("S"):
                    return os.getpgid(pid) == os.tcgetpgrp(terminal.fd)
            except (FileNotFoundError, ProcessLookupError):
                pass
        return False

    wait_for(asleep, 20, f"{line!r} to run")


@case("terminal: Ctrl-C kills the command, and the status is 130")
@at_terminal
def interrupt(terminal):
    terminal.send(f"{RUN} sh -c 'echo go; sleep 4321.01'\n")
    terminal.expect(r"\ngo")
    wait_until_asleep(terminal, "sleep 4321.01")
    terminal.send("\x03")
    terminal.expect("ready> ")
    terminal.send("echo status $?\n")
    terminal.expect(r"\nstatus 130")
    equal(processes_like("4321.01"), [], "processes that outlived it")
    terminal.send(f"{RUN} sh -c 'trap \"exit 9\" INT; echo go; while :; do sleep 0.1; done'\n")
    terminal.expect(r"\ngo")
    terminal.send("\x03")
    terminal.expect("ready> ")
    terminal.send("echo status $?\n")
    terminal.expect(r"\nstatus 9")


@case("terminal: Ctrl-Z, jobs, bg, fg and Ctrl-\\ under a shell with job control")
@at_terminal
def job_control(terminal):
    terminal.send(f"{RUN} bash -c 'echo go; sleep 4321.02'\n")
    terminal.expect(r"\ngo")
    wait_until_asleep(terminal, "sleep 4321.02")
    terminal.send("\x1a")
    terminal.expect("Stopped")
    terminal.expect("ready> ")
    terminal.send("jobs\n")
    terminal.expect(r"\[1\]\+\s+Stopped")
    terminal.send("bg\n")
    terminal.expect("ready> ")
    terminal.send("jobs\n")
    terminal.expect(r"\[1\]\+\s+Running")
    terminal.send("fg\n")
    terminal.expect(r"sleep 4321.02")
    wait_until_asleep(terminal, "sleep 4321.02")
    terminal.send("\x1a")
    terminal.expect("Stopped")
    terminal.expect("ready> ")
    terminal.send("fg\n")
    terminal.expect(r"sleep 4321.02")
    wait_until_asleep(terminal, "sleep 4321.02")
    terminal.send("\x1c")
    terminal.expect("ready> ")
    terminal.send("echo status $?\n")
    terminal.expect(r"\nstatus 131")
    equal(processes_like("4321.02"), [], "processes that outlived it")


@case("terminal: the command sees it, its size and its changes; what is typed reaches it")
@at_terminal
def size(terminal):
    terminal.send(f"{RUN} bash -c 'tty -s && stty size; read -p name: x; echo got $x; stty size'\n")
    terminal.expect(r"\n37 101")
    terminal.expect("name:")
    fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 66, 0, 0))
    terminal.send("typed\n")
    terminal.expect(r"got typed")
    terminal.expect(r"\n20 66")
    terminal.expect("ready> ")
    terminal.send("echo status $?\n")
    terminal.expect(r"\nstatus 0")


@case("terminal: closing it ends the command")
def hang_up():
    ensure_daemon()
    terminal = Terminal(["sh", "-c", f"exec {RUN} sh -c 'echo go; sleep 4321.03'"])
    try:
        terminal.expect("go")
    finally:
        os.close(terminal.fd)
    wait_for(lambda: os.waitpid(terminal.pid, os.WNOHANG)[0], 10, "the end of cordon run")
    wait_for(lambda: not processes_like("4321.03"), 2, "the end of the command")


@case("terminal: a line at the end says what was denied")
@at_terminal
def says_refusals(terminal):
    terminal.send(f"{RUN} sh -c 'cat /etc/shadow; true'\n")
    terminal.expect(r"cordon: \d+ access(es were| was) refused \(cordon show [0-9a-f-]{36}\)")
