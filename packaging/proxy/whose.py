# SPDX-License-Identifier: Apache-2.0
"""Whose a connection to a proxy is, as `cordon who` says, for what decides there. Part of squid_acl.py and mitmproxy_addon.py."""

import json
import subprocess

PROGRAM = "cordon"
PATIENCE_SECONDS = 10
NOBODY = 3
# What a rule may ask of an execution.
KEYS = ("policy", "agent", "session", "executor", "id")


class Unknown(Exception):
    """Nobody can say, which is no reason to let anything through."""


def _text(address, port):
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def owner(client, proxy, cookie=None):
    """The live execution that made the connection between these two ends, (address, port), as `cordon ps --json` has it. None: it is
    no execution's, or that of several, or the connection is gone. Unknown. cookie: SO_COOKIE of the proxy's socket. Without it, a
    connection from the same address that came after a reset may be taken for the one that is meant."""
    which = [] if cookie is None else ["--cookie", str(cookie)]
    command = [PROGRAM, "who", "--json", *which, _text(*client[:2]), _text(*proxy[:2])]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_SECONDS, check=False)
        if done.returncode not in (0, NOBODY):
            raise Unknown(done.stderr.decode(errors="replace").strip() or f"{PROGRAM} who: status {done.returncode}")
        found = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise Unknown(f"{PROGRAM} who: {error}") from error
    return found[0] if len(found) == 1 else None


def check_keys(conditions):
    """ValueError: a rule asks for what executions do not have."""
    unknown = sorted(set(conditions) - set(KEYS))
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: a rule may ask for {', '.join(KEYS)}")


def meets(execution, conditions):
    """Has the execution all that a rule asks for? One that asks for nothing takes every execution."""
    return execution is not None and all(execution.get(key) == value for key, value in conditions.items())
