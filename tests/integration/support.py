# SPDX-License-Identifier: Apache-2.0
"""What the parts of the integration tests share: running things under cordon, reading the records
that they leave, and counting checks."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "common"))

from patience import SHORTEST_WAIT, comes, patience, wait_for  # noqa: E402,F401  pylint: disable=wrong-import-position,unused-import
from process import descendants, status_of  # noqa: E402,F401  pylint: disable=wrong-import-position,unused-import

POLICIES = os.path.join(HERE, "..", "..", "policies")
NOBODY = 65534
# Numbers of system calls that Python has no function for, on this machine.
CALLS = {
    "x86_64": {
        "add_key": 248, "bpf": 321, "clone": 56, "copy_file_range": 326, "fallocate": 285, "io_setup": 206, "io_uring_setup": 425,
        "pwritev2": 328, "sendfile": 40, "splice": 275, "userfaultfd": 323,
    },
    "aarch64": {
        "add_key": 217, "bpf": 280, "clone": 220, "copy_file_range": 285, "fallocate": 47, "io_setup": 0, "io_uring_setup": 425,
        "pwritev2": 287, "sendfile": 71, "splice": 76, "userfaultfd": 282,
    },
}[os.uname().machine]  # fmt: skip
# Repeats nothing for each user, and leaves out what is the same on every kernel: tests/run-arm64.
BRIEF = os.environ.get("CORDON_BRIEF") == "yes"


def userspace(check):
    """Marks a check of what userspace does by itself, on every kernel alike: a brief run leaves it out."""
    check.of_userspace = True
    return check


def is_left_out(check):
    return BRIEF and getattr(check, "of_userspace", False)


class Run:
    """What a command under cordon ended with, and the records of its execution."""

    def __init__(self, done, records):
        self.status = done.returncode
        self.out = done.stdout.decode(errors="replace")
        self.err = done.stderr.decode(errors="replace")
        self.records = records

    def of(self, action):
        return [record for record in self.records if record["event"]["action"] == action]

    def end(self):
        ends = self.of("execution-end")
        return ends[0]["cordon"] if len(ends) == 1 else None

    def denials(self, operation, text=None):
        return [
            record
            for record in self.of("denial")
            if record["cordon"]["operation"] == operation and text in (None, record["cordon"]["object"]["text"])
        ]

    def __str__(self):
        lines = [f"status {self.status}", *self.out.splitlines()[-8:], *self.err.splitlines()[-12:]]
        seen = {f"denied {r['cordon']['operation']} {r['cordon']['object']['text']}" for r in self.of("denial")}
        return "\n".join(lines + sorted(seen)[:12])


class Suite:
    """Checks of one part, in a directory that goes when they are done."""

    def __init__(self, name):
        if len(sys.argv) < 2:
            sys.exit(f"usage: {sys.argv[0]} BUILD [CHECK...]")
        self.name = name
        self.build = os.path.abspath(sys.argv[1])
        self.chosen = sys.argv[2:]
        self.offered = set()
        # Functions in which checks failed, and how many did.
        self.again = []
        self.failed_in_functions = 0
        self.passed = 0
        self.failed = 0
        self.top = tempfile.mkdtemp(prefix="it", dir="/tmp")
        os.chmod(self.top, 0o755)
        self.log = self.directory("log")
        os.chmod(self.log, 0o750)
        self.made = 0

    def helper(self, name):
        return os.path.join(self.build, "tests", "helpers", name)

    def path(self, *names):
        return os.path.join(self.top, *names)

    def directory(self, *names, owner=0):
        path = self.path(*names)
        os.makedirs(path)
        os.chown(path, owner, owner)
        return path

    def fresh(self, owner=0):
        """A new work directory."""
        self.made += 1
        return self.directory(f"w{self.made}", owner=owner)

    def long_time(self):
        """Seconds for sleep(1), as an argument that no other process of the machine has."""
        self.made += 1
        return f"100000.{os.getpid():08}{self.made:04}"

    def secret(self, name):
        """A file outside all work directories that anybody may read and write but for cordon."""
        path = self.path(name)
        with open(path, "w", encoding="ascii") as file:
            file.write("secret\n")
        os.chmod(path, 0o666)
        return path

    def command(self, policy, workdir, *command, user=None, options=()):
        if "/" not in policy:
            policy = os.path.join(POLICIES, f"{policy}.yaml")
        start = [os.path.join(self.build, "cordon"), "run", "--policy", policy, "--workdir", workdir]
        start += ["--log", self.log, *options]
        return start + (["--user", user] if user else []) + ["--", *command]

    def position(self):
        path = os.path.join(self.log, "current.jsonl")
        return os.path.getsize(path) if os.path.exists(path) else 0

    def records(self, start):
        """Those written since; without an end record, none that could be trusted to be complete."""
        with open(os.path.join(self.log, "current.jsonl"), "rb") as file:
            file.seek(start)
            return [json.loads(line) for line in file if line.endswith(b"\n")]

    def unhurried(self, policy):
        """A copy of a shipped policy that gives its executions the time that they need on however slow a machine."""
        copy = self.path(f"{policy}.yaml")
        with open(os.path.join(POLICIES, f"{policy}.yaml"), encoding="utf-8") as source, open(copy, "w", encoding="utf-8") as file:
            text = re.sub(r"([\[ ])runtime/", rf"\1{POLICIES}/runtime/", source.read())
            file.write(re.sub(r"\bwall: \w+", "wall: 12h", text))
        return copy

    def run(self, policy, workdir, *command, user=None, options=(), timeout=120):
        """timeout: seconds on an idle machine."""
        start = self.position()
        done = subprocess.run(
            self.command(policy, workdir, *command, user=user, options=options),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=patience(timeout),
            check=False,
        )
        return Run(done, self.records(start))

    def keep_daemon(self):
        """An execution that stays, so that none has to wait for a daemon that leaves between two. To be terminated."""
        command = self.command("observe", self.fresh(), "sleep", "10000")
        kept = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # pylint: disable=consider-using-with
        wait_until(lambda: self.position() and any(r["event"]["action"] == "execution-start" for r in self.records(0)), 300)
        return kept

    def check(self, what, good, details=""):
        if good:
            self.passed += 1
            print(f"ok - {what}", flush=True)
        else:
            self.failed += 1
            print(f"not ok - {what}")
            for line in str(details).splitlines():
                print(f"  | {line}")
            sys.stdout.flush()

    def check_records(self):
        """All that the log has is as the schema says."""
        schema = os.path.join(HERE, "..", "..", "docs", "audit.schema.json")
        command = [os.path.join(self.build, "tests", "schema", "check"), schema, self.log]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        summary = done.stdout.splitlines()[-1] if done.stdout else ""
        self.check(f"records are as the schema says: {summary}", done.returncode == 0, done.stdout[:6000] + done.stderr)

    def check_answers(self):
        """What answers people says of each access what was decided."""
        done = subprocess.run([os.path.join(self.build, "tests", "schema", "agree"), self.log],
                              capture_output=True, text=True, errors="replace", check=False)  # fmt: skip
        summary = done.stdout.splitlines()[-1] if done.stdout else ""
        self.check(f"answers are what was decided: {summary}", done.returncode == 0, done.stdout[:12000] + done.stderr)

    def make(self, *checks, daemon=None, settle=True):
        """Runs the checks (all, or those named on the command line), each when what the one before left has ended unless `settle`
        is off. One that fails to run counts as failed."""
        for check in checks:
            self.offered.add(check.__name__)
            if check.__name__ not in self.chosen if self.chosen else is_left_out(check):
                continue
            started, failed = time.monotonic(), self.failed
            try:
                if daemon and settle:
                    daemon.settle()
                check(self)
            except Exception as error:  # pylint: disable=broad-except
                self.check(check.__name__, False, f"{type(error).__name__}: {error}\n{daemon.words()[-2000:] if daemon else ''}")
            if self.failed > failed:
                self.again.append(check.__name__)
                self.failed_in_functions += self.failed - failed
            print(f"({check.__name__}: {time.monotonic() - started:.0f} s)", flush=True)

    def main(self, *checks):
        """Makes the checks, and then those that every part ends with."""
        try:
            self.make(*checks)
            self.check_records()
            self.check_answers()
        finally:
            shutil.rmtree(self.top, ignore_errors=True)
        unknown = set(self.chosen) - self.offered
        if unknown:
            self.check(f"the chosen checks exist: {', '.join(sorted(unknown))}", False)
        print_longest_turn(os.path.join(self.build, "cordon"))
        # For tests/parts.sh, if all failures are those of functions that it can choose.
        if self.failed == self.failed_in_functions:
            for name in self.again:
                print(f"# again: {os.path.basename(sys.argv[0])}:{name}")
        print(f"# {self.name}: {self.passed} passed, {self.failed} failed")
        sys.exit(0 if self.passed and not self.failed else 1)


def print_longest_turn(cordon):
    """What the loop of the daemon that is there, if any, took most processor time for, and what it was at for longest."""
    try:
        done = subprocess.run([cordon, "status", "--json"], capture_output=True, timeout=120, check=False)
        turns = json.loads(done.stdout)["turns"]
        busiest, longest = turns["busiest"], turns["longest"]
        print(
            f"(longest turn of the daemon's loop: {busiest['nsec'] / 1e6:.1f} ms of processor time, {busiest['what']}; "
            f"by the clock {longest['nsec'] / 1e6:.1f} ms, {longest['what']})", flush=True
        )
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError, TypeError):
        pass


def processes_with(argument):
    """Live processes that have this argument, which the test has made to be the only ones."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if argument.encode() in words and status_of(pid).get("State", "Z")[0] not in "ZX":
            found.append(int(pid))
    return found


def processes_of(program):
    """Live processes that run this file: for a program of the test's own, of which nobody else runs any."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            # The kernel's own, which are most, have none.
            if os.readlink(f"/proc/{pid}/exe") != program:
                continue
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                if file.read().rpartition(")")[2].split()[0] not in "ZX":
                    found.append(int(pid))
        except OSError:
            continue
    return found


def preemptions():
    """Goes through the ways in which this kernel preempts: as it was found, with the least that it has, in full; then back. One
    that was built for a single way goes through that."""
    path = "/sys/kernel/debug/sched/preempt"
    if not os.path.exists(path):
        yield "as built"
        return
    with open(path, encoding="ascii") as file:
        shown = file.read()
    before = shown.split("(")[1].split(")")[0]
    try:
        for way in dict.fromkeys((before, "voluntary" if "voluntary" in shown else "lazy", "full")):
            with open(path, "w", encoding="ascii") as file:
                file.write(way)
            yield way
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(before)


def wait_until(condition, seconds=SHORTEST_WAIT):
    """wait_for() that names the caller's line as what it waited for."""
    caller = traceback.extract_stack(limit=2)[0]
    return wait_for(condition, seconds, f"{os.path.basename(caller.filename)}:{caller.lineno}: {caller.line}")
