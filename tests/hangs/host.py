# SPDX-License-Identifier: Apache-2.0
"""A host for what hangs: its daemon, twenty executions or more that live, and operations for one of them."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

PROJECT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
TOP = "/bench"
LOG = f"{TOP}/log"
RESOLVER = "127.0.0.9"
WALL = 1.0

POLICY = f"""version: 1
name: availability
include: [{PROJECT}/policies/runtime/linux, {PROJECT}/policies/runtime/python3, {PROJECT}/policies/runtime/shell]
files:
  - {{allow: [read, write, create, delete], paths: ["${{workdir}}/**", "${{tmp}}/**"]}}
exec:
  - {{allow: [run, map], paths: ["/usr/bin/**"]}}
network:
  - {{allow: [connect], to: [nobody.example], ports: [80]}}
process: {{signal: execution, trace: none, capabilities: [], namespaces: deny}}
environment: {{keep: [PATH]}}
limits: {{wall: 60m}}
run_by: [alice, silent]
"""
# A shell whose children become executions.
CONFIG = f"""version: 1
executors:
  - {{name: agent, match: {{executable: {TOP}/agent}}, policy: availability, workdir_under: [{TOP}/w]}}
"""
# Opens what is refused: each file that is named on standard input.
OPENER = "import sys\nfor name in sys.stdin:\n    try: open(name.strip())\n    except OSError: pass\n"


class Log:
    """All lines of it so far, from whatever segments."""

    def __init__(self):
        self.lines, self.file, self.begun = [], None, b""

    def read_on(self):
        while True:
            self.read_segment()
            name = f"{LOG}/current.jsonl"
            if not os.path.exists(name) or (self.file and os.path.samestat(os.stat(name), os.fstat(self.file.fileno()))):
                return
            # The last one is whole, and closed.
            self.read_segment()
            if self.file:
                self.file.close()
            self.file = open(name, "rb")  # pylint: disable=consider-using-with

    def read_segment(self):
        if self.file:
            *whole, self.begun = (self.begun + self.file.read()).split(b"\n")
            self.lines += whole


class Host:
    """A daemon with executions that live, and what is done for one of them: each gives the seconds that it took."""

    def __init__(self, build, live, options=()):
        self.cordon = os.path.join(build, "cordon")
        self.log = Log()
        self.files = 20000  # of each that leaves as many as it can
        self.policy = f"{TOP}/policies/availability.yaml"
        self.started = []
        self.sessions = 0
        os.makedirs(f"{TOP}/w")
        os.chmod(f"{TOP}/w", 0o777)
        os.makedirs(f"{TOP}/policies")
        for folder in ("refused", "hidden"):
            os.makedirs(f"{TOP}/{folder}")
            for n in range(1000):
                with open(f"{TOP}/{folder}/{n}", "w", encoding="ascii"):
                    pass
        with open(self.policy, "w", encoding="ascii") as file:
            file.write(POLICY)
        options = ["--log", LOG, "--policies", f"{TOP}/policies", "--heartbeat", "0", "--config", f"{TOP}/cordon.yaml", *options]
        self.agent = f"{TOP}/agent"
        shutil.copy("/bin/dash", self.agent)
        with open(f"{TOP}/cordon.yaml", "w", encoding="ascii") as file:
            file.write(CONFIG)
        # It names users that nobody has looked up yet.
        with open(f"{TOP}/policies/named.yaml", "w", encoding="ascii") as file:
            file.write(POLICY.replace("name: availability", "name: named").replace("[alice, silent]", "[alice, silent, nobody-of-this-name]"))
        said = open(f"{TOP}/daemon.log", "wb")  # pylint: disable=consider-using-with
        self.daemon = subprocess.Popen([self.cordon, "daemon", *options], stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        self.until(self.serves, "the daemon")
        self.launch()
        for _ in range(live):
            self.start("sleep", "100000")
        self.until(lambda: len(self.records("execution-start")) >= live, "the executions")

    def until(self, condition, what, seconds=600):
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            if self.daemon.poll() is not None or time.monotonic() > deadline:
                with open(f"{TOP}/daemon.log", encoding="utf-8", errors="replace") as file:
                    sys.exit(f"no sign of {what}: {file.read()}")
            time.sleep(0.01)
        return found

    def serves(self):
        """It takes the place of one that `cordon run` has started."""
        done = subprocess.run([self.cordon, "status", "--json"], capture_output=True, check=False)
        return done.returncode == 0 and json.loads(done.stdout)["pid"] == self.daemon.pid

    def quiet(self, *arguments):
        return subprocess.run([self.cordon, *arguments], capture_output=True, check=False).returncode

    def run_command(self, *command, options=()):
        return [self.cordon, "run", "--policy", "availability", "--workdir", f"{TOP}/w", *options, "--", *command]

    def start(self, *command, options=(), **how):
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **how}
        process = subprocess.Popen(self.run_command(*command, options=options), **quiet)
        self.started.append(process)
        return process

    def records(self, action, position=0):
        self.log.read_on()
        # Most are a flood's, and of no interest.
        named = f'"action":"{action}"'.encode()
        return [json.loads(line) for line in self.log.lines[position:] if named in line]

    def new_session(self):
        """By which records are told from those of others, that may come late."""
        self.sessions += 1
        return f"session-{self.sessions}"

    def records_of(self, session, action, position):
        return [record for record in self.records(action, position) if record["cordon"]["execution"].get("session") == session]

    def is_on_record(self, name, position):
        self.log.read_on()
        return any(name in line for line in self.log.lines[position:])

    def position(self):
        self.log.read_on()
        return len(self.log.lines)

    def launch(self):
        begin = time.monotonic()
        done = subprocess.run(self.run_command("true"), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        taken = time.monotonic() - begin
        if done.returncode:
            sys.exit(f"a launch ended with {done.returncode}: {done.stderr}")
        return taken

    def status(self):
        begin = time.monotonic()
        if self.quiet("status"):
            sys.exit("availability: no status")
        return time.monotonic() - begin

    def kill(self):
        session, position = self.new_session(), self.position()
        process = self.start("sleep", "100000", options=("--session", session))
        name = self.until(lambda: self.records_of(session, "execution-start", position), "a start record")[0]["cordon"]["execution"]["id"]
        begin = time.monotonic()
        if self.quiet("kill", name):
            sys.exit(f"cannot kill {name}")
        process.wait()
        return time.monotonic() - begin

    def deadlines(self, count):
        """By how much each was missed."""
        session, position = self.new_session(), self.position()
        running = [self.start("sleep", "100000", options=("--session", session, "--timeout", f"{WALL * 1000:.0f}ms")) for _ in range(count)]
        for process in running:
            process.wait()

        def ended():
            found = self.records_of(session, "execution-end", position)
            return found if len(found) == count else None

        ends = self.until(ended, "the end records")
        if causes := {record["cordon"]["end"]["cause"] for record in ends} - {"timeout"}:
            sys.exit(f"what was to end at its deadline ended by {causes}")
        return [record["event"]["duration"] / 1e9 - WALL for record in ends]

    def refusals(self, count):
        """From the access to the line in the log."""
        process = self.start("python3", "-c", OPENER, options=("--stdin", "inherit"), stdin=subprocess.PIPE)
        taken = []
        for n in range(count + 1):
            position, name = self.position(), f"{TOP}/hidden/{n}".encode()
            begin = time.monotonic()
            process.stdin.write(name + b"\n")
            process.stdin.flush()
            self.until(lambda position=position, name=name: self.is_on_record(b'"' + name + b'"', position), "a denial's record")
            taken.append(time.monotonic() - begin)
        process.stdin.close()
        process.wait()
        # The first is after the interpreter's start.
        return taken[1:]

    def adopt(self):
        """An executor's child, from its start to its end."""
        begin = time.monotonic()
        done = subprocess.run([self.agent, "-c", "/usr/bin/true; exit $?"], cwd=f"{TOP}/w", stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        if done.returncode:
            sys.exit(f"an adopted child ended with {done.returncode}: {done.stderr}")
        return time.monotonic() - begin

    def end(self):
        for process in self.started:
            process.kill()
        self.daemon.terminate()
        self.daemon.wait()


@contextlib.contextmanager
def prepared():
    """A place of its own in memory, users, and a resolver that says nothing."""
    os.makedirs(TOP, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", TOP], check=True)
    os.makedirs(LOG, 0o750)
    tempfile.tempdir = TOP
    # A module on some kernels.
    subprocess.run(["modprobe", "-q", "fuse"], check=False)
    subprocess.run(["groupadd", "-f", "cordon"], check=True)
    # In a part that comes after others they may be there.
    for name in ("alice", "silent"):
        subprocess.run(["userdel", name], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["useradd", "--home-dir", f"{TOP}/{name}", "-G", "cordon", name], check=True)
        os.makedirs(f"{TOP}/{name}")
    with open("/etc/resolv.conf", "w", encoding="ascii") as file:
        file.write(f"nameserver {RESOLVER}\n")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind((RESOLVER, 53))
        try:
            yield
        finally:
            subprocess.run(["umount", "--lazy", TOP], check=False)
