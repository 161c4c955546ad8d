# SPDX-License-Identifier: Apache-2.0
"""What the tests of executors share: a daemon with a cordon.yaml, and programs that it takes for executors."""

import json
import os
import select
import signal
import subprocess
import sys

from support import POLICIES, comes, descendants, patience, print_longest_turn, status_of

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "schema"))

from segment import records_of  # noqa: E402  pylint: disable=wrong-import-position

AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients", "agent.py")
PYTHON = os.path.realpath("/usr/bin/python3")


class Daemon:
    """cordon daemon with a configuration of its own, below `top`."""

    def __init__(self, build, top, config):
        self.cordon = os.path.join(build, "cordon")
        self.top = top
        self.log = os.path.join(top, "log")
        self.config = os.path.join(top, "cordon.yaml")
        self.said = os.path.join(top, "said")
        self.process = None
        self.options = []
        self.write(config)

    def write(self, config):
        with open(self.config + ".new", "w", encoding="ascii") as file:
            file.write(config)
        os.rename(self.config + ".new", self.config)

    def configuration(self):
        with open(self.config, encoding="ascii") as file:
            return file.read()

    def words(self):
        with open(self.said, encoding="utf-8", errors="replace") as file:
            return file.read()

    def start(self):
        """The daemon of the part before, which leaves when it has nothing to do, may still be there."""
        if not comes(self.try_to_start, 120) or self.process.poll() is not None:
            raise RuntimeError(f"the daemon does not enforce: {self.words()}")

    def try_to_start(self):
        said = open(self.said, "a", encoding="utf-8")
        before = os.path.getsize(self.said)
        command = [self.cordon, "daemon", "--log", self.log, "--config", self.config, "--policies", POLICIES, "--heartbeat", "0", *self.options]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=said, stdout=said)
        said.close()
        comes(lambda: "enforcing" in self.words()[before:] or self.process.poll() is not None, 600)
        return "another cordon daemon runs" not in self.words()[before:]

    def reload(self, wanted=""):
        """What it says of what has changed: there must be something. `wanted` may come behind what it has to say of what it was at."""
        before = len(self.words())
        self.process.send_signal(signal.SIGHUP)
        comes(lambda: len(self.words()) > before and wanted in self.words()[before:], 60)
        return self.words()[before:]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """What it has loaded stays for the part after this: in an emulated machine that takes a minute. What it did not see end,
        the daemon of that part would have among its own records."""
        if self.process and self.process.poll() is None:
            self.settle(5)
            print_longest_turn(self.cordon)
            self.process.terminate()
            self.process.wait()

    def records(self):
        path = os.path.join(self.log, "current.jsonl")
        return list(records_of(path)) if os.path.exists(path) else []

    def of(self, action, position=0):
        return [r for r in self.records()[position:] if r["event"]["action"] == action]

    def unended(self):
        """Executions whose end is not on record."""
        ids = {"execution-start": set(), "execution-end": set()}
        for record in self.records():
            if record["event"]["action"] in ids:
                ids[record["event"]["action"]].add(record["cordon"]["execution"]["id"])
        return ids["execution-start"] - ids["execution-end"]

    def settle(self, seconds=20):
        """Waits for the ends of what one check left behind, so that they are not among the records of the next."""
        comes(lambda: not self.unended(), seconds)


class Agent:
    """An executor at work."""

    def __init__(self, program=(PYTHON, AGENT), cwd="/", env=None, **options):
        self.process = subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd, env=env, text=True, **options
        )

    def send(self, command, **options):
        self.process.stdin.write(json.dumps({"command": command, **options}) + "\n")
        self.process.stdin.flush()

    def receive(self):
        """One answer for each send()."""
        if not select.select([self.process.stdout], [], [], patience(300))[0]:
            raise RuntimeError("the executor does not answer")
        return json.loads(self.process.stdout.readline())

    def ask(self, command, **options):
        self.send(command, **options)
        return self.receive()

    def states(self):
        """Of the live processes below it: {process id: letter}."""
        return {pid: status_of(pid).get("State", "X")[0] for pid in descendants(self.process.pid)}

    def close(self):
        self.process.stdin.close()
        self.process.wait()
