# SPDX-License-Identifier: Apache-2.0
"""A client of the Model Context Protocol, as an agent's host has one, without its library."""

import json
import select
import subprocess
import time

VERSION = "2025-06-18"


class Mcp:
    """A server of ours, initialized; `how` is for Popen."""

    def __init__(self, argv, seconds=120, **how):
        self.seconds = seconds
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **how)
        self.bytes = b""
        self.answers = {}
        self.next = 0
        self.hello = self.ask("initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
        self.notify("notifications/initialized")

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.write(json.dumps(message).encode() + b"\n")

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def begin(self, method, params=None):
        self.next += 1
        self.send({"jsonrpc": "2.0", "id": self.next, "method": method, **({"params": params} if params else {})})
        return self.next

    def receive(self):
        """The next message, whichever it is."""
        end = time.monotonic() + self.seconds
        while b"\n" not in self.bytes:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            more = self.process.stdout.read1(65536) if ready else b""
            if not more:
                raise AssertionError(f"no answer of the server's; it said {self.bytes[:200]!r}")
            self.bytes += more
        line, self.bytes = self.bytes.split(b"\n", 1)
        return json.loads(line)

    def wait(self, number):
        while number not in self.answers:
            message = self.receive()
            self.answers[message["id"]] = message
        return self.answers.pop(number)

    def ask(self, method, params=None):
        return self.wait(self.begin(method, params))

    def begin_call(self, tool, **arguments):
        return self.begin("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool, **arguments):
        answer = self.wait(self.begin_call(tool, **arguments))
        assert "result" in answer, answer
        return answer["result"]

    def close(self):
        """Its exit status, once it has nothing to read any more."""
        self.process.stdin.close()
        status = self.process.wait(self.seconds)
        self.process.stdout.close()
        return status
