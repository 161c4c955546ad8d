# SPDX-License-Identifier: Apache-2.0
"""Running a measurement in the VM, and reading what it writes."""

import collections
import os
import subprocess
import sys

PROJECT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("BUILD", "build")
KERNELS = ("6.1", "6.12", "newest")
# This host's own: the clock counts nanoseconds.
HERE = "here"
BASELINE = "none"


def boot(kernel, *command, memory=3072, options=()):
    """The lines that the command writes in that kernel. What fails there ends the program."""
    start = ["tests/vm/run", "--kernel", kernel, "--memory", str(memory), "--timeout", "7200", "-n", *options, "--"]
    if kernel == HERE:
        start = []
    done = subprocess.run([*start, *command], cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} on {kernel}: status {done.returncode}\n{done.stdout}")
    return done.stdout.splitlines()


def can_enforce():
    """Can this host itself?"""
    done = subprocess.run(["tests/vm/can-enforce"], cwd=PROJECT, stdout=subprocess.DEVNULL, check=False)
    return done.returncode == 0


def unit(kernel):
    return "ns" if kernel == HERE else "instructions"


def measured(kernel, *command, save=None, saved=None, memory=3072, options=()):
    """The same under the instruction clock; saved: from that folder instead; save: keep them there, too."""
    name = f"{os.path.basename(command[0])}-{kernel}.tsv"
    if saved:
        with open(os.path.join(saved, name), encoding="utf-8") as file:
            return file.read().splitlines()
    lines = boot(kernel, *command, memory=memory, options=("--icount", *options))
    if save:
        os.makedirs(save, exist_ok=True)
        with open(os.path.join(save, name), "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    return lines


def parse(lines):
    """{condition: {operation: (median, smallest, largest)}}; verifier.c writes the same kind of lines"""
    found = collections.defaultdict(dict)
    for line in lines:
        fields = line.rstrip("\n").split("\t")
        if len(fields) == 5:
            found[fields[0]][fields[1]] = tuple(float(number) for number in fields[2:])
    return found
