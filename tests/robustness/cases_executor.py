# SPDX-License-Identifier: Apache-2.0
"""Entries of cordon.yaml where approvals are required: what a person has not said yes to starts nothing."""

import errno
import json
import os
import re
import signal

from cases_approve import decisions, entries, restart
from executor import CONFIG, OUTSIDE, Agent, configure, why
from service import SMALL, as_user, policy, refused, standing, start_daemon, stop_all
from support import (
    PINS,
    ROOT,
    account_for_everything,
    action,
    case,
    check,
    cordon,
    equal,
    execution_cgroups,
    last_end,
    matches,
    processes,
    processes_like,
    records,
    status_of,
    wait_for,
)

CAP_SYS_MODULE = 16
REFUSED = {"errno": errno.EAGAIN}
TRY = ("sh", "-c", f"cat {OUTSIDE} || echo confined")


def reload():
    result = cordon("config", "reload")
    equal(result.status, 0, f"reload ({result.text})")
    return result.out.decode()


def waiting(name):
    """The one entry of this name that waits."""
    found = [e for e in entries("waiting") if f'"executor":"{name}"' in (e["use"] or "")]
    equal(len(found), 1, f"entries that wait: {found}")
    return found[0]


def runs(agent):
    """Approved, it is used at once; executions are made ready a moment later."""
    found = []

    def try_it():
        found[:] = [agent.ask(*TRY)]
        return found[0] != REFUSED

    wait_for(try_it, 30, "an execution")
    equal((found[0].get("status"), found[0].get("out")), (0, "confined\n"), f"what came of it: {found[0]}, {why()}")


def stops(agent):
    wait_for(lambda: agent.ask(*TRY) == REFUSED, 30, "the refusal")


def guards():
    """What looks after held processes when the daemon dies, and was forked from it."""
    found = []
    for pid, _ in processes():
        try:
            status = status_of(pid)
        except (FileNotFoundError, ProcessLookupError):
            continue
        found += [(pid, status)] if status["Name"] == "cordon-guard" else []
    return found


@case("rights: the daemon's guard has none that the daemon gave up, and holds the kernel's objects and a pipe alone")
def guard():
    restart("--config", configure("guarded", SMALL))
    # That of the daemon before looks once more for a moment.
    wait_for(lambda: len(guards()) == 1, 60, "one guard")
    ((pid, status),) = guards()
    (daemon,) = standing()
    for kind in ("CapPrm", "CapEff", "CapBnd"):
        equal(int(status[kind], 16) & ~int(status_of(daemon)[kind], 16), 0, f"{kind} beyond the daemon's")
    equal(int(status["CapBnd"], 16) & 1 << CAP_SYS_MODULE, 0, "CAP_SYS_MODULE")
    equal((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"), "no_new_privs and seccomp")
    links = [os.readlink(f"/proc/{pid}/fd/{n}") for n in os.listdir(f"/proc/{pid}/fd") if int(n) > 2]
    others = [link for link in links if not link.startswith(("anon_inode:bpf", "anon_inode:[event", "pipe:"))]
    equal(others, [], "what else it has open")
    equal(sum(link.startswith("pipe:") for link in links), 1, f"pipes ({links})")


@case("SIGSTOP of the daemon: the guard ends what an executor started when its time is over")
def overdue():
    path = policy("timed", "limits: {wall: 3s}", based_on=SMALL)
    restart("--config", configure("timed", path))
    equal(cordon("approve", waiting("timed")["digest"][:16], "--reason", "for a while").status, 0, "approve")
    (daemon,) = standing()
    with Agent() as agent:
        runs(agent)
        agent.send("sh", "-c", "sleep 12345")
        wait_for(lambda: processes_like("sleep 12345"), 30, "the command's start")
        # What the daemon still holds has no time yet that could be over, and would stay held.
        wait_for(lambda: any(e["deadline_nsec"] > 0 for e in json.loads(cordon("ps", "--json").out)), 30, "its time")
        os.kill(daemon, signal.SIGSTOP)
        try:
            wait_for(lambda: not processes_like("sleep 12345"), 15, "its end by the guard")
            equal(agent.receive().get("status"), -9, "what the executor hears")
        finally:
            os.kill(daemon, signal.SIGCONT)
        wait_for(lambda: last_end()["cordon"]["end"]["cause"] == "timeout", 30, "the end on record")
    account_for_everything()


@case("enforcement of which a part is gone while an executor runs: no daemon takes it down, whose children would be free")
def partial():
    restart("--config", configure("whole", SMALL))
    equal(cordon("approve", waiting("whole")["digest"][:16], "--reason", "for a while").status, 0, "approve")
    with Agent() as agent:
        runs(agent)
        wait_for(lambda: not execution_cgroups(), 30, "the execution's end")
        stop_all(signal.SIGKILL)
        os.unlink(os.path.join(PINS, "links", "cordon_path_symlink"))
        matches(refused("--config", CONFIG), "incomplete enforcement.*executors run.*cordon disable --force", "what it says")
        equal(agent.ask(*TRY), {"errno": errno.EACCES}, "its child, without a daemon")
    start_daemon("--config", CONFIG)
    equal([r for r in records() if action(r) == "agent-start"][-1]["cordon"]["agent"]["enforcement"], "loaded", "enforcement")
    account_for_everything()


@case("a malformed cordon.yaml: no daemon starts with it, it says where it is wrong, and enforcement stays as it was")
def malformed():
    restart()
    stop_all(seconds=60)
    bad = os.path.join(ROOT, "bad.yaml")
    for text, said_of_it in (
        ("version: 1\nexecutors:\n  - {name: x, polic: y}\n", r"bad\.yaml:3:\d+: .*polic"),
        ("version: 2\n", r"bad\.yaml:1:\d+: .*version"),
        ("version: 1\nexecutors: [", r"bad\.yaml:"),
        ("\0\xff", r"bad\.yaml:"),
    ):
        with open(bad, "w", encoding="latin-1") as file:
            file.write(text)
        matches(refused("--config", bad, seconds=60), said_of_it, f"what it says of {text!r}")
    check(os.path.isdir(os.path.join(PINS, "links")), "enforcement is gone")
    equal(cordon("status").status, 2, "status: it enforces, without a daemon")


@case("an executor's entry waits: its children cannot exec; approved they run confined, revoked they do not")
def first_use():
    restart("--config", configure("unseen", SMALL))
    with Agent() as agent:
        before = len(records())
        equal(agent.ask(*TRY), REFUSED, "a child of an executor that nobody approved")
        refusals = wait_for(lambda: [r for r in records()[before:] if action(r) == "execution-refused"], 30, "its record")
        matches(str(refusals[0]), "waits for approval", "the record")
        check([r for r in records() if action(r) == "agent-executor-waits"], "nothing says that the entry waits")
        entry = waiting("unseen")
        matches(entry["use"], '"executor":"unseen".*agent.py', "what is asked for")
        matches(cordon("approvals").out.decode(), rf"{entry['digest'][:16]}  waiting .*unseen", "the list")
        # Members of the group that runs things decide nothing.
        result = as_user("alice", "approve", entry["digest"][:16], "--reason", "mine")
        equal(result.status, 1, "a member's approval")
        equal(agent.ask(*TRY), REFUSED, "after it")
        equal(cordon("approve", entry["digest"][:16], "--reason", "the team's agent").status, 0, "approve")
        runs(agent)
        equal((decisions()[-1]["reason"], decisions()[-1]["uid"]), ("the team's agent", 0), "the decision on record")
        equal(cordon("approvals", "revoke", entry["digest"][:16], "--reason", "an incident").status, 0, "revoke")
        stops(agent)
    account_for_everything()


@case("an entry's wider policy waits, with an example of what is wider; a narrower one is in force at once")
def wider():
    path = policy("entrys", "limits: {wall: 60s}", based_on=SMALL)
    restart("--config", configure("seen", path))
    equal(cordon("approve", waiting("seen")["digest"][:16], "--reason", "as it is").status, 0, "approve")
    with Agent() as agent:
        runs(agent)
        policy("entrys", "limits: {wall: 30s}", based_on=SMALL)
        reload()
        equal([e for e in entries("waiting") if '"executor":"seen"' in (e["use"] or "")], [], "what waits after a narrowing")
        runs(agent)
        policy("entrys", "limits: {wall: 60s}", "process: {trace: own}", based_on=SMALL)
        matches(reload(), "waits", "what reload says")
        witnesses = waiting("seen")["witnesses"]
        check(any("trace" in line for line in witnesses), f"witnesses: {witnesses}")
        stops(agent)
        # Over a restart as well: the decision, not the daemon, lets it run.
        restart("--config", CONFIG)
        stops(agent)
        equal(cordon("approve", waiting("seen")["digest"][:16], "--reason", "debugging").status, 0, "approve")
        runs(agent)
        # Whom it matches was part of what was approved.
        configure("seen", path, children={"except": ["/usr/bin/true"]})
        matches(reload(), "waits", "what reload says")
        stops(agent)
        result = cordon("approvals", "refuse", waiting("seen")["digest"][:16], "--reason", "no exceptions")
        equal(result.status, 0, f"refuse ({result.text})")
        stops(agent)
    equal([d["decision"] for d in decisions()][-3:], ["granted", "granted", "refused"], "decisions")
    check(re.search(r"no exceptions", str(decisions()[-1])), "the refusal's reason")
    account_for_everything()
