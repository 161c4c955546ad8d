# SPDX-License-Identifier: Apache-2.0
"""What some attacks find around their execution: a network outside the host, connections that were made before it began, and
the host's resolver."""

import os
import socket
import subprocess
import tempfile

# The policy allows to connect to the first, not to the second: INHERITED_* in net.h.
ALLOWED, FORBIDDEN = 7108, 7109
RESOLVER = "127.0.6.53"
RESOLVER_FILE = "/etc/resolv.conf"


NAMESPACE = "redteam-outside"
DEVICE = "redteam0"  # net.h knows it, and the host's addresses
OWN_ADDRESSES = ("198.51.100.1/24", "198.51.100.2/24", "2001:db8::1/64")
OUTSIDE_ADDRESSES = ("198.51.100.7/24", "2001:db8::7/64")
# The cloud's services, and what IPv6 makes of their addresses.
SERVICES = (
    "169.254.169.254/32",
    "100.100.100.200/32",
    "fd00:ec2::254/128",
    "64:ff9b::a9fe:a9fe/128",
    "2002:a9fe:a9fe::1/128",
    "::a9fe:a9fe/128",
)
# All of it is the host's, though no device has an address of it.
LOCAL_BLOCK = "203.0.113.0/24"
GROUPS = "239.0.0.0/8"
# What the host makes of addresses: one of its own leads outside, as a container's published port does, and one outside to a
# proxy of the host.
TRANSLATED = (("198.51.100.2", "198.51.100.7"), ("192.0.2.9", "198.51.100.1"))


class Network:
    """A link to another network namespace, which plays the outside and the cloud's services."""

    def __init__(self, host):
        def ip(*arguments):
            subprocess.run(["ip", *arguments], check=True)

        def there(*arguments):
            ip("-n", NAMESPACE, *arguments)

        ip("netns", "add", NAMESPACE)
        ip("link", "add", DEVICE, "type", "veth", "peer", "name", "uplink", "netns", NAMESPACE)
        for address in OWN_ADDRESSES:
            ip("addr", "add", address, "dev", DEVICE, *(["nodad"] if ":" in address else ["brd", "+"]))
        for address in OUTSIDE_ADDRESSES + SERVICES:
            there("addr", "add", address, "dev", "uplink", *(["nodad"] if ":" in address else []))
        ip("link", "set", DEVICE, "up")
        there("link", "set", "uplink", "up")
        there("link", "set", "lo", "up")
        for block in SERVICES + (GROUPS, "192.0.2.9/32"):
            ip("route", "add", block, "dev", DEVICE)
        ip("route", "add", "local", LOCAL_BLOCK, "dev", "lo")
        for address, target in TRANSLATED:
            rule = ["-d", address, "-p", "tcp", "-j", "DNAT", "--to-destination", target]
            subprocess.run(["iptables", "-t", "nat", "-A", "OUTPUT", *rule], check=True)
        command = ["ip", "netns", "exec", NAMESPACE, host, "outside"]
        self.host = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd="/")
        if self.host.stdout.readline() != b"ready\n":
            raise SystemExit("the outside's part could not be started")

    def close(self):
        self.host.kill()
        self.host.wait()
        self.host.stdout.close()
        subprocess.run(["iptables", "-t", "nat", "-F", "OUTPUT"], check=False)
        subprocess.run(["ip", "route", "del", "local", LOCAL_BLOCK], check=False)
        subprocess.run(["ip", "netns", "del", NAMESPACE], check=False)


class Connections:
    """To ports of this process; there is something to be read from each. And a socket that leads nowhere yet."""

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
        self.ends.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.environment["REDTEAM_UNCONNECTED"] = str(self.ends[-1].fileno())

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
