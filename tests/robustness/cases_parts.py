# SPDX-License-Identifier: Apache-2.0
"""The parts of the daemon: which rights each keeps, and what becomes of the others when one is fed garbage or dies."""

import json
import os
import signal
import socket
import subprocess

from support import (
    CGROUPS,
    SOCKET,
    WORK,
    account_for_everything,
    case,
    check,
    cordon,
    daemon,
    ends,
    ensure_daemon,
    equal,
    execution_cgroups,
    exists,
    finish,
    gone,
    kill,
    matches,
    nothing_left,
    others,
    processes,
    run,
    start,
    starts,
    status_of,
    wait_for,
)

# Of a daemon that does not load modules, reboot, set the clock, make device nodes or raw sockets.
CAPABILITIES_GONE = {"setpcap": 8, "net_raw": 13, "sys_module": 16, "sys_rawio": 17, "sys_boot": 22, "sys_time": 25, "mknod": 27}


def readers():
    return [key[0] for key, line in processes().items() if line.startswith("cordon daemon --request-reader")]


def connect():
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.settimeout(120)
    client.connect(SOCKET)
    return client


def ask(client, data):
    """The answer, or None where the connection was closed instead."""
    try:
        client.send(data if isinstance(data, bytes) else json.dumps(data).encode())
        answer = client.recv(65536)
    except (BrokenPipeError, ConnectionResetError):
        return None
    return json.loads(answer) if answer else None


def one_reader():
    """Root's."""
    equal(cordon("status").status, 0, "status")
    (pid,) = readers()
    return pid


@case("rights: what reads clients' bytes has none, the daemon has given up what it does not need")
def rights():
    ensure_daemon()
    status = status_of(one_reader())
    equal(status["Uid"].split(), ["65531"] * 4, "user of the reader")
    equal(status["Gid"].split(), ["65531"] * 4, "group of the reader")
    equal(status["Groups"], "", "groups of the reader")
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        equal(int(status[name], 16), 0, f"{name} of the reader")
    equal((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"), "no_new_privs and seccomp of the reader")
    root = os.readlink(f"/proc/{one_reader()}/root")
    equal((root, os.listdir(f"/proc/{one_reader()}/root")), ("/run/cordon/empty", []), "root of the reader")
    links = [os.readlink(f"/proc/{one_reader()}/fd/{n}") for n in os.listdir(f"/proc/{one_reader()}/fd") if n != "2"]
    equal([link for link in links if link != "/dev/null" and not link.startswith("socket:")], [], "files of the reader")
    status = status_of(daemon())
    for name, number in CAPABILITIES_GONE.items():
        for kind in ("CapPrm", "CapEff", "CapBnd"):
            check(not int(status[kind], 16) & 1 << number, f"{name} is in {kind} of the daemon")
    equal((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"), "no_new_privs and seccomp of the daemon")


@case("garbage: it is answered, the connection is closed, and nobody else notices")
def garbage():
    ensure_daemon()
    before = daemon()
    for data in (
        b"\0", b"{", b"[]", b"\xff\xfe{}", b'"text"', b"{}", b'{"op":1}', b'{"op":"x"}', b'{"op":"status","x":1}', b"[" * 60000,
        b'{"op":"status","op":"status"}', b'{"op":"ps","from":-1}', b'{"op":"ps","from":1e300}', b'{"op":"kill","id":"..\\u0000"}',
        b'{"op":"prepare","version":2}', b'{"op":"ended","status":"0"}', b'{"op":"stop","force":null}', b'{"op":"label"}',
        b'{"x":' + b'[' * 100 + b']' * 100 + b'}', b'{"op":"' + b"y" * 60000 + b'"}',
    ):  # fmt: skip
        client = connect()
        answer = ask(client, data)
        check(answer is not None and answer["ok"] is False, f"answer to {data[:40]!r}: {answer}")
        check(len(answer["message"]) > 5, f"message for {data[:40]!r}: {answer}")
        client.close()
    # As many as there may be, each with something else in the way.
    clients = [connect() for _ in range(100)]
    for client in clients[:50]:
        client.send(b'{"op":"status"')
    equal(run("true").status, 0, "a run meanwhile")
    for client in clients:
        client.close()
    equal(daemon(), before, "the daemon")
    account_for_everything()


@case("SIGKILL and SIGSTOP of what reads clients' bytes: what runs goes on, and whoever asks then is answered")
def reader_dies():
    ensure_daemon()
    before = others()
    process = start("sh", "-c", ": >up; until [ -e stop ]; do sleep 0.1; done")
    wait_for(lambda: exists("up"), 20, "the start")
    pid = one_reader()
    client = connect()
    kill(pid)
    wait_for(lambda: gone(pid), 20, "the reader's death")
    answer = ask(client, {"op": "status"})
    check(answer["ok"], f"answer {answer}")
    client.close()
    check(one_reader() != pid, "it is the same reader")
    # One that hangs is given up.
    pid = one_reader()
    kill(pid, signal.SIGSTOP)
    client = connect()
    answer = ask(client, {"op": "status"})
    equal((answer["ok"], answer["error"]), (False, "EPROTO"), f"answer {answer}")
    client.close()
    wait_for(lambda: gone(pid), 20, "the hanging reader's death")
    with open(os.path.join(WORK, "stop"), "w", encoding="utf-8"):
        pass
    equal(finish(process), 0, "status of what ran")
    nothing_left(before)
    account_for_everything()


def moved_out_and_removed(path):
    """Moves out what is in a cgroup, and removes it: what forks meanwhile is moved by the next call."""
    with open(os.path.join(path, "cgroup.procs"), encoding="utf-8") as file:
        inside = file.read().split()
    for pid in inside:
        with open("/sys/fs/cgroup/cgroup.procs", "w", encoding="utf-8") as file:
            file.write(pid)
    return not subprocess.run(["rmdir", path], capture_output=True, check=False).returncode


@case("a cgroup that somebody deleted: the label alone ends all, and the next run has one again")
def deleted_cgroup():
    ensure_daemon()
    before = others()
    process = start("sh", "-c", "setsid sleep 5432 & : >up; sleep 5432")
    wait_for(lambda: exists("up"), 20, "the start")
    (name,) = set(starts()) - set(ends())
    path = os.path.join(CGROUPS, name)
    wait_for(lambda: moved_out_and_removed(path), 20, "the removal")
    equal(cordon("ps").status, 0, "ps")
    equal(cordon("kill", name).status, 0, "kill")
    equal(finish(process), 137, "status")
    check(not [line for line in processes().values() if "sleep 5432" in line and not line.startswith("/")], "it lives")
    # And the one above all.
    equal(execution_cgroups(), [], "cgroups")
    os.rmdir(CGROUPS)
    result = run("sh", "-c", "cat /etc/shadow || echo refused")
    if result.status != 125:
        equal(result.out, b"refused\n", f"a run ({result.text})")
    else:
        matches(result.text, "cgroup", "what it says")
    pid = daemon()
    kill(pid)
    wait_for(lambda: gone(pid), 20, "the daemon's death")
    equal(run("sh", "-c", "cat /etc/shadow || echo refused").out, b"refused\n", "a run under the next daemon")
    nothing_left(before)
    account_for_everything()


@case("a state directory that is gone: nothing starts, what runs stays confined, and the next daemon makes another")
def no_state_directory():
    pid = ensure_daemon()
    before = others()
    process = start("sh", "-c", ": >up; until [ -e stop ]; do sleep 0.1; done; cat /etc/shadow || exit 3")
    wait_for(lambda: exists("up"), 20, "the start")
    for name in os.listdir("/run/cordon/executions"):
        os.unlink(f"/run/cordon/executions/{name}")
    os.rmdir("/run/cordon/executions")
    result = run("touch", "made")
    equal(result.status, 125, "status")
    matches(result.text, "cannot write the state of the execution below /run/cordon", "what it says")
    check(not exists("made"), "it ran")
    with open(os.path.join(WORK, "stop"), "w", encoding="utf-8"):
        pass
    equal(finish(process), 3, "status of what ran")
    kill(pid)
    wait_for(lambda: gone(pid), 20, "the daemon's death")
    equal(run("true").status, 0, "a run under the next daemon")
    nothing_left(before)
    account_for_everything()


@case("status: one line and a status for probes, also where the daemon hangs or there is none")
def probe():
    pid = ensure_daemon()
    result = cordon("status")
    equal((result.status, result.out.decode().count("\n")), (0, 1), "status and lines")
    found = json.loads(cordon("status", "--json").out)
    equal((found["enforcing"], found["daemon"], found["pid"]), (True, True, pid), "as JSON")
    kill(pid, signal.SIGSTOP)
    try:
        equal(cordon("status").status, 3, "status while it hangs")
    finally:
        kill(pid, signal.SIGCONT)
    wait_for(lambda: cordon("status").status == 0, 20, "its answer")
    kill(pid)
    wait_for(lambda: gone(pid), 20, "the daemon's death")
    equal(cordon("status").status, 2, "status without a daemon")
    equal(run("true").status, 0, "a run")
