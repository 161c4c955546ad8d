# SPDX-License-Identifier: Apache-2.0
"""What runs when its daemon dies goes on under the next one: watched, limited, listed, ended and recorded as before."""

import json
import os
import subprocess

import service
from support import (
    CORDON,
    LOG,
    LOOP,
    PATIENCE,
    ROOT,
    WORK,
    account_for_everything,
    action,
    case,
    check,
    cordon,
    daemon,
    daemons,
    ends,
    ensure_daemon,
    equal,
    execution_id,
    exists,
    finish,
    gone,
    kill,
    nothing_left,
    others,
    processes,
    program_ids,
    read,
    records,
    run,
    start,
    starts,
    wait_for,
    write,
)


def begin(*options, policy=None, log=LOG, **how):
    """One that runs, its id, and all processes that were there before."""
    policy = policy or service.policy("trier", "on_denial: {limit: 0, action: none}")
    ensure_daemon()
    write("loop", LOOP)
    before = others()
    known = set(starts(log)) if os.path.exists(log) else set()
    process = start("sh", "loop", policy=policy, options=options, **how)
    wait_for(lambda: exists("beat"), 20, "the command's start")
    (name,) = set(starts(log)) - known
    return process, name, before


def replace_daemon():
    """SIGKILL, and another one."""
    pid = daemon()
    kill(pid)
    wait_for(lambda: gone(pid), 10, "the daemon's death")
    beat = read("beat") if exists("beat") else None
    equal(run("true").status, 0, "a run that starts the next daemon")
    check(daemon() != pid, "it is the same daemon")
    if beat is not None:
        wait_for(lambda: read("beat") != beat, 20, "the command going on")


def live():
    result = cordon("ps", "--json")
    equal(result.status, 0, f"ps ({result.text})")
    return {e["id"]: e for e in json.loads(result.out)}


def end_of(name):
    return ends()[name]["cordon"]["end"]


def loops():
    return [line for line in processes().values() if line.startswith("sh loop")]


@case("an execution goes on under the next daemon: listed, its end and its report as without a crash")
def goes_on():
    report = os.path.join(ROOT, "resumed-report.json")
    process, name, before = begin("--report", report, "--session", "s5", "--agent", "a5")
    for _ in range(3):
        replace_daemon()
        entry = live()[name]
        equal((entry["state"], entry["policy"], entry["session"], entry["agent"]), ("live", "trier", "s5", "a5"), "entry")
        check(entry["pid"] > 0 and entry["age_nsec"] > 0 and entry["denials"] > 0, f"entry {entry}")
    denied = live()[name]["denials"]
    wait_for(lambda: live()[name]["denials"] > denied, 20, "denials that go on")
    write("stop", "")
    equal(finish(process), 17, "status")
    equal((end_of(name)["cause"], end_of(name)["exit_code"]), ("exited", 17), "end")
    check(not exists("opened"), "something forbidden succeeded")
    with open(report, encoding="utf-8") as file:
        told = json.load(file)
    os.unlink(report)
    check("/etc/shadow" in json.dumps(told), f"the report knows no denial: {told}")
    rules = [r["cordon"].get("rule") for r in records() if execution_id(r) == name and action(r) == "denial"]
    check(rules, "no denial is on record")
    nothing_left(before)
    account_for_everything()


@case("its deadline, its denial limit and `cordon kill` hold under the next daemon")
def limits_hold():
    # Not so short that it is over before a busy machine has the next daemon.
    process, name, before = begin("--timeout", "30s")
    replace_daemon()
    check(live()[name]["deadline_nsec"] > 0, "no deadline is left")
    equal(finish(process, 120), 124, "status of one that timed out")
    equal(end_of(name)["cause"], "timeout", "cause")
    nothing_left(before)

    os.unlink(os.path.join(WORK, "beat"))
    process, name, before = begin()
    replace_daemon()
    equal(cordon("kill", name).status, 0, "kill")
    equal(finish(process), 137, "status of one that was killed")
    equal(end_of(name)["cause"], "killed", "cause")
    check(not loops(), "it lives")
    nothing_left(before)

    os.unlink(os.path.join(WORK, "beat"))
    policy = service.policy("few-denials", "on_denial: {limit: 100, action: kill}")
    process, name, before = begin(policy=policy)
    # From here on the log alone knows what the policy says.
    os.unlink(policy)
    replace_daemon()
    equal(finish(process, 120), 137, "status of one with too many denials")
    equal(end_of(name)["cause"], "denials", "cause")
    nothing_left(before)
    account_for_everything()


@case("it can be put under another policy by the next daemon, and by the one after that")
def apply():
    process, name, before = begin()
    replace_daemon()
    other = service.policy("another", "on_denial: {limit: 100000, action: kill}")
    result = cordon("policy", "apply", other, "--execution", name, "--allow-wider", "a test")
    equal(result.status, 0, f"apply ({result.text})")
    equal(live()[name]["policy"], "another", "policy")
    replace_daemon()
    equal(live()[name]["policy"], "another", "policy after another crash")
    write("stop", "")
    equal(finish(process), 17, "status")
    nothing_left(before)
    account_for_everything()
    os.unlink(other)


@case("its owner's death is seen by the next daemon, also while that is not there yet")
def owner():
    process, name, before = begin()
    replace_daemon()
    process.kill()
    process.wait()
    wait_for(lambda: not loops(), 20, "death of all")
    wait_for(lambda: name in ends(), 20, "the end record")
    equal(end_of(name)["cause"], "owner-gone", "cause")
    nothing_left(before)

    os.unlink(os.path.join(WORK, "beat"))
    process, name, before = begin()
    pid = daemon()
    kill(pid)
    wait_for(lambda: gone(pid), 10, "the daemon's death")
    process.kill()
    process.wait()
    equal(run("true").status, 0, "a run")
    wait_for(lambda: name in ends(), 20, "the end record")
    equal(end_of(name)["cause"], "recovered", "cause")
    check(not loops(), "it lives")
    nothing_left(before)
    account_for_everything()


@case("a state file that is gone or damaged: what it told of is ended, not left alone")
def no_state():
    # Without the file nobody knows where its end is to be recorded.
    log = os.path.join(ROOT, "log-without-ends")
    for damage in ("", "{", None):
        process, name, before = begin("--log", log, log=log)
        pid = daemon()
        kill(pid)
        wait_for(lambda pid=pid: gone(pid), 10, "the daemon's death")
        path = f"/run/cordon/executions/{name}.json"
        if damage is None:
            os.unlink(path)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(damage)
        equal(run("true").status, 0, "a run")
        equal(finish(process), 137, "status")
        check(not exists("opened"), "something forbidden succeeded")
        nothing_left(before)
        os.unlink(os.path.join(WORK, "beat"))
    account_for_everything()


@case("a daemon that stays goes on with what one that `cordon run` had started has loaded, though nothing runs under it")
def handed_over_idle():
    equal(run("true").status, 0, "a run")
    loaded = program_ids()
    standing = subprocess.Popen(["cordon", "daemon", "--log", LOG], executable=CORDON, cwd="/", stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        wait_for(lambda: not daemons() and cordon("status").status == 0 or standing.poll() is not None, 60, "the new daemon")
        check(loaded, "no program is loaded")
        equal(program_ids(), loaded, "programs")
    finally:
        kill(standing.pid)
        standing.wait()
        ensure_daemon()
    account_for_everything()


@case("a daemon that stays takes the place of one that `cordon run` had started, and of its executions")
def handed_over():
    process, name, before = begin()
    embedded = daemon()
    shipped = os.path.realpath(os.path.join(os.path.dirname(CORDON), "..", "policies"))
    said = os.path.join(ROOT, "standing.txt")
    with open(said, "wb") as file:
        standing = subprocess.Popen(
            ["cordon", "daemon", "--log", LOG, "--policies", shipped],
            executable=CORDON, cwd="/", stdin=subprocess.DEVNULL, stdout=file, stderr=file,
        )  # fmt: skip
    try:
        wait_for(lambda: gone(embedded) or standing.poll() is not None, 60, "the embedded daemon's leaving")
        with open(said, encoding="utf-8") as file:
            check(standing.poll() is None, f"the new one ended: {file.read()}")
        wait_for(lambda: cordon("status").status == 0, 60, "the new daemon")
        equal(daemons(), [], "embedded daemons")
        check(name in live(), "the execution is not there")
        write("stop", "")
        equal(finish(process), 17, "status")
        equal(end_of(name)["cause"], "exited", "cause")
    finally:
        standing.terminate()
        equal(standing.wait(PATIENCE), 0, "its status")
    ensure_daemon()
    nothing_left(before)
    account_for_everything()
