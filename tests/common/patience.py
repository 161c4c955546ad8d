# SPDX-License-Identifier: Apache-2.0
"""Waiting for effects, with a patience that grows with the measured slowness of the machine.

A test waits for what it can observe, never for time to pass, and it never compares elapsed time with a constant. That something
does not happen is shown by a later event: send a marker behind it, wait for the marker, and look then.
"""

import subprocess
import time

# Starting so many processes takes so many seconds on an idle machine whose processors are not emulated, with a margin.
STARTS, NOMINAL_SECONDS = 20, 0.1
# Seconds that each wait has at least on such a machine. A longer one only delays the report of a failure.
SHORTEST_WAIT = 30

_slowest = 0.0


class Failed(Exception):
    """A check that did not hold; the text names it."""


def measure_slowness():
    """Measures how many times slower the machine is now than an idle one. Returns the largest result so far: 1 or more."""
    global _slowest
    start = time.monotonic()
    for _ in range(STARTS):
        subprocess.run(["true"], check=True)
    _slowest = max(1.0, _slowest, (time.monotonic() - start) / NOMINAL_SECONDS)
    return _slowest


def patience(seconds=SHORTEST_WAIT):
    """Returns the seconds to wait on this machine for what takes `seconds` at most on an idle one."""
    return max(seconds, SHORTEST_WAIT) * (_slowest or measure_slowness())


def wait_for(condition, seconds, what, catch=()):
    """Returns the first true value that `condition` returns. seconds: what this takes at most on an idle machine.

    An exception of the kinds in `catch` counts as a false value. When the patience has ended, the slowness is measured once more,
    because the load may have grown since. Raises Failed with `what` and the last value.
    """
    start = time.monotonic()
    limit = patience(seconds)
    measured = False
    while True:
        began = time.monotonic()
        try:
            value = condition()
        except catch as error:
            value, shown = None, repr(error)
        else:
            shown = repr(value)
        if value:
            return value
        now = time.monotonic()
        if now - start < limit:
            # The condition takes a third of the time at most, because the effect needs the processors too.
            time.sleep(max(0.02, 2 * (now - began)))
            continue
        if measured:
            raise Failed(f"{what}: not within {now - start:.0f} s; the last value is {shown[:600]}")
        measure_slowness()
        limit, measured = max(limit, patience(seconds)), True


def comes(condition, seconds=SHORTEST_WAIT):
    """Returns the first true value of `condition`, or its last value when the patience has ended: for a check that reports it."""
    last = [None]

    def look():
        last[0] = condition()
        return last[0]

    try:
        return wait_for(look, seconds, "")
    except Failed:
        return last[0]
