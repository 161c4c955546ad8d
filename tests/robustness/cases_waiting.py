# SPDX-License-Identifier: Apache-2.0
"""Calls that wait for a person's answer, where their policy says so: what waits, for how long, and that nothing is allowed by waiting."""

import json
import os
import shutil
import signal
import socket
import time

import executor
from cases_approve import STATE_DIRECTORY, restart
from service import SMALL, policy, start_daemon, stop_all
from support import (
    CORDON,
    LOG,
    ROOT,
    WORK,
    account_for_everything,
    action,
    case,
    check,
    cordon,
    equal,
    exists,
    finish,
    kill,
    descendants,
    read,
    records,
    run,
    start,
    status_of,
    wait_for,
)
from terminal import Terminal

TOOLS = os.path.join(ROOT, "tools")
# To port 9, where nobody is: sockets may be made, and other ports are what no rule speaks of.
NETWORK = "network: [{allow: [connect], to: [127.0.0.1], ports: [9], protocols: [tcp]}]"
# As a shell has it that may not run a program.
REFUSED = 126


def is_stopped(pid):
    return status_of(pid).get("State", "gone").startswith("T")


def stopped_below(process):
    return [pid for pid in descendants(process.pid) if is_stopped(pid)]


def switches(pid):
    """How often the process has given up a processor: more often, once it has run and stopped again."""
    status = status_of(pid)
    return sum(int(status[field]) for field in ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"))


def questions():
    """Records of what calls waited for."""
    return [r for r in records() if action(r) == "agent-proposal" and r["cordon"]["agent"]["waits"]]


def begin(name, ask, *options):
    restart(*options)
    path = policy(name, f"ask: {ask}", NETWORK, based_on=SMALL)
    equal(cordon("approve", "--policy", name, "--reason", "as it is").status, 0, "approve ahead")
    return path


def tool(name):
    """A program that no rule speaks of."""
    os.makedirs(TOOLS, exist_ok=True)
    path = os.path.join(TOOLS, name)
    shutil.copy("/usr/bin/uname", path)
    return path


def text_of(name):
    return read(name).decode() if exists(name) else ""


def waiting():
    found = json.loads(cordon("approvals", "--json").out)
    return [e for e in found if e["state"] == "waiting" and '"execution"' in (e["use"] or "")]


def wait_for_question(count=1):
    return wait_for(lambda: len(waiting()) == count and waiting(), 30, "the question")


def decide(decision, entry):
    equal(cordon(*decision, entry["digest"], "--reason", "as asked").status, 0, " ".join(decision))


def of_last(kind):
    last = [r for r in records() if action(r) == "execution-start"][-1]["cordon"]["execution"]["id"]
    return [r for r in records() if action(r) == kind and r["cordon"]["execution"]["id"] == last]


def approved_run(path):
    """A program that waits is stopped and not refused, and runs once it may: as if nothing had happened."""
    program = tool("wanted")
    process = start("sh", "-c", f"{program} -s >out; echo $? >status; {program} -s >>out", policy=path)
    entry = wait_for_question()[0]
    check(any(program in line for line in entry["witnesses"]), f"what it would allow: {entry['witnesses']}")
    equal(entry["policy"], "waits", "policy")
    (stopped,) = stopped_below(process)
    check(not exists("status"), "the call has returned")
    decide(["approve"], entry)
    equal(finish(process), 0, "status")
    equal((text_of("out"), text_of("status")), ("Linux\nLinux\n", "0\n"), f"what it has done (process {stopped})")
    equal(of_last("denial"), [], "refusals on record")
    check([r for r in records() if action(r) == "agent-proposal"][-1]["cordon"]["agent"]["waits"], "the proposal's record")


def refused_run(path):
    """Refused by a person: the call fails, is on record, and does not wait again."""
    program = tool("unwanted")
    process = start("sh", "-c", f"{program}; echo $? >first; {program}; echo $? >second", policy=path)
    decide(["approvals", "refuse"], wait_for_question()[0])
    equal(finish(process), 0, "status")
    equal((text_of("first"), text_of("second")), (f"{REFUSED}\n", f"{REFUSED}\n"), "the call's outcomes")
    equal(waiting(), [], "what waits")
    check([r for r in of_last("denial") if r["file"]["path"] == program], "no refusal on record")


def open_refused(path):
    """What is read or written never waits, nor what a rule denies."""
    known = len(questions())
    result = run("sh", "-c", "cat /etc/shadow; echo no >/etc/passwd; :", policy=path)
    equal((result.status, waiting()), (0, []), "a read and a write")
    equal(questions()[known:], [], "what waited")


@case("a program that no rule allows waits where the policy says so: approved it runs, refused it fails, and files never wait")
def programs():
    path = begin("waits", "10m")
    approved_run(path)
    refused_run(path)
    open_refused(path)
    account_for_everything()


@case("a connection waits, too, and is made once it may be; several processes wait for one answer")
def connections():
    path = begin("waits-too", "10m")
    with socket.create_server(("127.0.0.1", 0), backlog=8) as server:
        port = server.getsockname()[1]
        connect = f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' 2>>errors && echo made >>made &"
        process = start("sh", "-c", f"{connect} {connect} {connect} wait", policy=path)
        entry = wait_for_question()[0]
        check(any(f"127.0.0.1:{port}" in line for line in entry["witnesses"]), f"what it would allow: {entry['witnesses']}")
        stopped = wait_for(lambda: len(stopped_below(process)) == 3 and stopped_below(process), 30, "three that wait")
        # A process that something else continues makes its call again, and is stopped again.
        before = {pid: switches(pid) for pid in stopped}
        for pid in stopped:
            kill(pid, signal.SIGCONT)
        for pid in stopped:
            wait_for(lambda pid=pid: is_stopped(pid) and switches(pid) > before[pid], 30, "the next stop of a continued process")
        check(not exists("made") and len(waiting()) == 1, "a connection was made that nobody has approved")
        decide(["approve"], entry)
        equal(finish(process), 0, "status")
        equal(text_of("made"), "made\n" * 3, f"connections ({text_of('errors')})")
    account_for_everything()


@case("without an answer the call is refused when its time is up, and the one after it at once")
def overdue():
    path = begin("waits-little", "3s")
    program, other = tool("late"), tool("later")
    begun = time.monotonic()
    equal(run(program, policy=path).status, 126, "status of a command that nobody has approved")
    check(time.monotonic() - begun >= 3, "it did not wait")
    equal(waiting(), [], "what waits")
    known = len(questions())
    run("sh", "-c", f"{program}; {other}; {program}; {other}; :", policy=path)
    equal(len(questions()) - known, 2, "questions of a run that asks for two things twice")
    account_for_everything()


@case("an execution has so many questions and no more: what goes beyond is refused at once, and nothing of it stays")
def many():
    path = begin("waits-often", "10m")
    everything = " ".join(tool(f"many-{number}") for number in range(20))
    process = start("sh", "-c", f"for i in {everything}; do $i || echo $? >>refused & done; wait", policy=path)
    entry = wait_for_question(16)[0]
    wait_for(lambda: text_of("refused") == f"{REFUSED}\n" * 4, 30, "what goes beyond being refused")
    decide(["approvals", "refuse"], entry)
    wait_for(lambda: text_of("refused") == f"{REFUSED}\n" * 5, 30, "a refusal")
    equal(cordon("kill", json.loads(entry["use"])["execution"]).status, 0, "kill")
    equal(finish(process), 137, "status")
    equal(waiting(), [], "what waits")
    account_for_everything()


@case("what waits goes on waiting under the next daemon; its time, the execution's limit and its end end it")
def daemons():
    path = begin("waits-on", "10m")
    program = tool("patient")
    process = start("sh", "-c", f"{program} -s >out", policy=path)
    wait_for_question()
    restart(number=signal.SIGKILL)
    entry = wait_for_question()[0]
    equal(text_of("out"), "", "what ran")
    decide(["approve"], entry)
    equal((finish(process), text_of("out")), (0, "Linux\n"), "outcome")
    # Where nobody can be asked any more.
    process = start("sh", "-c", f"{program} -s; echo $? >status", policy=path)
    wait_for_question()
    stop_all(signal.SIGKILL)
    start_daemon("--state", STATE_DIRECTORY)
    equal((finish(process), text_of("status")), (0, f"{REFUSED}\n"), "outcome without approvals")
    known = len(questions())
    equal(run("sh", "-c", program, policy=path).status, REFUSED, "a call where nobody can be asked")
    equal(questions()[known:], [], "what waited")
    # Ended while it waits.
    restart()
    process = start("sh", "-c", program, policy=path)
    # What nobody was there to take back is gone with its execution.
    wait_for_question()
    (execution,) = [e["id"] for e in json.loads(cordon("ps", "--json").out)]
    equal(cordon("kill", execution).status, 0, "kill")
    equal(finish(process), 137, "status of one that was killed")
    limited = policy("waits-limited", "ask: 10m", "limits: {wall: 5s, memory: 1G, pids: 128}", based_on=SMALL)
    equal(cordon("approve", "--policy", "waits-limited", "--reason", "as it is").status, 0, "approve ahead")
    equal(run("sh", "-c", program, policy=limited).status, 124, "status at the wall limit")
    account_for_everything()


@case("at a terminal a command that waits is not taken for a job that was stopped")
def terminal():
    path = begin("waits-here", "10m")
    program = tool("shown")
    shell = Terminal()
    try:
        shell.expect("ready> ")
        shell.send(f"{CORDON} run --policy {path} --workdir {WORK} --log {LOG} -- {program} -s\n")
        entry = wait_for_question()[0]
        (stopped,) = wait_for(lambda: [pid for pid in descendants(shell.pid) if is_stopped(pid)], 30, "the stop of the command")
        client = int(status_of(stopped)["PPid"])
        wait_for(lambda: status_of(client)["State"].startswith("S"), 30, "cordon run asleep after its child's stop")
        decide(["approve"], entry)
        shell.expect(r"\nLinux\r", 60)
        check("Stopped" not in shell.text, f"the shell says {shell.text!r}")
    finally:
        shell.close()
    account_for_everything()


@case("what an executor's child does waits as well: the executor sees it take its time, and nothing else")
def adopted():
    path = policy("waits-adopted", "ask: 10m", NETWORK, based_on=SMALL)
    restart("--config", executor.configure("patient", path))
    program = tool("adopted")
    with executor.Agent() as agent:
        wait_for(lambda: approve_entry("patient"), 30, "the entry's approval")
        wait_for(lambda: agent.ask("true").get("status") == 0, 30, "an execution")
        agent.send("sh", "-c", f"{program} -s")
        decide(["approve"], wait_for_question()[0])
        done = agent.receive()
        equal((done.get("status"), done.get("out")), (0, "Linux\n"), f"what came of it ({done})")
        agent.send("sh", "-c", f"{program} -s")
        decide(["approvals", "refuse"], wait_for_question()[0])
        equal(agent.receive().get("status"), REFUSED, "the next child, which is an execution of its own")
    account_for_everything()


def approve_entry(name):
    found = [e for e in json.loads(cordon("approvals", "--json").out) if e["state"] == "waiting" and f'"executor":"{name}"' in (e["use"] or "")]
    return found and cordon("approve", found[0]["digest"], "--reason", "the team's agent").status == 0
