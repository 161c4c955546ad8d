# SPDX-License-Identifier: Apache-2.0
"""The unit, as it is installed, under systemd: it tells when it serves, is watched, and a restart interrupts nothing."""

import os
import shutil
import signal
import subprocess

from executor import OUTSIDE, UNDER, Agent, configure, why
from support import (
    CORDON,
    LOG,
    LOOP,
    PINS,
    PROJECT,
    ROOT,
    SHELL_POLICY,
    WORK,
    action,
    case,
    check,
    cordon,
    ends,
    equal,
    execute,
    execution_cgroups,
    execution_id,
    exists,
    finish,
    gone,
    matches,
    read,
    records,
    state_files,
    verify,
    wait_for,
    write,
)

BOOT = "/run/boot"
DROP_IN = "/run/systemd/system/cordon.service.d/tests.conf"


def systemctl(*arguments):
    return execute(["systemctl", *arguments], cwd="/")


def booted():
    """Services that come and go at the start of a machine are none that a case left behind."""
    wait_for(lambda: os.path.exists("/run/systemd/private"), 60, "systemd")
    subprocess.run(["systemctl", "is-system-running", "--wait"], stdout=subprocess.DEVNULL, check=False)
    # There is one at a time.
    subprocess.run(["systemctl", "stop", "cordon-at-boot.service"], stdout=subprocess.DEVNULL, check=False)


def show(name):
    result = systemctl("show", "--value", "--property", name, "cordon.service")
    equal(result.status, 0, f"systemctl show ({result.text})")
    return result.out.decode().strip()


def install():
    """As `make install` does it, with the log where the other cases have it."""
    if os.path.exists(DROP_IN):
        return
    build = os.path.dirname(CORDON)
    result = execute(["make", "--no-print-directory", "-o", "all", "install", f"BUILD={build}", "SETUP=no"], cwd=PROJECT)
    equal(result.status, 0, f"make install ({result.text})")
    os.makedirs(LOG, mode=0o750, exist_ok=True)
    drop_in(60)


def drop_in(seconds):
    os.makedirs(os.path.dirname(DROP_IN), exist_ok=True)
    with open(DROP_IN, "w", encoding="utf-8") as file:
        file.write(
            f"[Service]\nWatchdogSec={seconds}s\nExecStart=\nExecStart=/usr/local/bin/cordon daemon --log {LOG}\n"
            f"StandardError=append:{ROOT}/daemon.txt\n"
        )
    equal(systemctl("daemon-reload").status, 0, "daemon-reload")


def main_pid():
    return int(show("MainPID"))


def ensure_started():
    install()
    result = systemctl("start", "cordon.service")
    if result.status != 0:
        with open(f"{ROOT}/daemon.txt", encoding="utf-8", errors="replace") as file:
            check(False, f"systemctl start: {result.text}\n{file.read()[-2000:]}")
    equal(show("ActiveState"), "active", "state")
    return main_pid()


def begin():
    for name in ("stop", "beat", "opened"):
        if exists(name):
            os.unlink(os.path.join(WORK, name))
    write("loop", LOOP)
    process = subprocess.Popen(
        ["/usr/local/bin/cordon", "run", "--policy", SHELL_POLICY, "--workdir", WORK, "--", "sh", "loop"],
        cwd=WORK, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wait_for(lambda: exists("beat") or process.poll() is not None, 60, "the start")
    check(process.poll() is None, "it ended at once")
    (name,) = {execution_id(r) for r in records() if action(r) == "execution-start"} - set(ends())
    return process, name


def end(process, name):
    """It comes to its own end, refused all the way, and that is on record."""
    beat = read("beat")
    wait_for(lambda: read("beat") != beat, 60, "its going on")
    write("stop", "")
    equal(finish(process), 17, "status")
    wait_for(lambda: name in ends(), 60, "the end record")
    told = ends()[name]["cordon"]
    equal((told["end"]["cause"], told["end"]["exit_code"]), ("exited", 17), "end")
    check(told["counters"]["denials"] > 0, "nothing was denied")
    check(not exists("opened"), "something forbidden succeeded")


def restarted(pid, how_often):
    wait_for(lambda: int(show("NRestarts")) == how_often and show("SubState") == "running", 60, "the restart")
    found = main_pid()
    check(found not in (0, pid), f"main process {found}, as before")
    equal(cordon("status").status, 0, "status")
    return found


@case("systemd: an executor's unit that says nothing of cordon is started at boot when enforcement is there, and what it starts is confined")
def at_boot():
    def told(unit, name):
        return systemctl("show", "--value", "--property", name, unit).out.decode().strip()

    with open(f"{BOOT}/daemon", encoding="utf-8", errors="replace") as file:
        said = file.read()
    matches(said, "cordon.yaml: 1 executors.*enforcing", "what the daemon says")
    began = int(told("executor-at-boot.service", "ExecMainStartTimestampMonotonic"))
    ready = int(told("cordon-at-boot.service", "ActiveEnterTimestampMonotonic"))
    check(0 < ready < began, f"ready at {ready}, the executor began at {began}")
    with open(f"{BOOT}/said", encoding="utf-8") as file:
        equal(file.read().splitlines()[-1:], ["1"], "status of what the executor started")
    with open(f"{BOOT}/log/current.jsonl", encoding="utf-8") as file:
        matches(file.read(), f'"denial".*{BOOT}/secret', "the log")


@case("systemd: the unit is in order")
def in_order():
    install()
    shutil.copy("/usr/local/lib/systemd/system/cordon.service", "/tmp/cordon.service")
    result = execute(["systemd-analyze", "verify", "--man=no", "/tmp/cordon.service"], cwd="/")
    equal((result.status, result.err), (0, b""), "systemd-analyze verify")


@case("systemd: the unit is active once the daemon serves, with its state, its group of processes and its limits")
def starts():
    pid = ensure_started()
    result = cordon("status", "--json")
    matches(result.out.decode(), rf'"pid": ?{pid}\b', "who serves")
    equal(show("StatusText"), "enforcing", "what systemd was told")
    equal((show("Type"), show("Delegate"), show("NRestarts")), ("notify", "yes", "0"), "type, delegation and restarts")
    equal(show("WatchdogUSec"), "1min", "the watchdog")
    with open(f"/proc/{pid}/cgroup", encoding="ascii") as file:
        equal(file.read(), "0::/system.slice/cordon.service\n", "cgroup of the daemon")
    process, name = begin()
    check(os.path.isdir(os.path.join("/sys/fs/cgroup/cordon", name)), "no cgroup")
    equal(systemctl("reload", "cordon.service").status, 0, "reload")
    end(process, name)
    equal(main_pid(), pid, "main process")


@case("systemd: SIGKILL of the daemon: it is started again at once, and what runs goes on under it, confined")
def killed():
    pid = ensure_started()
    before = int(show("NRestarts"))
    process, name = begin()
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: gone(pid), 20, "its death")
    restarted(pid, before + 1)
    end(process, name)


@case("systemd: a daemon that hangs is found by the watchdog and replaced, and what runs goes on")
def hangs():
    ensure_started()
    drop_in(5)
    equal(systemctl("restart", "cordon.service").status, 0, "restart")
    pid = main_pid()
    before = int(show("NRestarts"))
    process, name = begin()
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: gone(pid), 60, "the watchdog's work")
    restarted(pid, before + 1)
    end(process, name)
    drop_in(60)
    equal(systemctl("restart", "cordon.service").status, 0, "restart")


@case("systemd: restart and stop leave what runs confined, and its next daemon tells the end")
def stopped():
    pid = ensure_started()
    process, name = begin()
    equal(systemctl("restart", "cordon.service").status, 0, "restart")
    check(main_pid() != pid, "it is the same process")
    equal(systemctl("stop", "cordon.service").status, 0, "stop")
    equal((show("ActiveState"), show("Result")), ("inactive", "success"), "state")
    check(os.path.isdir(os.path.join(PINS, "links")), "enforcement went with the daemon")
    equal(cordon("status").status, 2, "status without a daemon")
    beat = read("beat")
    wait_for(lambda: read("beat") != beat, 60, "its going on")
    # Not even systemd's own start over disturbs it.
    equal(systemctl("daemon-reexec").status, 0, "daemon-reexec")
    ensure_started()
    end(process, name)
    verify()
    equal(systemctl("stop", "cordon.service").status, 0, "stop")


@case("systemd, lockdown: what an executor starts has none of its secrets: the daemon, confined as it is, cleans it")
def environment():
    with open("/sys/kernel/security/lockdown", encoding="ascii") as file:
        matches(file.read(), r"\[integrity\]", "lockdown")
    install()
    configure("locked", path="/etc/cordon/cordon.yaml")
    try:
        ensure_started()
        with Agent(SECRET_TOKEN="hunter2", ANOTHER="s" * 9000, LC_ALL="C.UTF-8") as agent:
            answer = agent.ask("sh", "-c", f"cat /proc/$$/environ; cat {OUTSIDE} || echo refused")
            equal(answer.get("status"), 0, f"status ({answer}, {why()})")
            check("LC_ALL=C.UTF-8" in answer["out"], f"what the policy keeps is gone: {answer}")
            check("hunter2" not in answer["out"] and "sss" not in answer["out"], f"a secret is there: {answer}")
            matches(answer["out"], "refused", "what came of the attack")
            answer = agent.ask("env")
            check("SECRET_TOKEN" not in answer["out"] and "ANOTHER" not in answer["out"], f"a secret is there: {answer}")
            # What runs in such a daemon's hands goes on under the next one.
            agent.send("sh", "-c", f": >up; until [ -e stop ]; do sleep 0.1; done; cat {OUTSIDE} || echo refused")
            wait_for(lambda: os.path.exists(os.path.join(UNDER, "up")), 60, "the start")
            pid = main_pid()
            before = int(show("NRestarts"))
            os.kill(pid, signal.SIGKILL)
            restarted(pid, before + 1)
            with open(os.path.join(UNDER, "stop"), "w", encoding="ascii"):
                pass
            answer = agent.receive()
            equal((answer.get("status"), answer.get("out")), (0, "refused\n"), f"what went on ({answer}, {why()})")
            equal(agent.ask("sh", "-c", f"cat {OUTSIDE} || echo refused").get("out"), "refused\n", "what comes next")
        # A daemon that is stopped leaves what it has not ended yet to the next one.
        wait_for(lambda: not execution_cgroups() and not state_files(), 60, "the end of all")
        verify()
    finally:
        os.unlink("/etc/cordon/cordon.yaml")
        systemctl("stop", "cordon.service")
