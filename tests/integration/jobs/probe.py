# SPDX-License-Identifier: Apache-2.0
"""Tries one operation after the other and says how each ended: "read:/etc/passwd ok", "run:/bin/sh EACCES"."""

import errno
import mmap
import os
import socket
import sys


def memfd_run(_):
    fd = os.memfd_create("x")
    with open("/usr/bin/true", "rb") as file:
        os.write(fd, file.read())
    run(f"/proc/self/fd/{fd}")


def run(path):
    """The child says by its status why it could not become the program."""
    pid = os.fork()
    if pid == 0:
        try:
            os.execv(path, [path])
        except OSError as error:
            os._exit(100 + error.errno)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status > 100:
        raise OSError(status - 100, "")


def opened(flags):
    return lambda path: os.close(os.open(path, flags, 0o644))


def at(address, act):
    host, port = address.rsplit("@", 1)
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as sock:
        act(sock, (host, int(port)))


def map_file(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        mmap.mmap(fd, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()
    finally:
        os.close(fd)


def unix_connect(path):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(path)


OPERATIONS = {
    "read": opened(os.O_RDONLY),
    "write": opened(os.O_WRONLY),
    "create": opened(os.O_WRONLY | os.O_CREAT | os.O_EXCL),
    "delete": os.unlink,
    "rename": lambda names: os.rename(*names.split(">")),
    "link": lambda names: os.link(*names.split(">")),
    "mkdir": os.mkdir,
    "run": run,
    "map": map_file,
    "anonymous": lambda _: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC).close(),
    "memfd": memfd_run,
    "connect": lambda address: at(address, lambda sock, to: sock.connect(to)),
    "bind": lambda address: at(address, lambda sock, to: sock.bind(to)),
    "unix": unix_connect,
    "signal": lambda pid: os.kill(int(pid), 0),
    "fork": lambda _: os.waitpid(os.fork() or os._exit(0), 0),
}

for operation in sys.argv[1:]:
    kind, _, argument = operation.partition(":")
    try:
        OPERATIONS[kind](argument)
        print(operation, "ok", flush=True)
    except OSError as error:
        print(operation, errno.errorcode.get(error.errno, error.errno), flush=True)
