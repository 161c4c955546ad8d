# SPDX-License-Identifier: Apache-2.0
"""What an operator sees of what runs, and ends: ps, top, status and kill, for people and for programs."""

import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from fcntl import ioctl

from service import ensure_standing, policy
from support import CORDON, LEAVES, STAYS, case, check, cordon, ends, equal, finish, matches, start, wait_for

COMMAND = f"{STAYS}until [ -e stop ]; do read -r x </etc/shadow; sleep 0.1; done 2>/dev/null\n{LEAVES}"
FIELDS = {
    "id": str, "state": str, "policy": str, "workdir": str, "program": str, "session": str, "agent": str, "executor": str,
    "pid": int, "owner": int, "age_nsec": int, "deadline_nsec": int, "tasks": int, "denials": int, "would_denials": int,
    "attempts": int, "observe": bool, "uid": int, "limits": dict, "use": dict,
}  # fmt: skip


def live():
    return [e for e in json.loads(cordon("ps", "--json").out) if e["state"] == "live" and e["tasks"] and e["denials"]]


def begin(count):
    """Executions of a policy with limits, each with denials, and their ids."""
    ensure_standing()
    path = policy("shown", "limits: {wall: 10m, memory: 128M, pids: 32}", "on_denial: {limit: 0, action: none}")
    found = [start("sh", "-c", COMMAND, policy=path, options=["--agent", f"a{i}", "--session", "s"]) for i in range(count)]
    wait_for(lambda: len(live()) == count, 60, "their start")
    return found, [e["id"] for e in live()]


def stop(processes):
    for process in processes:
        process.send_signal(signal.SIGTERM)
    for process in processes:
        finish(process)


@case("ps, top and status say of each execution policy, age, limits, use and denials, and agree with one another")
def shown():
    processes, ids = begin(2)
    try:
        for entry in live():
            equal({key: type(value) for key, value in entry.items()}, FIELDS, "what ps --json says of one")
            equal((entry["policy"], entry["session"], entry["executor"]), ("shown", "s", "cordon-run"), "names")
            check(0 < entry["deadline_nsec"] < 600e9 and entry["age_nsec"] > 0, f"times of {entry}")
            equal((entry["limits"]["pids"], entry["limits"]["memory_bytes"]), (32, 128 << 20), "limits")
            check(entry["use"]["cpu_nsec"] > 0 and entry["use"]["memory_bytes"] > 0, f"use of {entry}")
        lines = cordon("ps").out.decode().splitlines()
        equal(lines[0].split(), ["CPU", "MEM", "TASKS", "DENIED", "AGE", "LEFT", "POLICY", "AGENT", "ID", "COMMAND"], "titles")
        for identity, line, agent in zip(ids, lines[1:], ("a0", "a1")):
            matches(line, rf"^\S+ +\S+/128M +\d+/32 +[1-9]\d* .* shown +a[01] +{identity} sh", f"line of {agent}")
        both = json.loads(cordon("top", "--json").out)
        equal([e["id"] for e in both["executions"]], ids, "what top shows")
        equal((both["status"]["enforcing"], both["status"]["executions"]), (True, 2), "status in top")
        once = cordon("top").out.decode()
        matches(once, r"^enforcing  2 live, .*\n\nCPU ", "top where there is no terminal")
        check(all(identity in once for identity in ids), f"an execution is not there: {once}")
        result = cordon("status")
        equal((result.status, result.out.count(b"\n")), (0, 1), "status and lines of cordon status")
        matches(result.out.decode(), r"^enforcing: 2 execution\(s\) live, ", "status")
        equal(json.loads(cordon("status", "--json").out)["executions"], 2, "executions in status")
    finally:
        stop(processes)
    equal(cordon("ps").out, b"no execution is live\n", "ps when there is none")
    equal(json.loads(cordon("ps", "--json").out), [], "the same for programs")


class Screen:
    """A terminal with a program on it, and all that the program wrote."""

    def __init__(self, *command):
        self.text = b""
        ours, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 100, 0, 0))
        self.fd = ours
        self.before = termios.tcgetattr(theirs)
        self.kept = theirs
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env={"TERM": "xterm"})

    def read(self):
        while select.select([self.fd], [], [], 0)[0]:
            self.text += os.read(self.fd, 65536)
        return self.text.decode("utf-8", "replace")

    def end(self, key):
        os.write(self.fd, key)
        wait_for(lambda: self.read() and self.process.poll() is not None, 30, "its end")
        after = termios.tcgetattr(self.kept)
        os.close(self.fd)
        os.close(self.kept)
        equal(self.process.returncode, 0, "status")
        equal(after, self.before, "settings of the terminal")


@case("top on a terminal follows what begins and ends, and leaves the terminal as it was")
def live_top():
    processes, ids = begin(2)
    try:
        screen = Screen(CORDON, "top", "--interval", "1")
        wait_for(lambda: all(identity in screen.read() for identity in ids), 60, "both executions")
        wait_for(lambda: re.search(r"\d+%", screen.read()), 60, "the share of a CPU")
        processes[0].send_signal(signal.SIGTERM)
        finish(processes[0])
        wait_for(lambda: re.search(r"1 live", screen.read()), 60, "the end of one")
        # Another screen that does not wrap, and all that given back at the end.
        matches(screen.read(), r"^\x1b\[\?1049h.*\x1b\[\?7l", "how it begins")
        screen.end(b"q")
        matches(screen.text.decode(), r"\x1b\[\?7h.*\x1b\[\?1049l$", "how it ends")
    finally:
        stop(processes)


@case("kill takes as much of an id as is needed, says what it did, and the record says that it was asked for")
def kill():
    processes, ids = begin(2)
    result = cordon("kill", "--json", ids[0])
    equal((result.status, json.loads(result.out)), (0, {"id": ids[0], "dead": True}), f"kill ({result.text})")
    # The other one alone is left that begins so.
    equal(cordon("kill", ids[1][:-1]).status, 0, "kill by a beginning")
    for process in processes:
        equal(finish(process), 137, "status of what was killed")
    wait_for(lambda: set(ids) <= set(ends()), 30, "the end records")
    equal({ends()[identity]["cordon"]["end"]["cause"] for identity in ids}, {"killed"}, "causes")
    result = cordon("kill", "--json", ids[0])
    equal((result.status, result.out), (2, b""), f"kill of what is dead ({result.text})")
