# SPDX-License-Identifier: Apache-2.0
"""An executor that nobody changed, and the entry of cordon.yaml that says whose children are executions."""

import json
import os
import subprocess
import sys

from support import PATIENCE, PROJECT, ROOT, SHELL_POLICY, Failed, action, check, records

AGENT = os.path.join(PROJECT, "tests", "integration", "clients", "agent.py")
PYTHON = os.path.realpath(sys.executable)
CONFIG = os.path.join(ROOT, "cordon.yaml")
UNDER = os.path.join(ROOT, "executed")
OUTSIDE = os.path.join(ROOT, "outside")


def configure(name, policy=SHELL_POLICY, path=CONFIG, **more):
    """An entry for the agent, with these keys besides; its path."""
    os.makedirs(UNDER, exist_ok=True)
    with open(OUTSIDE, "w", encoding="ascii") as file:
        file.write("secret\n")
    entry = {
        "name": name,
        "match": {"executable": PYTHON, "arguments": "*/agent.py"},
        "policy": policy,
        "workdir_under": [UNDER],
        **more,
    }
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(json.dumps({"version": 1, "executors": [entry]}))
    os.rename(path + ".new", path)
    return path


def why():
    """The last refusal on record, for whoever did not expect one."""
    return [r for r in records() if action(r) == "execution-refused"][-1:]


class Agent:
    """The executor at work."""

    def __init__(self, **environment):
        self.process = subprocess.Popen(
            [PYTHON, AGENT], cwd="/", env={**os.environ, **environment}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failed("the executor does not end") from None

    def send(self, *command):
        self.process.stdin.write(json.dumps({"command": command, "cwd": UNDER}) + "\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        check(line, "the executor died")
        return json.loads(line)

    def ask(self, *command):
        """What came of it: status, out and err, or the errno that its exec failed with."""
        self.send(*command)
        return self.receive()
