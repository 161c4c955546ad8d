# SPDX-License-Identifier: Apache-2.0
"""A NATS server of its own, and as much of a client as tests of what goes through it need."""

import base64
import gzip
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
from patience import Failed, patience, wait_for  # noqa: E402  pylint: disable=wrong-import-position
from ports import reserve_port  # noqa: E402  pylint: disable=wrong-import-position

STREAM = "CORDON"


class Server:
    """nats-server with JetStream in a directory, which can be killed and started again. more: further options."""

    def __init__(self, directory, address="127.0.0.1", port=None, more=()):
        self.directory, self.address, self.port, self.process = directory, address, port or reserve_port(), None
        self.url = f"nats://{address}:{self.port}"
        self.more = list(more)
        os.makedirs(directory, exist_ok=True)
        self.log = open(os.path.join(directory, "server.log"), "ab")
        self.start()

    def start(self):
        command = ["nats-server", "-a", self.address, "-p", str(self.port), "-js", "-sd", os.path.join(self.directory, "store"), *self.more]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        wait_for(self.listens, 30, f"nats-server listening on {self.url}", catch=OSError)

    def listens(self):
        if self.process.poll() is not None:
            raise Failed(f"nats-server ended with status {self.process.returncode}; its log is {self.log.name}")
        socket.create_connection((self.address, self.port), 1).close()
        return True

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.kill()
        self.log.close()


def cluster(directory, count):
    """Servers that hold the stream together: on the same port, each on an address of its own, as on separate hosts."""
    port, routes = reserve_port(), reserve_port()
    addresses = [f"127.0.0.{number + 1}" for number in range(count)]
    servers = []
    for address in addresses:
        place = os.path.join(directory, address)
        os.mkdir(place)
        servers.append(Server(place, address, port, [
            "--server_name", address, "--cluster_name", "cordon", "--cluster", f"nats://{address}:{routes}",
            "--routes", ",".join(f"nats://{other}:{routes}" for other in addresses if other != address)]))

    def make_stream():
        client = Client(servers[0], 5)
        try:
            client.make_stream(count)
            return True
        finally:
            client.close()

    # Nothing answers before the servers have elected a leader.
    wait_for(make_stream, 60, "a stream on all servers of the cluster", catch=(LookupError, TimeoutError))
    return servers


def lines_of(headers, data):
    """The lines of a message as the log has them: with the chain values that it may have left out."""
    text = gzip.decompress(data) if headers.get("Content-Encoding") == "gzip" else data
    lines = text.splitlines(keepends=True)
    if "Cordon-Chain" in headers:
        before, last = headers["Cordon-Chain"].split("-")
        chain, made = bytes.fromhex(before), []
        for line in lines:
            body = line[:-len(b"}\n")]
            chain = hashlib.sha256(chain + body).digest()
            made.append(body + b',"chain":"' + chain.hex().encode() + b'"}\n')
        if chain.hex() != last:
            raise ValueError(f"the lines lead to {chain.hex()}, not to {last}")
        return made
    return lines


class Client:
    """Sends requests to JetStream's API, one after the other. seconds: for each of them."""

    def __init__(self, server, seconds=None):
        self.socket = socket.create_connection((server.address, server.port), seconds or patience())
        self.file = self.socket.makefile("rb")
        self.file.readline()
        self.socket.sendall(b'CONNECT {"verbose":false,"pedantic":false,"headers":true}\r\nSUB _INBOX.test 1\r\n')

    def close(self):
        self.file.close()
        self.socket.close()

    def request(self, subject, question):
        body = json.dumps(question).encode()
        self.socket.sendall(f"PUB {subject} _INBOX.test {len(body)}\r\n".encode() + body + b"\r\n")
        while True:
            line = self.file.readline()
            if line.startswith(b"PING"):
                self.socket.sendall(b"PONG\r\n")
            elif line.startswith(b"MSG"):
                size = int(line.split()[-1])
                answer = json.loads(self.file.read(size + 2)[:-2])
                if "error" in answer:
                    raise LookupError(answer["error"])
                return answer
            elif not line:
                raise ConnectionError("the server has gone")

    def make_stream(self, replicas=1):
        self.request(f"$JS.API.STREAM.CREATE.{STREAM}", {
            "name": STREAM, "subjects": ["cordon.log.>"], "retention": "limits", "storage": "file",
            "num_replicas": replicas, "discard": "old", "duplicate_window": 120_000_000_000})

    def last(self):
        return self.request(f"$JS.API.STREAM.INFO.{STREAM}", {})["state"]["last_seq"]

    def message(self, number):
        """Subject, headers and payload of one message of the stream."""
        found = self.request(f"$JS.API.STREAM.MSG.GET.{STREAM}", {"seq": number})["message"]
        lines = base64.b64decode(found.get("hdrs", "")).decode().split("\r\n")[1:]
        headers = dict(line.split(": ", 1) for line in lines if ": " in line)
        return found["subject"], headers, base64.b64decode(found.get("data", ""))
