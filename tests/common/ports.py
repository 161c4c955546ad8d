# SPDX-License-Identifier: Apache-2.0
"""TCP ports for servers that cannot choose one themselves."""

import socket

_held = []


def reserve_port():
    """Returns a port that the kernel chose and gives to nobody else while this process lives.

    The socket stays bound, without listening. A server that sets SO_REUSEADDR, as all here do, can still listen on the port, also
    after it was killed. Connections never get the port as their own, because it is explicitly bound.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("", 0))
    _held.append(holder)
    return holder.getsockname()[1]
