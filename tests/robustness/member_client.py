# SPDX-License-Identifier: Apache-2.0
"""A client of the daemon that cheats: run as a member, it prints what the daemon answers to it, as JSON."""

import array
import ctypes
import errno
import hashlib
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time

SOCKET = "/run/cordon/control.sock"
PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
NONE = hashlib.sha256(b"").hexdigest()


def connect(path=SOCKET):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.settimeout(60)
    client.connect(path)
    return client


def ask(client, message, fds=()):
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    try:
        client.sendmsg([json.dumps(message).encode()], ancillary)
    except BrokenPipeError:
        pass  # It was turned away, and the reason can be read all the same.
    data = client.recv(65536)
    return json.loads(data) if data else {"ok": False, "error": "closed"}


def prepare_message(**changes):
    message = {
        "op": "prepare", "version": 2, "policy": "shell-sandbox", "workdir": os.getcwd(), "home": False, "binds": [],
        "session": None, "agent": None, "executor": None, "language": None, "limits": {}, "observe": False, "log": None,
        "program": "true", "argument_count": 1, "arguments_sha256": NONE, "arguments_length": 5, "arguments": None,
        "code": {"source": "none", "path": None, "sha256": None, "length": 0}, "uid": os.getuid(), "gid": os.getgid(),
    }  # fmt: skip
    message.update(changes)
    return message


def directory(path):
    return os.open(path, os.O_PATH | os.O_DIRECTORY)


def prepare(client, fds=None, **changes):
    return ask(client, prepare_message(**changes), fds or [directory(".")])


def label(client, pid):
    return ask(client, {"op": "label", "environment_kept": [], "environment_removed": []}, [os.pidfd_open(pid)])


def no_new_privs():
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def lowered(limits):
    for name, kind in (("open_files", resource.RLIMIT_NOFILE), ("file_size_bytes", resource.RLIMIT_FSIZE)):
        if limits[name]:
            resource.setrlimit(kind, (limits[name], limits[name]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def child(*steps):
    """One that has taken these steps, and waits."""
    ready, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        die_with_parent()
        for step in steps:
            step()
        os.write(told, b"x")
        while True:
            signal.pause()
    os.read(ready, 1)
    return pid


def asked(**changes):
    print(json.dumps(prepare(connect(), **changes)))


def prepared():
    client = connect()
    reply = prepare(client)
    assert reply["ok"], reply
    return client, reply


def cheat_request(text):
    asked(**json.loads(text))


def cheat_ask(path, text):
    """Any request, by any socket; where that does not let it in, the errno."""
    try:
        client = connect(path)
    except OSError as error:
        print(json.dumps({"ok": False, "error": errno.errorcode[error.errno], "message": error.strerror}))
        return
    print(json.dumps(ask(client, json.loads(text))))


def cheat_directories(kind, path):
    """Another's home, or the whole host, in place of a directory."""
    fds = [directory("."), directory(path)]
    if kind == "workdir":
        asked(fds=fds[1:])
    elif kind == "home":
        asked(fds=fds, home=True)
    else:
        asked(fds=fds, binds=["data"], policy="bound")


def cheat_workdir_name():
    """Says that it is in another directory than it is."""
    client = connect()
    reply = prepare(client, workdir="/srv/somebody-else")
    print(json.dumps(ask(client, {"op": "ps"}) if reply["ok"] else reply))


def cheat_pidfd(pid):
    client, _ = prepared()
    print(json.dumps(label(client, int(pid))))


def cheat_sibling():
    """Its own process, but not its child: its parent's."""
    client, _ = prepared()
    print(json.dumps(label(client, os.getppid() if len(sys.argv) > 3 else os.getpid())))


def cheat_grandchild():
    client, _ = prepared()
    ready, told = os.pipe()
    if os.fork() == 0:
        die_with_parent()
        pid = child(no_new_privs)
        os.write(told, str(pid).encode())
        signal.pause()
    print(json.dumps(label(client, int(os.read(ready, 16)))))


def cheat_set_id(program):
    """A program that is root while it runs: it must not be confined in the middle of what it does."""
    client, _ = prepared()
    with subprocess.Popen([program, "60"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
            uids = next(line for line in file if line.startswith("Uid:")).split()[1:]
        assert "0" in uids, uids
        print(json.dumps(label(client, process.pid)))
        process.kill()


def cheat_privileges():
    """A child that could still become root by a set-id program."""
    client, reply = prepared()
    print(json.dumps(label(client, child(lambda: lowered(reply["limits"])))))


def cheat_limits():
    """A child whose limits its parent has not lowered."""
    client, _ = prepared()
    print(json.dumps(label(client, child(no_new_privs))))


def cheat_not():
    """One in which everything is right, to show that the others fail for what they say."""
    client, reply = prepared()
    pid = child(no_new_privs, lambda: lowered(reply["limits"]))
    answer = label(client, pid)
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
        answer["cgroup"] = file.read().strip()
    print(json.dumps(answer))


def cheat_handed_on():
    """A connection that another process made."""
    client = connect()
    if os.fork() == 0:
        print(json.dumps(prepare(client)), flush=True)
        os._exit(0)
    os.wait()


def cheat_reused():
    """A process that has the number of the one that connected, which is dead: the caller sees to the number."""
    client = connect()
    print(os.getpid(), flush=True)
    if os.fork() > 0:
        os._exit(0)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    sys.stdin.readline()
    if os.fork() == 0:
        print(json.dumps({"pid": os.getpid(), **prepare(client)}), flush=True)
        os._exit(0)
    time.sleep(2)


def cheat_hang(count, seconds):
    """Connections that say nothing, and some that ask and do not listen."""
    clients = []
    for i in range(int(count)):
        clients.append(connect())
        if i % 2:
            clients[-1].settimeout(0)
            try:
                while True:
                    clients[-1].send(b'{"op":"status"}')
            except OSError:
                pass
    extra = connect()
    print(json.dumps(json.loads(extra.recv(65536))), flush=True)
    time.sleep(float(seconds))


def cheat_flood():
    """Requests that are refused, and garbage, as fast as they are taken, until standard input is closed. Prints a line once both
    have been answered, and one at the end."""
    refused = garbage = 0
    told = False
    while not told or not select.select([sys.stdin], [], [], 0)[0]:
        client = connect()
        try:
            for _ in range(8):
                refused += not prepare(client, policy="no-such-policy")["ok"]
            client.send(b"\xff\x00{{{" * 100)
            garbage += not json.loads(client.recv(65536))["ok"]
        except OSError:
            pass
        client.close()
        if refused and garbage and not told:
            told = True
            print("flooding", flush=True)
    print(json.dumps({"refused": refused, "garbage": garbage}))


globals()["cheat_" + sys.argv[1].replace("-", "_")](*sys.argv[2:])
