# SPDX-License-Identifier: Apache-2.0
"""A nats-server with the configuration that comes with cordon, and clients that have certificates for it."""

import json
import os
import queue
import re
import select
import socket
import ssl
import threading

import nats
from certificates import make_authority, make_certificate
from patience import patience

FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../packaging/fleet")
EXAMPLE_ID = "0123456789abcdef" * 2


def read(name, folder=None):
    with open(os.path.join(folder or FILES, name), encoding="utf-8") as file:
        return file.read()


def configure(place, hosts, folder=None):
    """Writes the configuration into a folder that has server.pem, server.key and ca.pem. hosts: the id of each certificate's name."""
    text = read("nats-hosts.conf", folder)
    block = re.search(r'\t\{\n\t\tuser: "CN=web-1".*?\n\t\}\n', text, re.S)[0]
    blocks = "".join(block.replace("CN=web-1", f"CN={name}").replace(EXAMPLE_ID, host) for name, host in hosts.items())
    with open(f"{place}/nats-hosts.conf", "w", encoding="utf-8") as file:
        file.write(text.replace(block, blocks))
    text = read("nats-server.conf", folder).replace('listen: "0.0.0.0:4222"\n', "").replace("/etc/nats/", f"{place}/")
    with open(f"{place}/nats-server.conf", "w", encoding="utf-8") as file:
        file.write(text.replace('store_dir: "/var/lib/nats"', "").replace("500GB", "10GB"))


def start(place, hosts, folder=None):
    """A server, with certificates for it, for the store, and for each host."""
    make_authority(place, "ca")
    for name in ("server", "store", *hosts):
        make_certificate(place, name, "ca")
    configure(place, hosts, folder)
    server = nats.Server(place, more=["-c", f"{place}/nats-server.conf"])
    server.tls = server.url.replace("nats://", "tls://")
    return server


def options(place, name, store=False):
    """How a shipper, or the store, says who it is."""
    words = ("--tls-ca", "--tls-cert", "--tls-key") if store else ("--ca", "--cert", "--key")
    return [word for pair in zip(words, (f"{place}/ca.pem", f"{place}/{name}.pem", f"{place}/{name}.key")) for word in pair]


class Client:
    """A client with a certificate, which keeps all that it receives."""

    def __init__(self, server, place, name, subscribe=()):
        context = ssl.create_default_context(cafile=f"{place}/ca.pem")
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        context.load_cert_chain(f"{place}/{name}.pem", f"{place}/{name}.key")
        plain = socket.create_connection((server.address, server.port), patience())
        # The server's first line comes before TLS begins.
        greeting = b""
        while not greeting.endswith(b"\n"):
            greeting += plain.recv(1)
        self.socket = context.wrap_socket(plain, server_hostname=server.address)
        self.socket.setblocking(False)
        self.received, self.errors, self.answers, self.is_closed = [], [], queue.Queue(), False
        # A connection of TLS is for one thread at a time.
        self.lock = threading.Lock()
        self.send(b'CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\n' +
                  b"".join(b"SUB %s %d\r\n" % (subject.encode(), number + 1) for number, subject in enumerate(subscribe)))
        threading.Thread(target=self.listen, daemon=True).start()
        self.ping()

    def send(self, data):
        view = memoryview(data)
        while view:
            try:
                with self.lock:
                    view = view[self.socket.send(view):]
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                select.select([], [self.socket], [], 0.1)

    def listen(self):
        data = b""
        try:
            while not self.is_closed:
                with self.lock:
                    try:
                        more = self.socket.recv(1 << 16)
                    except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                        more = None
                if more == b"":
                    return
                if more is None:
                    select.select([self.socket], [], [], 0.1)
                    continue
                data = self.take(data + more)
        except (OSError, ValueError):
            pass

    def take(self, data):
        """Takes what is whole. Returns the rest."""
        while b"\r\n" in data:
            line, rest = data.split(b"\r\n", 1)
            if line.startswith((b"MSG", b"HMSG")):
                size = int(line.split()[-1])
                if len(rest) < size + 2:
                    return data
                self.received.append((line, rest[:size]))
                rest = rest[size + 2:]
            elif line == b"PING":
                self.send(b"PONG\r\n")
            elif line == b"PONG":
                self.answers.put(line)
            elif line.startswith(b"-ERR"):
                self.errors.append(line.decode())
            data = rest
        return data

    def ping(self):
        """Returns when the server has all that was sent before."""
        self.send(b"PING\r\n")
        self.answers.get(timeout=patience())

    def publish(self, subject, payload, headers=None, reply=""):
        head = ("NATS/1.0\r\n" + "".join(f"{key}: {value}\r\n" for key, value in (headers or {"x": "y"}).items()) + "\r\n").encode()
        self.send(f"HPUB {subject} {reply} {len(head)} {len(head) + len(payload)}\r\n".encode() + head + payload + b"\r\n")

    def request(self, subject, question, inbox):
        """The first answer that comes to an inbox that this client has subscribed to."""
        before = len(self.received)
        self.publish(subject, json.dumps(question).encode(), reply=inbox)
        deadline = threading.Event()
        for _ in range(int(patience() * 20)):
            if len(self.received) > before:
                return self.received[before][1]
            deadline.wait(0.05)
        return b""

    def close(self):
        self.is_closed = True
        with self.lock:
            self.socket.close()


def configure_plain(place, hosts, folder=None):
    """The same without TLS, for many hosts: each is a user by its id, and all have the same password. Returns the server's options."""
    text = read("nats-hosts.conf", folder)
    block = re.search(r'\t\{\n\t\tuser: "CN=web-1".*?\n\t\}\n', text, re.S)[0]
    blocks = "".join(block.replace('"CN=web-1"', f'"{host}", password: "h"').replace(EXAMPLE_ID, host) for host in hosts)
    with open(f"{place}/nats-hosts.conf", "w", encoding="utf-8") as file:
        file.write(text.replace(block, blocks))
    text = read("nats-server.conf", folder).replace('listen: "0.0.0.0:4222"\n', "").replace('store_dir: "/var/lib/nats"', "")
    text = re.sub(r"\ntls \{.*?\n\}\n", "\n", text, flags=re.S).replace('user: "CN=store"', 'user: "store", password: "s"')
    with open(f"{place}/nats-server.conf", "w", encoding="utf-8") as file:
        file.write(text.replace("500GB", "10GB"))
    return ["-c", f"{place}/nats-server.conf"]
