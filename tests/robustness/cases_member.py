# SPDX-License-Identifier: Apache-2.0
"""Users who are not root: what members of the group cordon may do, and that nothing else can be had by cheating."""

import contextlib
import grp
import json
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import time

from service import (
    CLIENT,
    PROXY,
    STATUS_SOCKET,
    WATCHER,
    WHO_SOCKET,
    Client,
    as_user,
    cheat,
    ensure_standing,
    home,
    identity,
    policy,
    run_as,
    start_as,
    start_daemon,
    standing,
)
from support import (
    CORDON,
    PATIENCE,
    SOCKET,
    account_for_everything,
    action,
    case,
    check,
    cordon,
    ends,
    equal,
    execution_id,
    finish,
    gone,
    kill,
    last_end,
    matches,
    nothing_left,
    processes,
    records,
    run,
    starts,
    wait_for,
)


def refused(answer, error, pattern):
    equal((answer.get("ok"), answer.get("error")), (False, error), f"answer {answer}")
    matches(answer["message"], pattern, "message")


def last_start():
    return [r for r in records() if action(r) == "execution-start"][-1]


@case("a member runs under a policy that allows it: as that user, confined, limited, recorded")
def member_runs():
    ensure_standing()
    mode = os.stat(SOCKET)
    equal(stat.S_IMODE(mode.st_mode), 0o660, "mode of the socket")
    alice = pwd.getpwnam("alice")
    script = "id -u; cat /etc/passwd >/dev/null 2>&1 && echo opened; ulimit -n; echo x >made; echo $TMPDIR; exit 7"
    result = run_as("alice", "sh", "-c", script, options=["--open-files", "100", "--session", "s", "--timeout", "50s"])
    equal(result.status, 7, f"status ({result.text})")
    lines = result.out.decode().splitlines()
    equal((lines[0], lines[-2]), (str(alice.pw_uid), "100"), "user and limit")
    matches(lines[-1], r"^/tmp/cordon-", "temporary directory")
    equal(os.stat(os.path.join(home("alice"), "made")).st_uid, alice.pw_uid, "owner of what it made")
    start = last_start()
    equal(start["user"]["id"], str(alice.pw_uid), "user on record")
    end = ends()[execution_id(start)]
    equal((end["cordon"]["end"]["cause"], end["cordon"]["end"]["exit_code"]), ("exited", 7), "end")


@contextlib.contextmanager
def secret_of_alice():
    """A file that she may read, and what is run for her may not."""
    path = "/tmp/secret-of-alice"
    with open(path, "w", encoding="utf-8") as file:
        file.write("x")
    os.chown(path, pwd.getpwnam("alice").pw_uid, -1)
    try:
        yield path
    finally:
        os.unlink(path)


@case("a member's run is confined from its first instruction on, and all of it ends with it")
def member_is_confined():
    ensure_standing()
    before = processes()
    with secret_of_alice() as path:
        result = run_as("alice", "sh", "-c", f"cat {path}; setsid sleep 4321 & echo $?")
    equal(result.out, b"0\n", f"output ({result.text})")
    check(last_end()["cordon"]["counters"]["denials"] > 0, "nothing was denied")
    nothing_left(before)
    # The executor's own signals reach it, and its deadline holds.
    result = run_as("alice", "sh", "-c", "trap '' TERM; sleep 4321", options=["--timeout", "1s"])
    equal(result.status, 124, "status of one that timed out")
    process = start_as("alice", "sh", "-c", "sleep 4321")
    wait_for(lambda: [line for line in processes().values() if line.startswith("sleep 4321")], 20, "its start")
    process.kill()
    process.wait()
    nothing_left(before)
    wait_for(lambda: set(starts()) == set(ends()), 10, "the end record")
    account_for_everything()


@case("who is not a member may nothing")
def stranger():
    ensure_standing()
    for arguments in (["run", "--policy", "shell-sandbox", "--", "true"], ["ps"], ["kill", "0190"], ["top"]):
        result = as_user("eve", *arguments)
        check(result.status != 0, f"{arguments}: status 0")
        matches(result.text, "only root and members of the group cordon", f"{arguments}")
    # Even where somebody opens the socket to all, the daemon knows who asks.
    os.chmod(SOCKET, 0o666)
    try:
        result = cheat("eve", "request", "{}")
        refused(result, "EPERM", "only root and members of the group cordon")
    finally:
        os.chmod(SOCKET, 0o660)


@case("members of cordon-watch may ask for status, at a socket where nobody may ask for anything else")
def watchers():
    ensure_standing()
    status, stop = '{"op":"status"}', '{"op":"stop","force":false}'
    equal((os.stat(STATUS_SOCKET).st_mode & 0o777, os.stat(STATUS_SOCKET).st_gid), (0o660, grp.getgrnam("cordon-watch").gr_gid), "socket")
    with secret_of_alice() as path:
        run_as("alice", "cat", path)
    answer = cheat(WATCHER, "ask", STATUS_SOCKET, status)
    equal((answer["ok"], answer["enforcing"]), (True, True), "what a watcher is told")
    totals = answer["totals"]
    check(totals["started"] > 0 and totals["denials"] > 0 and totals["ended"]["exited"] > 0, f"totals: {totals}")
    check(answer["log_figures"]["written_bytes"] > 0 and answer["log_figures"]["free_bytes"] > 0, f"log: {answer['log_figures']}")
    for request in (stop, '{"op":"ps"}', '{"op":"hello","version":2}', '{"op":"kill","id":"' + "0" * 36 + '"}'):
        refused(cheat(WATCHER, "ask", STATUS_SOCKET, request), "EPERM", "nothing but status")
    # Root may stop the daemon, but not by that socket; the watcher does not reach the other; others reach neither.
    client = Client(STATUS_SOCKET)
    refused(client.ask(json.loads(stop)), "EPERM", "nothing but status")
    client.close()
    equal(cheat(WATCHER, "ask", SOCKET, status)["error"], "EACCES", "at the control socket")
    for name in ("eve", "alice"):
        equal(cheat(name, "ask", STATUS_SOCKET, status)["error"], "EACCES", f"{name} at the status socket")
    equal(cheat("alice", "ask", SOCKET, status)["ok"], True, "a member's status")
    # What is made of it for Prometheus.
    result = as_user(WATCHER, "watch")
    equal(result.status, 0, f"status of cordon watch ({result.text})")
    found = dict(line.rsplit(" ", 1) for line in result.out.decode().splitlines() if not line.startswith("#"))
    equal((found["cordon_up"], found["cordon_enforcing"], found["cordon_watch_series_left_out"]), ("1", "1", "0"), "of a daemon")
    check(70 < len(found) <= 100, f"{len(found)} series")
    check(int(found["cordon_denials_total"]) > 0 and int(found["cordon_log_written_bytes_total"]) > 0, f"{found}")
    equal(as_user("eve", "watch").out.count(b"cordon_up 0\n"), 1, "a stranger's")
    # As many as may look, and no more; who may run things is not in their way.
    clients = [Client(STATUS_SOCKET) for _ in range(16)]
    refused(Client(STATUS_SOCKET).receive(), "EUSERS", "too many")
    equal(run_as("alice", "true").status, 0, "a run beside them")
    for client in clients:
        client.close()
    wait_for(lambda: cheat(WATCHER, "ask", STATUS_SOCKET, status)["ok"], 10, "room")


@case("members of cordon-who are told whose everything is, at a socket where nobody may ask for anything else")
def proxies():
    ensure_standing()
    equal((os.stat(WHO_SOCKET).st_mode & 0o777, os.stat(WHO_SOCKET).st_gid), (0o660, grp.getgrnam("cordon-who").gr_gid), "socket")
    process = start_as("alice", "sh", "-c", "sleep 4322")

    def sleeper():
        return [pid for (pid, _), line in processes().items() if line.startswith("sleep 4322")]

    wait_for(sleeper, 20, "its start")
    pid = sleeper()[0]
    result = as_user(PROXY, "who", "--json", str(pid))
    equal(result.status, 0, f"status ({result.text})")
    answer = json.loads(result.out)
    equal([(found["id"], found["policy"]) for found in answer], [(execution_id(last_start()), last_start()["cordon"]["policy"]["name"])], "what a proxy is told")
    # Others of the group cordon know their own, and by the other socket; strangers nothing.
    equal([as_user(name, "who", str(pid)).status for name in ("alice", "bob", "eve", WATCHER)], [0, 3, 1, 1], "what others are told")
    for request in ('{"op":"status"}', '{"op":"ps"}', '{"op":"hello","version":2}', '{"op":"kill","id":"' + "0" * 36 + '"}', '{"op":"stop","force":false}'):
        refused(cheat(PROXY, "ask", WHO_SOCKET, request), "EPERM", "nothing but who")
    for socket in (SOCKET, STATUS_SOCKET):
        equal(cheat(PROXY, "ask", socket, '{"op":"status"}')["error"], "EACCES", f"a proxy at {socket}")
    process.kill()
    process.wait()
    wait_for(lambda: set(starts()) == set(ends()), 10, "the end record")


@case("a member names policies that root installed, and of these those that allow it")
def policies():
    ensure_standing()
    policy("for-bob", "run_by: [bob]")
    policy("for-root", "run_by: []")
    policy("broken", "mode: [")
    equal(run_as("bob", "true", policy="for-bob").status, 0, "bob's own")
    for name in ("for-bob", "for-root", "build-c"):
        result = run_as("alice", "touch", "made-by-nobody", policy=name)
        equal(result.status, 125, f"status under {name}")
        matches(result.text, r"does not let user \d+ run anything", name)
    for name in ("/etc/shadow", "../../etc/shadow", "wide.yaml"):
        with open(os.path.join(home("alice"), "wide.yaml"), "w", encoding="utf-8") as file:
            file.write("version: 1\nmode: observe\nrun_by: [alice]\n")
        result = run_as("alice", "touch", "made-by-nobody", policy=name)
        equal(result.status, 125, f"status under {name}")
        matches(result.text, "only root may name a policy by its file", name)
        check("root:" not in result.text, "the file's text came back")
    result = run_as("alice", "true", policy="broken")
    matches(result.text, "cannot be used.*tells root why", "a broken policy")
    check("mode" not in result.text, "its text came back")
    check(not os.path.exists(os.path.join(home("alice"), "made-by-nobody")), "something ran")


@case("a member chooses no log, no other user, no observation, no higher limit, and no foreign directory")
def choices():
    ensure_standing()
    policy("bound", 'run_by: ["@cordon"]', "variables: [venv, data]")
    log = os.path.join(home("alice"), "log")
    for options, pattern in (
        (["--log", log], "only root may choose another log"),
        (["--user", "bob"], "only root may run something as another user"),
        (["--user", "root"], "only root may run something as another user"),
        (["--observe"], "only root may have a policy observed"),
        (["--timeout", "9h"], "can only lower a limit"),
        (["--memory", "64G"], "can only lower a limit"),
        (["--workdir", "/etc"], "system directory"),
        (["--workdir", "/home/alice"], "home directory"),
    ):
        result = run_as("alice", "touch", "made-by-nobody", options=options)
        equal(result.status, 125, f"{options}: status")
        matches(result.text, pattern, f"{options}")
    check(not os.path.exists(log), "a log was made")
    os.symlink("/etc", os.path.join(home("alice"), "link"))
    matches(run_as("alice", "true", options=["--workdir", "link"]).text, "symbolic link", "a link as work directory")
    os.unlink(os.path.join(home("alice"), "link"))
    equal(run_as("alice", "id", "-u", options=["--user", "alice"]).status, 0, "its own user by name")
    for forged, pattern in (
        ({"uid": 0}, "another user"),
        ({"gid": 0}, "not in group 0"),
        ({"policy": "/proc/self/environ"}, "by its file"),
        ({"observe": True}, "observed"),
        ({"limits": {"pids": 2**40}}, "can only lower"),
    ):
        refused(cheat("alice", "request", json.dumps(forged)), "EPERM", pattern)
    for kind, path, pattern in (
        ("workdir", "/etc", "system directory"),
        ("workdir", "/proc/self", "system directory|host has mounted"),
        ("home", "/", "not that of user"),
        ("home", "/home/bob", "not that of user"),
        ("bind", "/", r"\$\{data\}"),
        ("bind", "/etc", r"\$\{data\}"),
        ("bind", "/run/cordon", r"\$\{data\}.*cordon's own"),
    ):
        refused(cheat("alice", "directories", kind, path), "EPERM", pattern)
    # What a user mounted for itself alone is no directory of the host's.
    forged = json.dumps({"uid": pwd.getpwnam("alice").pw_uid, "gid": pwd.getpwnam("alice").pw_gid})
    own = f"mount -t tmpfs x /mnt && cd /mnt && exec {sys.executable} {CLIENT} request '{forged}'"
    result = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", own],
        **identity("alice"), capture_output=True, cwd="/", timeout=PATIENCE,
    )  # fmt: skip
    matches(result.stdout.decode() + result.stderr.decode(), "no file system that this host has mounted", "a mount of its own")


@case("a member's word for where it works is not taken: records name the directory itself")
def told_directory():
    ensure_standing()
    answer = cheat("alice", "workdir-name")
    equal([e["workdir"] for e in answer["executions"]], [home("alice")], f"directory in {answer}")


@case("a member has nothing labelled but its own child, which can gain nothing")
def labels():
    ensure_standing()
    victim = subprocess.Popen(["sleep", "7654"], cwd="/")
    own = subprocess.Popen(["sleep", "7654"], cwd="/", **identity("alice"))
    set_id = os.path.join(home("alice"), "..", "set-id-sleep")
    shutil.copy("/usr/bin/sleep", set_id)
    os.chmod(set_id, 0o4755)
    try:
        refused(cheat("alice", "pidfd", victim.pid), "EPERM", "not a child of the client")
        refused(cheat("alice", "pidfd", own.pid), "EPERM", "not a child of the client")
        refused(cheat("alice", "pidfd", standing()[0]), "EPERM", "not a child of the client")
        refused(cheat("alice", "sibling"), "EPERM", "not a child of the client")
        refused(cheat("alice", "grandchild"), "EPERM", "not a child of the client")
        refused(cheat("alice", "set-id", set_id), "EPERM", "does not run as user")
        refused(cheat("alice", "privileges"), "EPERM", "no_new_privs")
        refused(cheat("alice", "limits"), "EPERM", "limits of process")
        answer = cheat("alice", "not")
        check(answer["ok"], f"one in which all is right: {answer}")
        matches(answer["cgroup"], "/cordon/[0-9a-f-]{36}$", "its cgroup")
        equal((victim.poll(), own.poll()), (None, None), "the victims")
        for process in (victim, own):
            with open(f"/proc/{process.pid}/cgroup", encoding="utf-8") as file:
                check("/cordon/" not in file.read(), "a victim is in an execution's cgroup")
    finally:
        os.unlink(set_id)
        for process in (victim, own):
            process.kill()
            process.wait()


@case("a connection is of the process that made it: handed on, or its number used again, it is nobody's")
def handed_on():
    ensure_standing()
    refused(cheat("alice", "handed-on"), "EPERM", "another process's")
    for _ in range(20):
        process = subprocess.Popen(
            [sys.executable, CLIENT, "reused"], cwd=home("alice"), **identity("alice"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        pid = int(process.stdout.readline())
        process.wait()
        with open("/proc/sys/kernel/ns_last_pid", "w", encoding="utf-8") as file:
            file.write(str(pid - 1))
        process.stdin.write(b"\n")
        process.stdin.close()
        answer = json.loads(process.stdout.readline())
        process.stdout.close()
        if answer["pid"] == pid:
            refused(answer, "ESRCH", "is gone")
            return
        refused(answer, "EPERM", "another process's")
    check(False, "the number was never used again")


@case("members see and end their own executions, root all of them")
def see_and_end():
    ensure_standing()
    processes_of = {name: start_as(name, "sh", "-c", "sleep 3456") for name in ("alice", "bob")}
    processes_of["root"] = subprocess.Popen(
        [CORDON, "run", "--policy", "shell-sandbox", "--workdir", home("bob"), "--", "sh", "-c", "sleep 3456"],
        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    ids = {}

    def live(name):
        result = as_user(name, "ps", "--json") if name != "root" else cordon("ps", "--json")
        return [e["id"] for e in json.loads(result.out) if e["state"] == "live"]

    wait_for(lambda: len(live("root")) == 3, 30, "three executions")
    for name in ("alice", "bob"):
        ids[name] = live(name)
        equal(len(ids[name]), 1, f"executions that {name} sees")
    ids["root"] = [found for found in live("root") if [found] not in (ids["alice"], ids["bob"])]
    for name in ("alice", "root"):
        result = as_user("bob", "kill", ids[name][0])
        equal(result.status, 2, f"bob's kill of {name}'s ({result.text})")
    equal(sorted(live("root")), sorted(ids["alice"] + ids["bob"] + ids["root"]), "executions that live on")
    equal(as_user("alice", "kill", ids["alice"][0]).status, 0, "alice's kill of her own")
    equal(cordon("kill", ids["bob"][0]).status, 0, "root's kill of bob's")
    equal(cordon("kill", ids["root"][0]).status, 0, "root's kill of its own")
    for process in processes_of.values():
        equal(finish(process), 137, "status of what was killed")
    equal(as_user("alice", "status").status, 0, "status")
    for arguments in (
        ["disable"],
        ["disable", "--force"],
        ["policy", "apply", "tight", "--all-of", "shell-sandbox"],
    ):
        result = as_user("alice", *arguments)
        check(result.status != 0, f"{arguments}: status 0")
    equal(len(standing()), 1, "daemons")


@case("a member's execution goes on under the next daemon: still that member's, and nobody else's")
def resumed():
    pid = ensure_standing()
    process = start_as("alice", "sh", "-c", "until [ -e stop ]; do sleep 0.2; done; id -u >who; exit 9")

    def seen_by(name):
        return [e["id"] for e in json.loads(as_user(name, "ps", "--json").out) if e["state"] == "live"]

    wait_for(lambda: seen_by("alice"), 30, "its start")
    (found,) = seen_by("alice")
    kill(pid)
    wait_for(lambda: gone(pid), 30, "the daemon's death")
    start_daemon()
    equal((seen_by("alice"), seen_by("bob")), ([found], []), "what alice and bob see")
    equal(as_user("bob", "kill", found).status, 2, "bob's kill of alice's")
    with open(os.path.join(home("alice"), "stop"), "w", encoding="utf-8"):
        pass
    equal(finish(process), 9, "status")
    wait_for(lambda: found in ends(), 30, "the end record")
    equal((ends()[found]["cordon"]["end"]["cause"], ends()[found]["cordon"]["end"]["exit_code"]), ("exited", 9), "end")
    os.unlink(os.path.join(home("alice"), "stop"))
    account_for_everything()


def readers():
    return [key[0] for key, line in processes().items() if line.startswith("cordon daemon --request-reader")]


@case("SIGSTOP of what reads one member's bytes: that member waits and is told, and nobody else waits")
def reader_hangs():
    ensure_standing()
    # Those of earlier cases go, so that alice's is the only one.
    for pid in readers():
        kill(pid)
    wait_for(lambda: not readers(), PATIENCE, "the readers' death")
    equal(as_user("alice", "ps").status, 0, "alice's ps")
    (pid,) = readers()
    kill(pid, signal.SIGSTOP)
    begin = time.monotonic()
    waiting = [
        subprocess.Popen([CORDON, "ps"], cwd=home("alice"), **identity("alice"), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        for _ in range(3)
    ]
    equal(as_user("bob", "ps").status, 0, "bob's ps meanwhile")
    equal(cordon("status").status, 0, "status meanwhile")
    equal(run_as("bob", "true").status, 0, "bob's run meanwhile")
    # It is given up after 10 s: on a crowded machine bob may have taken longer.
    if time.monotonic() - begin < 9:
        equal([process.poll() for process in waiting], [None] * 3, "what alice asks meanwhile")
    told = [process.communicate(timeout=120)[1].decode() for process in waiting]
    # The one whose bytes it had; what was in line behind them goes to another.
    equal(sorted(bool(process.returncode) for process in waiting), [False, False, True], f"statuses ({told})")
    matches("".join(told), "has failed over this one", "what alice is told")
    wait_for(lambda: gone(pid), PATIENCE, "the hanging reader's death")
    equal(run_as("alice", "true").status, 0, "alice's run afterwards")
    account_for_everything()


@case("clients that hang, do not listen or flood harm neither root nor other members, and are bounded")
def hostile():
    ensure_standing()
    before = len([r for r in records() if action(r) == "execution-refused"])
    hangs = subprocess.Popen(
        [sys.executable, CLIENT, "hang", "64", "100000"], cwd=home("alice"), **identity("alice"), stdout=subprocess.PIPE
    )
    answer = json.loads(hangs.stdout.readline())
    refused(answer, "EUSERS", "too many connections")
    begin = time.monotonic()
    flood = subprocess.Popen(
        [sys.executable, CLIENT, "flood"], cwd=home("alice"), **identity("bob"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    # It goes on until its standard input is closed.
    equal(flood.stdout.readline(), b"flooding\n", "the flood's beginning")
    for _ in range(3):
        equal(run("true").status, 0, "root's run meanwhile")
        equal(cordon("status").status, 0, "status meanwhile")
    equal(flood.poll(), None, "status of the flood meanwhile")
    flood.stdin.close()
    flood.wait(PATIENCE)
    hangs.terminate()
    hangs.wait()
    took = time.monotonic() - begin
    equal(flood.returncode, 0, "the flood")
    done = json.loads(flood.stdout.read())
    hangs.stdout.close()
    flood.stdout.close()
    check(done["refused"] > 0 and done["garbage"] > 0, f"nothing was answered: {done}")
    written = len([r for r in records() if action(r) == "execution-refused"]) - before
    check(written <= 25 * took + 60, f"{written} refusals on record within {took:.1f} s")
    equal(run_as("alice", "true").status, 0, "alice's run afterwards")
    account_for_everything()
