# SPDX-License-Identifier: Apache-2.0
"""Running executions put under another policy: at once, never wider without a reason, on record, and
consistent whenever the daemon dies."""

import json
import os
import random
import signal
import subprocess
import time

from support import (
    CORDON,
    PATIENCE,
    SHELL_POLICY,
    WORK,
    account_for_everything,
    action,
    case,
    check,
    cordon,
    daemon,
    ends,
    ensure_daemon,
    equal,
    execution_id,
    finish,
    gone,
    kill,
    matches,
    nothing_left,
    processes,
    read,
    records,
    run,
    start,
    starts,
    wait_for,
    write,
)

SEED = int(os.environ.get("CORDON_SEED", time.time_ns() % 1_000_000))
RANDOM = random.Random(SEED)

# By their paths: what is shipped is searched for beside some builds only.
INCLUDES = ["linux", "shell", "python3", "git", "credentials"]
INCLUDES = [os.path.join(os.path.dirname(SHELL_POLICY), "runtime", f"{name}.yaml") for name in INCLUDES]

# Says again and again which of two names it can read. What it writes is one line at a time.
READER = """
while :; do
	a=no b=no
	read -r x <one/file && a=yes
	read -r x <two/file && b=yes
	echo "$a $b" >now.new && mv now.new now
	[ -e stop ] && exit 0
	sleep 0.02
done 2>/dev/null
"""

# One process that says again and again whether it may connect.
CONNECTOR = """
while :; do
	a=no
	{ : 3<>/dev/udp/127.0.0.1/7103; } 2>/dev/null && a=yes
	echo "$a" >now.new && mv now.new now
	[ -e stop ] && exit 0
	sleep 0.02
done
"""
CONNECTS = "network:\n  - {allow: [connect], to: [127.0.0.1], ports: [7103], protocols: [udp]}\n"


def policy(name, denied, extra="", variables=""):
    """A policy below the work directory that allows all of it but the directory `denied`."""
    deny = f"  - {{deny: [all], paths: ['${{workdir}}/{denied}/**']}}\n" if denied else ""
    text = f"version: 1\nname: {name}\n{variables}include: {json.dumps(INCLUDES)}\n"
    text += "files:\n  - {allow: [read, write, create, delete], paths: ['${workdir}/**', '${tmp}/**']}\n"
    text += deny + extra
    os.makedirs("/var/tmp/cordon-policies", exist_ok=True)
    path = f"/var/tmp/cordon-policies/{name}.yaml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def reader(path, session=None):
    for directory in ("one", "two"):
        os.makedirs(os.path.join(WORK, directory), exist_ok=True)
        write(f"{directory}/file", "text\n")
    write("reader", READER)
    ensure_daemon()
    process = start("sh", "reader", policy=path, options=["--session", session] if session else [])
    sees("yes yes")
    return process


def sees(wanted):
    def look():
        try:
            return read("now").decode().strip() == wanted
        except FileNotFoundError:
            return False

    wait_for(look, 20, f"the execution sees {wanted!r}")


def stop(process):
    write("stop", "")
    equal(finish(process), 0, "exit status of the execution")
    os.unlink(os.path.join(WORK, "stop"))


def apply(*arguments):
    return cordon("policy", "apply", *arguments)


def changes(which=None):
    found = [r for r in records() if action(r) == "policy-change"]
    return [r for r in found if which is None or execution_id(r) == which]


def live():
    """None where no daemon runs yet."""
    return [e["id"] for e in json.loads(cordon("ps", "--json").out or "[]")]


@case("policy apply: what is narrower is in force at once, and on record")
def narrower():
    process = reader(policy("wide", None))
    (which,) = live()
    result = apply(policy("no-two", "two"), "--execution", which[:30])
    equal(result.status, 0, f"exit status ({result.text})")
    matches(result.out.decode(), r"^1 executions are under no-two ", "standard output")
    sees("yes no")
    stop(process)
    (change,) = changes(which)
    equal(change["cordon"]["previous_policy"]["name"], "wide", "the policy before")
    equal(change["cordon"]["policy"]["name"], "no-two", "the policy after")
    equal(change["cordon"]["change"]["wider"], [], "what is wider")
    equal(change["cordon"]["change"]["reason"], None, "the reason")
    denials = [r for r in records() if action(r) == "denial" and execution_id(r) == which]
    check(denials, "there are no denials")
    for denial in denials:
        if denial["cordon"]["object"]["text"].endswith("/two/file"):
            equal(denial["cordon"]["policy"]["name"], "no-two", "the policy that refused")
            matches(denial["cordon"]["rule"]["file"], "no-two.yaml$", "the rule that refused")
    equal(ends()[which]["cordon"]["policy"]["digest"], change["cordon"]["policy"]["digest"], "digest at the end")
    account_for_everything()


@case("policy apply: what is wider is refused with examples, and applied and recorded with a reason")
def wider():
    process = reader(policy("wide", None))
    (which,) = live()
    apply(policy("no-two", "two"), "--execution", which)
    sees("yes no")
    result = apply(policy("no-one", "one"), "--execution", which)
    equal(result.status, 1, "exit status")
    matches(result.text, r"no-one allows what no-two, which is in force, does not:\n +files read .*two.*allowed by .*no-one", "refusal")
    equal(len(changes(which)), 1, "changes on record")
    sees("yes no")
    result = apply(policy("no-one", "one"), "--execution", which, "--allow-wider", "the second is asked for", "--json")
    equal(result.status, 0, f"exit status ({result.text})")
    reply = json.loads(result.out)
    equal((reply["changed"], reply["unchanged"]), (1, 0), "changed and unchanged")
    sees("no yes")
    change = changes(which)[-1]["cordon"]["change"]
    equal(change["reason"], "the second is asked for", "the reason")
    check(any("files read" in line for line in change["wider"]), f"wider: {change['wider']}")
    equal(change["uid"], 0, "who asked")
    again = apply(policy("no-one", "one"), "--execution", which, "--json")
    equal((json.loads(again.out)["changed"], json.loads(again.out)["unchanged"]), (0, 1), "the same again")
    equal(len(changes(which)), 2, "changes on record")
    stop(process)
    account_for_everything()


@case("policy apply: a destination that was allowed over and over is refused at once, and allowed again")
def connections():
    connects = policy("connects", None, CONNECTS)
    write("connector", CONNECTOR)
    ensure_daemon()
    process = start("bash", "connector", policy=connects)
    sees("yes")
    (which,) = live()
    equal(apply(policy("alone", None), "--execution", which).status, 0, "exit status of narrowing")
    sees("no")
    equal(apply(connects, "--execution", which, "--allow-wider", "needed").status, 0, "exit status of widening")
    sees("yes")
    stop(process)
    account_for_everything()


@case("policy apply: all of a session, all of a policy, and nothing where one does not fit")
def several():
    first, second = policy("wide", None), policy("no-two", "two")
    ensure_daemon()
    processes = [start("sh", "-c", "sleep 1000", policy=first, options=["--session", s]) for s in ("s1", "s1", "s2")]
    wait_for(lambda: len(live()) == 3, 20, "three executions")
    wait_for(lambda: len(starts()) >= 3, 20, "their start records")
    reply = json.loads(apply(second, "--session", "s1", "--json").out)
    equal(reply["changed"], 2, "changed of the session")
    equal(apply(second, "--session", "s3").status, 2, "exit status for a session that is not there")
    equal(apply(second, "--all-of", "nothing").status, 2, "exit status for a policy that is not there")
    equal(apply(second, "--execution", "0000").status, 2, "exit status for an execution that is not there")
    result = apply(policy("broken", None, "  - {allow: [raed], paths: [/a]}\n"), "--all-of", "wide")
    equal(result.status, 1, "exit status for a broken policy")
    matches(result.text, r"broken\.yaml:\d+:\d+: error: .*raed", "what is wrong with it")
    unbound = policy("unbound", None, "  - {deny: [all], paths: ['${data}/**']}\n", "variables: [data]\n")
    result = apply(unbound, "--all-of", "wide")
    equal(result.status, 1, "exit status for a variable that is not bound")
    matches(result.text, r"\$\{data\}.*list the variables", "what is wrong with it")
    reply = json.loads(apply(policy("none", "two", "  - {deny: [all], paths: ['${workdir}/one/**']}\n"), "--all-of", "wide", "--json").out)
    equal(reply["changed"], 1, "changed of the policy")
    names = sorted(e["policy"] for e in json.loads(cordon("ps", "--json").out))
    equal(names, ["no-two", "no-two", "none"], "policies of the live ones")
    for which in live():
        equal(cordon("kill", which).status, 0, "cordon kill")
    for process in processes:
        finish(process)
    account_for_everything()


def last_policy(which):
    """What the log says an execution was under last."""
    digest = starts()[which]["cordon"]["policy"]["digest"]
    for record in records():
        if action(record) == "policy-change" and execution_id(record) == which:
            digest = record["cordon"]["policy"]["digest"]
        # Says which one is in force: a daemon killed before the record of the change leaves none of it.
        if action(record) == "agent-policy-unchanged" and record["cordon"]["agent"]["execution"] == which:
            digest = record["cordon"]["agent"]["digest"]
    return digest


@case(f"policy apply: SIGKILL of the daemon in the middle of it (seed {SEED})")
def killed():
    paths = [policy("no-two", "two"), policy("no-one", "one")]
    for _ in range(2):
        ensure_daemon()
        before = processes()
        known = set(starts())
        running = [start("sh", "-c", "sleep 1000", policy=paths[0], options=["--session", "s"]) for _ in range(3)]
        wait_for(lambda: len(set(starts()) - known) == 3, 20, "three start records")
        pid = daemon()
        began = time.monotonic()
        equal(apply(paths[1], "--session", "s", "--allow-wider", "x").status, 0, "an apply that nothing disturbs")
        equal(apply(paths[0], "--session", "s", "--allow-wider", "x").status, 0, "another")
        both = time.monotonic() - began
        applier = subprocess.Popen(
            ["sh", "-c", f"while :; do {CORDON} policy apply {paths[1]} --session s --allow-wider x || exit; "
             f"{CORDON} policy apply {paths[0]} --session s --allow-wider x || exit; done"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=WORK)
        # Anywhere within a change, or between two.
        time.sleep(RANDOM.uniform(0, both))
        kill(pid, signal.SIGKILL)
        wait_for(lambda: gone(pid), 5, "death of the daemon")
        applier.wait(PATIENCE)
        equal(run("true").status, 0, "the next run")
        going_on = live()
        equal(len(going_on), 3, "executions that go on")
        for which in going_on:
            equal(cordon("kill", which).status, 0, "cordon kill")
        for process in running:
            equal(finish(process), 137, "status of what went on")
        nothing_left(before)
        for which in set(starts()) - known:
            end = ends().get(which)
            check(end, f"no end record of {which}")
            equal(end["cordon"]["policy"]["digest"], last_policy(which), f"the policy of {which} at its end")
    account_for_everything()
