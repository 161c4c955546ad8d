# SPDX-License-Identifier: Apache-2.0
"""A DNS server for tests: over UDP and TCP, with answers that are right, late, wrong, cut or missing."""

import socket
import struct
import threading

A, NS, CNAME, TXT, AAAA = 1, 2, 5, 16, 28
REFUSED, NXDOMAIN, SERVFAIL = 5, 3, 2


def pack_name(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".") if label) + b"\0"


def unpack_name(data, at):
    labels = []
    while data[at]:
        labels.append(data[at + 1 : at + 1 + data[at]].decode("latin-1"))
        at += 1 + data[at]
    return ".".join(labels), at + 1


def pack_data(kind, data):
    if kind == A:
        return socket.inet_pton(socket.AF_INET, data)
    if kind == AAAA:
        return socket.inet_pton(socket.AF_INET6, data)
    return pack_name(data)


def pack_answer(query, records, code=0, cut=False, number=None):
    """Records are (name, type, ttl, data)."""
    end = unpack_name(query, 12)[1] + 4
    flags = 0x8180 | code | (0x0200 if cut else 0)
    number = struct.unpack(">H", query[:2])[0] if number is None else number
    out = struct.pack(">HHHHHH", number, flags, 1, len(records), 0, 0) + query[12:end]
    for name, kind, ttl, data in records:
        data = pack_data(kind, data)
        out += pack_name(name) + struct.pack(">HHIH", kind, 1, ttl, len(data)) + data
    return out


class Server:
    """
    Answers from `zone`: name to records, to a code, or to a function that takes (server, query, reply, stream) and
    calls reply(bytes) as often as it likes. Keeps what it was asked: (name, type, "udp" or "tcp").
    """

    def __init__(self, address, zone, port=53):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.zone = zone
        self.asked = []
        self.udp = socket.socket(family, socket.SOCK_DGRAM)
        self.udp.bind((address, port))
        self.tcp = socket.socket(family, socket.SOCK_STREAM)
        self.tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.tcp.bind((address, port))
        self.tcp.listen(16)
        threading.Thread(target=self.serve_udp, daemon=True).start()
        threading.Thread(target=self.serve_tcp, daemon=True).start()

    def names(self):
        return [name for name, _, _ in self.asked]

    def answer(self, query, reply, transport, client):
        name, at = unpack_name(query, 12)
        kind = struct.unpack(">H", query[at : at + 2])[0]
        self.asked.append((name, kind, transport))
        found = self.zone.get(name, NXDOMAIN)
        if callable(found):
            found(query, reply, transport, client)
        elif isinstance(found, int):
            reply(pack_answer(query, [], found))
        else:
            reply(pack_answer(query, [record for record in found if record[1] in (kind, CNAME)]))

    def serve_udp(self):
        while True:
            query, client = self.udp.recvfrom(4096)
            self.answer(query, lambda data, client=client: self.udp.sendto(data, client), "udp", client)

    def serve_tcp(self):
        while True:
            connection, client = self.tcp.accept()
            threading.Thread(target=self.serve_stream, args=(connection, client), daemon=True).start()

    def serve_stream(self, connection, client):
        def take(size):
            data = b""
            while len(data) < size:
                part = connection.recv(size - len(data))
                if not part:
                    raise OSError("closed")
                data += part
            return data

        with connection:
            try:
                while True:
                    query = take(struct.unpack(">H", take(2))[0])
                    self.answer(
                        query, lambda data: connection.sendall(struct.pack(">H", len(data)) + data), "tcp", client
                    )
            except OSError:
                pass
