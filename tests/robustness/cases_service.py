# SPDX-License-Identifier: Apache-2.0
"""The daemon as a service: what it tells its manager, and one build that takes over from another."""

import json
import os
import signal
import socket

from executor import OUTSIDE, UNDER, Agent, configure
from service import ensure_standing, policy, refused, said, spawn_daemon, standing, start_daemon, stop_all
from support import (
    CORDON,
    ESCAPED,
    LOG,
    PINS,
    ROOT,
    WORK,
    Failed,
    account_for_everything,
    action,
    case,
    check,
    cordon,
    equal,
    execute,
    exists,
    finish,
    matches,
    nothing_left,
    others,
    processes,
    read,
    status_of,
    records,
    run,
    start,
    wait_for,
    write,
)

VARIANTS = os.path.join(os.path.dirname(CORDON), "variants")
NEWER = os.path.join(VARIANTS, "newer", "cordon")
OTHER_MAPS = os.path.join(VARIANTS, "other-maps", "cordon")

# Tries what is forbidden without a pause. If ever it succeeds, there is a file that says so.
HAMMER = f"""
exec 2>/dev/null
i=0
while :; do
	if read -r line </etc/shadow; then : >opened; fi
	if echo x >{ESCAPED}; then : >opened; fi
	(if cat /etc/shadow; then : >opened; fi) >/dev/null
	i=$((i + 1))
	echo $i >beat.$1
done
"""


def hammers(count):
    """Executions that go on until they are killed."""
    path = policy("hammer", "limits: {wall: 20m, memory: 512M}", "on_denial: {limit: 0, action: none}")
    write("hammer", HAMMER)
    for i in range(count):
        if exists(f"beat.{i}"):
            os.unlink(os.path.join(WORK, f"beat.{i}"))
    found = [start("sh", "hammer", str(i), policy=path) for i in range(count)]
    wait_for(lambda: all(exists(f"beat.{i}") for i in range(count)), 60, "their start")
    return found


def beats(count):
    return [int(read(f"beat.{i}") or 0) for i in range(count)]


def confined():
    check(not exists("opened"), "something forbidden succeeded")
    check(not os.path.exists(ESCAPED), "something forbidden was written")


def go_on(count):
    before = beats(count)
    wait_for(lambda: all(now > was for now, was in zip(beats(count), before)), 60, "the executions going on")


def end_all(runs):
    """They went on under the daemon that there is: it ends them."""
    listed = [e["id"] for e in json.loads(cordon("ps", "--json").out) if e["state"] == "live"]
    equal(len(listed), len(runs), "executions that go on")
    for name in listed:
        equal(cordon("kill", name).status, 0, "kill")
    equal([finish(process) for process in runs], [137] * len(runs), "statuses")


def kill_hammers(runs):
    for run_process in runs:
        run_process.kill()
        run_process.wait()
    wait_for(lambda: not [line for line in processes().values() if line.startswith("sh hammer")], 60, "their end")
    confined()


def has_variant():
    return os.path.exists(os.path.join(PINS, "programs", "cordon_variant"))


def last_origin():
    return [r for r in records() if action(r) == "agent-start"][-1]["cordon"]["agent"]["enforcement"]


@case("the manager hears when the daemon serves, that it lives, and that it stops; the pid file is there meanwhile")
def manager():
    stop_all()
    path = os.path.join(ROOT, "notify")
    pid_file = os.path.join(ROOT, "daemon.pid")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(path)
        listener.settimeout(120)
        environment = {"PATH": "/usr/bin:/usr/sbin", "NOTIFY_SOCKET": path, "WATCHDOG_USEC": "1000000"}
        process = spawn_daemon("--pid-file", pid_file, environment=environment)
        heard = [listener.recv(4096).decode() for _ in range(4)]
        check(heard[0].startswith("READY=1\n"), f"the first word: {heard}")
        equal(heard[1:], ["WATCHDOG=1"] * 3, "what follows")
        equal(cordon("status").status, 0, "status once it is ready")
        with open(pid_file, encoding="utf-8") as file:
            equal(int(file.read()), process.pid, "pid file")
        # One that hangs is not heard of.
        process.send_signal(signal.SIGSTOP)
        wait_for(lambda: status_of(process.pid)["State"].startswith("T"), 30, "the daemon's stop")
        listener.settimeout(0.1)
        drained = 0
        try:
            while True:
                drained += len(listener.recv(4096)) > 0
        except TimeoutError:
            pass
        listener.settimeout(2)
        try:
            raise Failed(f"a stopped daemon says {listener.recv(4096)!r}")
        except TimeoutError:
            pass
        process.send_signal(signal.SIGCONT)
        listener.settimeout(60)
        process.terminate()
        wait_for(lambda: listener.recv(4096) == b"STOPPING=1", 60, "the last word")
        wait_for(lambda: process.poll() is not None, 60, "its end")
        equal(process.returncode, 0, "status")
    os.unlink(path)
    check(not os.path.exists(pid_file), "the pid file is still there")
    check(os.path.exists(os.path.join(PINS, "links")), "enforcement went with the daemon")


def heard():
    return [r["cordon"]["agent"] for r in records() if action(r) == "agent-heartbeat"]


@case("heartbeats say how the daemon stands, and `events` shows them when it is asked to")
def heartbeats():
    start_daemon("--heartbeat", "1")
    before = len(heard())
    matches(refused("--heartbeat", "often"), "--heartbeat often: seconds, 0 to 86400", "what it says")
    process = start("sh", "-c", "cat /etc/shadow; sleep 600")
    wait_for(lambda: len(heard()) > before and heard()[-1]["totals"]["denials"] == 1, 60, "one after the denial")
    beat = heard()[-1]
    equal(beat["executions"], 1, "executions")
    equal(beat["interval"], 1, "interval")
    start_record = [r for r in records() if action(r) == "execution-start"][-1]
    ran_under = start_record["cordon"]["policy"]
    equal(beat["policies"], [{"name": ran_under["name"], "digest": ran_under["digest"]}], "policies")
    process.terminate()
    finish(process)
    wait_for(lambda: heard()[-1]["executions"] == 0, 60, "one without it")
    equal(heard()[-1]["policies"], [], "policies")
    stop_all()
    seen = len(heard())
    for options in ([], ["-n", "1000"]):
        equal(cordon("events", *options, "--log", LOG).out.count(b"live"), 0, f"events {options}")
        shown = cordon("events", *options, "--heartbeats", "--log", LOG).out
        check(b" heartbeat " in shown and b"1 execution live" in shown, f"events --heartbeats {options}")
    equal(cordon("events", "-o", "json", "--log", LOG).out.count(b'"agent-heartbeat"'), seen, "as JSON")
    # Without the option that asks for one each minute, or with 0, there is none.
    start_daemon()
    equal(run("true").status, 0, "a run")
    equal(len(heard()), seen, "heartbeats of a daemon that makes none")
    account_for_everything()


@case("a second daemon is refused, and does not touch the first")
def second():
    pid = ensure_standing()
    matches(refused(), "another cordon daemon runs", "what it says")
    equal(standing(), [pid], "daemons")


@case("a daemon of a newer build takes over with executions running: no access is let through meanwhile")
def upgrade():
    ensure_standing()
    before = others()
    runs = hammers(2)
    stop_all()
    check(not has_variant(), "the newer build's program is there before")
    at_start = beats(2)
    process = spawn_daemon(executable=NEWER)
    wait_for(has_variant, 120, "the newer build's programs")
    go_on(2)
    wait_for(lambda: cordon("status").status == 0 or process.poll() is not None, 120, "the newer daemon")
    check(process.poll() is None, f"it ended: {said()[-500:]}")
    check(all(now > was + 5 for now, was in zip(beats(2), at_start)), "the executions stood still")
    equal(last_origin(), "upgraded", "enforcement")
    equal(os.listdir(os.path.join(PINS, "staging")), [], "pins half in place")
    go_on(2)
    end_all(runs)
    confined()
    nothing_left(before, 20)
    equal(run("sh", "-c", "cat /etc/shadow || echo refused").out, b"refused\n", "a run under the newer build")
    account_for_everything()


@case("a newer build takes over with an executor at work: what it started goes on, and what it starts is confined")
def upgrade_executor():
    stop_all()
    before = others()
    path = configure("at-work")
    executable = CORDON if has_variant() else NEWER
    start_daemon("--config", path, executable=NEWER if has_variant() else CORDON)
    with Agent() as agent:
        agent.send("sh", "-c", f": >up; until [ -e stop ]; do cat {OUTSIDE}; sleep 0.05; done 2>/dev/null; echo end")
        wait_for(lambda: os.path.exists(os.path.join(UNDER, "up")), 60, "the start")
        stop_all()
        start_daemon("--config", path, executable=executable)
        equal(last_origin(), "upgraded", "enforcement")
        listed = [e for e in json.loads(cordon("ps", "--json").out) if e["executor"] == "at-work"]
        equal(len(listed), 1, f"executions of the executor's: {listed}")
        with open(os.path.join(UNDER, "stop"), "w", encoding="ascii"):
            pass
        answer = agent.receive()
        equal((answer.get("status"), answer.get("out")), (0, "end\n"), f"what went on ({answer})")
        answer = agent.ask("sh", "-c", f"cat {OUTSIDE} || echo refused")
        equal(answer.get("out"), "refused\n", f"what it starts next ({answer})")
    for name in ("up", "stop"):
        os.unlink(os.path.join(UNDER, name))
    # A daemon that is gone would leave it to the next one to put the last execution away.
    nothing_left(before, 20)
    stop_all()
    account_for_everything()


@case("the older build takes over again, also where the newer one was killed in the middle of it")
def back_and_forth():
    ensure_standing()
    before = others()
    had = has_variant()
    runs = hammers(1)
    stop_all(signal.SIGKILL)
    executable = CORDON if had else NEWER
    process = spawn_daemon(executable=executable)
    # Past some of the replacements, before the last.
    staged = os.path.join(PINS, "links")
    times = {name: os.stat(os.path.join(staged, name)).st_ino for name in os.listdir(staged)}

    def some_replaced():
        now = {name: os.stat(os.path.join(staged, name)).st_ino for name in os.listdir(staged)}
        return sum(now.get(name) != inode for name, inode in times.items()) > 10 or process.poll() is not None

    wait_for(some_replaced, 120, "the first replacements")
    process.kill()
    process.wait()
    go_on(1)
    confined()
    start_daemon(executable=executable)
    equal(has_variant(), not had, "the other build's program")
    go_on(1)
    end_all(runs)
    confined()
    nothing_left(before, 20)
    account_for_everything()


@case("a build with other maps is refused while executions live, and takes over when none does")
def incompatible():
    ensure_standing()
    before = others()
    runs = hammers(1)
    stop_all()
    matches(refused(executable=OTHER_MAPS), r"cannot take it over: map recent_denials is not the same in both builds.*cordon kill", "what it says")
    go_on(1)
    confined()
    kill_hammers(runs)
    start_daemon(executable=OTHER_MAPS)
    equal(last_origin(), "loaded", "enforcement")
    equal(run("sh", "-c", "cat /etc/shadow || echo refused").out, b"refused\n", "a run under it")
    stop_all()
    nothing_left(before, 20)
    account_for_everything()


@case("enforcement of which a part is gone is refused while executions live, and repaired when none does")
def partial():
    ensure_standing()
    runs = hammers(1)
    stop_all()
    # What is taken away is of no use to the execution: by it there is nothing that judges any more.
    os.unlink(os.path.join(PINS, "links", "cordon_path_symlink"))
    matches(refused(), "incomplete enforcement of a cordon build", "what it says")
    kill_hammers(runs)
    start_daemon()
    equal(last_origin(), "loaded", "enforcement")
    account_for_everything()


def swap(one, other):
    for source, target in ((one, "aside"), (other, one), ("aside", other)):
        os.rename(os.path.join(PINS, "links", source), os.path.join(PINS, "links", target))


def pin_another_map(name):
    path = os.path.join(PINS, "maps", name)
    os.unlink(path)
    result = execute(["bpftool", "map", "pin", "pinned", os.path.join(PINS, "maps", "counters"), path])
    equal(result.status, 0, f"bpftool ({result.text})")


@case("what is pinned under cordon's names and is something else is refused while executions live, and removed when none does")
def foreign():
    for spoil in (lambda: swap("cordon_path_mknod", "cordon_path_mkdir"), lambda: pin_another_map("stub_clients")):
        ensure_standing()
        runs = hammers(1)
        stop_all()
        spoil()
        matches(refused(), "something else under its names", "what it says")
        go_on(1)
        kill_hammers(runs)
        start_daemon()
        equal(last_origin(), "loaded", "enforcement")
    account_for_everything()
