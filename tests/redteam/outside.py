# SPDX-License-Identifier: Apache-2.0
"""What some attacks find around their execution: connections that were made before it began, and the host's resolver."""

import os
import socket
import subprocess
import tempfile

# The policy allows to connect to the first, not to the second: INHERITED_* in net.h.
ALLOWED, FORBIDDEN = 7108, 7109
RESOLVER = "127.0.6.53"
RESOLVER_FILE = "/etc/resolv.conf"


class Connections:
    """To ports of this process; there is something to be read from each."""

    def __init__(self):
        self.ends = []
        self.environment = {}
        for name, port in (("ALLOWED", ALLOWED), ("FORBIDDEN", FORBIDDEN)):
            with socket.create_server(("127.0.0.1", port)) as listener:
                ours = socket.create_connection(("127.0.0.1", port))
                theirs, _ = listener.accept()
            theirs.sendall(b"x" * 4096)
            self.ends += [ours, theirs]
            self.environment[f"REDTEAM_CONNECTED_{name}"] = str(ours.fileno())

    def descriptors(self):
        return [int(number) for number in self.environment.values()]

    def close(self):
        for end in self.ends:
            end.close()


def use_resolver(directory):
    """Has the host ask the resolver that tests/redteam/host.c plays."""
    path = os.path.join(directory, "resolv.conf")
    with open(path, "w", encoding="ascii") as file:
        file.write(f"nameserver {RESOLVER}\n")
    subprocess.run(["mount", "--bind", path, os.path.realpath(RESOLVER_FILE)], check=True)


def leave_resolver():
    subprocess.run(["umount", os.path.realpath(RESOLVER_FILE)], check=False)


def remove_queues():
    """Attacks leave message queues behind, of which a user may have a few only."""
    place = tempfile.mkdtemp()
    subprocess.run(["mount", "-t", "mqueue", "none", place], check=True)
    for name in os.listdir(place):
        os.unlink(os.path.join(place, name))
    subprocess.run(["umount", place], check=True)
    os.rmdir(place)
