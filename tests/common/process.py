# SPDX-License-Identifier: Apache-2.0
"""Processes that a test has started, by their descent and never by their name."""

import os
import signal


def status_of(pid):
    """Returns the fields of /proc/PID/status, or {} if there is no such process."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            return {field: value.strip() for field, value in (line.split(":", 1) for line in file)}
    except (FileNotFoundError, ProcessLookupError):
        return {}


def handles_signal(pid, number):
    """Has the process a handler for that signal, or blocks it to read it from a signalfd(2)?"""
    status = status_of(pid)
    masks = [int(status.get(field, "0"), 16) for field in ("SigCgt", "SigBlk")]
    return any(mask >> (number - 1) & 1 for mask in masks)


def descendants(pid):
    """Returns the live processes below that one: {process id: command line}."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        status = status_of(name)
        if status and status["State"][0] not in "ZX":
            parents[int(name)] = int(status["PPid"])
    found, above = {}, {pid}
    while above:
        above = {child for child, parent in parents.items() if parent in above}
        for child in above:
            try:
                with open(f"/proc/{child}/cmdline", "rb") as file:
                    found[child] = file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
            except (FileNotFoundError, ProcessLookupError):
                continue
    return found


def kill_descendants():
    """Kills all processes below this one, so that a failed test leaves none that holds its output open."""
    for pid in descendants(os.getpid()):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
