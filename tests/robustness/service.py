# SPDX-License-Identifier: Apache-2.0
"""A daemon that stays, users who are members of its group and one who is not, and a client by hand."""

import array
import grp
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys

from support import CORDON, LOG, ROOT, SHELL_POLICY, SOCKET, Failed
from support import check, cordon, daemons, equal, execute, gone, kill, user_processes, wait_for

POLICIES = os.path.join(ROOT, "policies")
MEMBERS = ("alice", "bob")
# Of the group whose members may ask for status and nothing else.
WATCHER = "walter"
# Of the group whose members may ask whose something is and nothing else.
PROXY = "petra"
USERS = (*MEMBERS, "eve", WATCHER, PROXY)
CLIENT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "member_client.py")
STATUS_SOCKET = "/run/cordon/status.sock"
WHO_SOCKET = "/run/cordon/who.sock"
MEMORY_OF = {}
SMALL = os.path.join(os.path.dirname(CLIENT), "small.yaml")


def make_users():
    for name in ("cordon", "cordon-watch", "cordon-who"):
        try:
            grp.getgrnam(name)
        except KeyError:
            subprocess.run(["groupadd", name], check=True)
    for name in USERS:
        try:
            pwd.getpwnam(name)
        except KeyError:
            subprocess.run(["useradd", "--create-home", name], check=True)
    for name in MEMBERS:
        subprocess.run(["usermod", "-aG", "cordon", name], check=True)
    subprocess.run(["usermod", "-aG", "cordon-watch", WATCHER], check=True)
    subprocess.run(["usermod", "-aG", "cordon-who", PROXY], check=True)


def policy(name, *lines, based_on=SHELL_POLICY):
    """One for the daemon's directory: another with lines more, or in place of those with the same key."""
    with open(based_on, encoding="utf-8") as file:
        text = file.read().splitlines()
    keys = tuple(line.split(":")[0] + ":" for line in (f"name: {name}", *lines))
    kept, dropping = [], False
    for line in text:
        # What is indented belongs to the key above it.
        dropping = line.startswith(keys) or (dropping and line.startswith(" "))
        kept += [] if dropping else [line]
    os.makedirs(POLICIES, exist_ok=True)
    path = os.path.join(POLICIES, f"{name}.yaml")
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write("\n".join([*kept, f"name: {name}", *lines]) + "\n")
    os.replace(path + ".new", path)
    return path


def standing():
    """Process ids of daemons that stay."""
    found = []
    for pid in user_processes():
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                # What looks after held processes when the daemon dies, and was forked from it.
                guard = file.read() == "cordon-guard\n"
        except (FileNotFoundError, ProcessLookupError):
            continue
        if guard or words[:2] != [b"cordon", b"daemon"]:
            continue
        if not {b"--embedded", b"--log-writer", b"--request-reader", b"--dns-query-reader", b"--dns-answer-reader"} & set(words):
            found.append(int(pid))
    return found


def stop_all(number=signal.SIGTERM, seconds=30):
    """Daemons that stay."""
    for pid in standing():
        kill(pid, number)
        wait_for(lambda pid=pid: gone(pid), seconds, "the daemon's end")


def spawn_daemon(*options, executable=CORDON, environment=None):
    shipped = os.path.realpath(os.path.join(os.path.dirname(CORDON), "..", "policies"))
    argv = ["cordon", "daemon", "--log", LOG, "--policies", POLICIES, "--policies", shipped, "--heartbeat", "0", *options]
    with open(os.path.join(ROOT, "daemon.txt"), "ab") as said:
        return subprocess.Popen(
            argv, executable=executable, cwd="/", stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment
        )


def said():
    with open(os.path.join(ROOT, "daemon.txt"), encoding="utf-8", errors="replace") as file:
        return file.read()


def refused(*options, seconds=120, **how):
    """One that does not start; what it says."""
    before = len(said())
    process = spawn_daemon(*options, **how)
    wait_for(lambda: process.poll() is not None, seconds, "the refusal")
    equal(process.returncode, 1, "status")
    return said()[before:]


def answers():
    return cordon("status").status == 0


def start_daemon(*options, **how):
    """One that stays, in place of any that runs; returns when it serves."""
    os.makedirs(POLICIES, exist_ok=True)
    os.makedirs(LOG, mode=0o750, exist_ok=True)
    process = spawn_daemon(*options, **how)
    wait_for(lambda: answers() or process.poll() is not None, 60, "the daemon")
    check(process.poll() is None, f"the daemon ended: {said()[-400:]}")
    return process


def ensure_standing(*options):
    make_users()
    found = standing()
    if not found:
        for pid in daemons():
            kill(pid)
            wait_for(lambda: not daemons(), 10, "the embedded daemon's death")
        return start_daemon(*options).pid
    return found[0]


def home(name):
    """A work directory of that user's."""
    path = os.path.join(ROOT, "of-" + name)
    os.makedirs(path, exist_ok=True)
    user = pwd.getpwnam(name)
    os.chown(path, user.pw_uid, user.pw_gid)
    return path


def identity(name):
    user = pwd.getpwnam(name)
    return {
        "user": user.pw_uid,
        "group": user.pw_gid,
        "extra_groups": os.getgrouplist(name, user.pw_gid),
        "env": {"PATH": "/usr/bin:/bin", "HOME": user.pw_dir, "LANG": "C.UTF-8"},
    }


def as_user(name, *arguments, **how):
    """cordon with these arguments, run by that user in a directory of the user's."""
    return execute([CORDON, *arguments], cwd=home(name), **identity(name), **how)


def run_as(name, *command, policy="shell-sandbox", options=(), **how):
    return as_user(name, "run", "--policy", policy, *options, "--", *command, **how)


def start_as(name, *command, policy="shell-sandbox", options=(), **how):
    how.setdefault("stdin", subprocess.DEVNULL)
    how.setdefault("stdout", subprocess.DEVNULL)
    how.setdefault("stderr", subprocess.DEVNULL)
    return subprocess.Popen(
        [CORDON, "run", "--policy", policy, *options, "--", *command], cwd=home(name), **identity(name), **how
    )


def cheat(name, what, *arguments, **how):
    """What the daemon answers to a client by hand: the last answer."""
    result = execute([sys.executable, CLIENT, what, *map(str, arguments)], cwd=home(name), **identity(name), **how)
    if result.status != 0:
        raise Failed(f"{what}: status {result.status}: {result.text[-600:]}")
    return json.loads(result.out.splitlines()[-1])


class Client:
    """A connection of this process's."""

    def __init__(self, path=SOCKET):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(60)
        self.socket.connect(path)

    def send(self, message, fds=()):
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([data], ancillary)

    def receive(self):
        data, ancillary, _, _ = self.socket.recvmsg(65536, socket.CMSG_SPACE(32))
        self.fds = array.array("i")
        for _, _, part in ancillary:
            self.fds.frombytes(part[: len(part) - len(part) % 4])
        return json.loads(data) if data else None

    def ask(self, message, fds=()):
        self.send(message, fds)
        return self.receive()

    def close(self):
        self.socket.close()


def remove_all():
    shutil.rmtree(POLICIES, ignore_errors=True)
