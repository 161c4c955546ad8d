# SPDX-License-Identifier: Apache-2.0
"""A network outside the host: addresses of its own devices are the host's, and no name leads there."""

import ctypes
import os
import socket
import subprocess

NAMESPACE, DEVICE = "cordon-elsewhere", "elsewhere0"
CLONE_NEWNET = 0x40000000


def ip(*arguments, check=True):
    subprocess.run(["ip", *arguments], check=check)


class Elsewhere:
    """Another network namespace behind a link; `near` are the host's addresses on it, `far` those over there."""

    def __init__(self, near, far):
        ip("netns", "add", NAMESPACE)
        ip("link", "add", DEVICE, "type", "veth", "peer", "name", "uplink", "netns", NAMESPACE)
        for where, device, addresses in (([], DEVICE, near), (["-n", NAMESPACE], "uplink", far)):
            for address in addresses:
                ip(*where, "address", "add", address, "dev", device, *(["nodad"] if ":" in address else []))
            ip(*where, "link", "set", device, "up")
        ip("-n", NAMESPACE, "link", "set", "lo", "up")

    def socket(self, family, kind):
        """Made over there, and usable from here."""
        libc = ctypes.CDLL(None, use_errno=True)
        with open("/proc/thread-self/ns/net", "rb") as here, open(f"/run/netns/{NAMESPACE}", "rb") as there:
            if libc.setns(there.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
            try:
                made = socket.socket(family, kind)
            finally:
                if libc.setns(here.fileno(), CLONE_NEWNET):
                    os.abort()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return made

    def close(self):
        ip("link", "del", DEVICE, check=False)
        ip("netns", "del", NAMESPACE, check=False)
