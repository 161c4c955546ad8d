# SPDX-License-Identifier: Apache-2.0
"""Logs of hosts, and who publishes them to NATS JetStream as the contract with the store says, in the server's own protocol."""

import gzip
import hashlib
import json
import os
import random
import socket
import time

from nats import patience

POLICY = {"name": "support-agent", "file": "/etc/cordon/policies/support-agent.yaml"}


class Log:
    """Records of one host, each line chained to the one before it."""

    def __init__(self, number, digest="43" * 32, name=None):
        self.host = hashlib.sha256(b"host %d" % number).hexdigest()[:32]
        self.log = f"01a2013c-58d6-7f6f-8e64-{number:012x}"
        self.name, self.digest = name or f"web-{number}", digest
        self.lines, self.chain, self.at = [], bytes(32), time.time() - 3600
        self.add("agent-start", cordon={"agent": {"version": "1", "pid": 1, "host": self.name}})

    def add(self, action, cordon=None, **members):
        self.at = self.at + 0.001
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(self.at)) + f".{int(self.at % 1 * 1e9):09}Z"
        record = {"seq": len(self.lines) + 1, "@timestamp": stamp,
                  "event": {"kind": "event", "action": action, "outcome": "success"}, **members,
                  "cordon": {"schema": 1, **(cordon or {})}}
        body = json.dumps(record, separators=(",", ":"))[:-1].encode()
        self.chain = hashlib.sha256(self.chain + body).digest()
        self.lines.append(body + b',"chain":"' + self.chain.hex().encode() + b'"}\n')

    def denial(self, number):
        self.add("denial", file={"path": f"/home/u{number}/job-{number}/secret"}, process={"pid": 150, "name": "python3"}, cordon={
            "execution": {"id": f"01a2013c-58d6-7f6f-8e64-{number % 7:012x}", "session": f"s-{number % 3}", "agent": "coder"},
            "policy": {**POLICY, "digest": self.digest}, "operation": "open", "rights": ["read"], "reason": "rule",
            "object": {"kind": "path", "text": f"/home/u{number}/job-{number}/secret"},
            "rule": {"number": 1, "file": "runtime/credentials.yaml", "line": 9, "text": "deny all **/secret"}})

    def grow(self, count):
        for number in range(count):
            if number % 5 == 0:
                self.denial(number)
            else:
                self.add("process-exec", process={"pid": 150, "executable": f"/usr/bin/python3.{number % 4}", "name": "python3"},
                         cordon={"policy": {**POLICY, "digest": self.digest}})
        return self

    def text(self):
        return b"".join(self.lines)

    def batches(self, size=200):
        for first in range(0, len(self.lines), size):
            yield first + 1, self.lines[first:first + size]

    def message(self, first, lines, lane="bulk", pack=False, host=None):
        """(subject, headers, payload)"""
        last = first + len(lines) - 1
        payload = b"".join(lines)
        headers = {"Nats-Msg-Id": f"{'f:' if lane == 'first' else ''}{self.log}:{first}-{last}", "Cordon-Host": self.host,
                   "Cordon-Log": self.log, "Cordon-Seq": f"{first}-{last}"}
        if pack:
            headers["Content-Encoding"], payload = "gzip", gzip.compress(payload, 1)
        return f"cordon.log.{host or self.host}.{self.log}.{lane}", headers, payload


class Feeder:
    """Publishes, and waits until the stream has it."""

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.port), patience())
        self.file = self.socket.makefile("rb")
        self.file.readline()
        self.inbox = "_INBOX.feeder" + os.urandom(4).hex()
        self.socket.sendall(b'CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\n' +
                            f"SUB {self.inbox} 1\r\n".encode())

    def answer(self):
        while True:
            words = self.file.readline().split()
            if not words:
                raise SystemExit("the server has gone")
            if words[0] == b"PING":
                self.socket.sendall(b"PONG\r\n")
            elif words[0] in (b"MSG", b"HMSG"):
                payload = self.file.read(int(words[-1]) + 2)[:-2]
                return payload if words[0] == b"MSG" else b'{"error":"nobody answers"}'
            elif words[0] == b"-ERR":
                raise SystemExit(f"the server says {words}")

    def request(self, subject, payload, headers=None):
        head = ("NATS/1.0\r\n" + "".join(f"{k}: {v}\r\n" for k, v in (headers or {}).items()) + "\r\n").encode()
        if headers:
            self.socket.sendall(f"HPUB {subject} {self.inbox} {len(head)} {len(head) + len(payload)}\r\n".encode() + head + payload + b"\r\n")
        else:
            self.socket.sendall(f"PUB {subject} {self.inbox} {len(payload)}\r\n".encode() + payload + b"\r\n")
        return json.loads(self.answer())

    def make_stream(self):
        return self.request("$JS.API.STREAM.CREATE.CORDON", json.dumps({
            "name": "CORDON", "subjects": ["cordon.log.>"], "storage": "file", "retention": "limits", "discard": "old",
            "max_msgs": -1, "max_bytes": -1, "num_replicas": 1}).encode())

    def publish(self, subject, headers, payload):
        answer = self.request(subject, payload, headers)
        if "error" in answer:
            raise SystemExit(f"publishing: {answer}")
        return answer

    def pending(self):
        """Messages that the store has not acknowledged."""
        answer = self.request("$JS.API.CONSUMER.INFO.CORDON.cordon-store", b"")
        return answer.get("num_pending", 1) + answer.get("num_ack_pending", 1) if "error" not in answer else 1


def shuffled(messages, seed):
    """Neighbours change places, and some come twice."""
    chance, messages = random.Random(seed), list(messages)
    for at in range(0, len(messages) - 3, 3):
        part = messages[at:at + 3]
        chance.shuffle(part)
        messages[at:at + 3] = part
    return [m for m in messages for _ in range(2 if chance.random() < 0.2 else 1)]
