# SPDX-License-Identifier: Apache-2.0
"""Many executions, and SIGKILL of the daemon at random while they come and go: none unconfined, none stuck, no denial
lost that the log does not account for, and nothing that grows. CORDON_CHURN_KILLS, _RUNS and _LIVE say how many."""

import collections
import json
import os
import random
import subprocess
import time

from churn import (
    AT_A_TIME,
    DENIALS,
    Churn,
    agents,
    all_daemons,
    attack_policy,
    by_executor,
    by_run,
    daemon_use,
    kernel_use,
    tell_of_failures,
)
from executor import UNDER, configure
from service import answers, spawn_daemon, start_daemon
from support import (
    STATE,
    WORK,
    account_for_everything,
    case,
    check,
    cordon,
    each_record,
    ends,
    equal,
    execution_id,
    exists,
    gone,
    kill,
    nothing_left,
    others,
    run_arguments,
    state_files,
    wait_for,
)

KILLS = int(os.environ.get("CORDON_CHURN_KILLS", "20"))
# So many are made among the kills, and then as many as RUNS says without any.
AMONG_KILLS = KILLS * 5
RUNS = int(os.environ.get("CORDON_CHURN_RUNS", "100"))
LIVE = int(os.environ.get("CORDON_CHURN_LIVE", "50"))
SEED = int(os.environ.get("CORDON_SEED", time.time_ns() % 1_000_000))
EXECUTORS = 3
POINTS = 10

# What an allocator may keep of what was in use at the same time, and what may be open for a moment.
GROWTH_MAX = {"descriptors": 4, "memory": 1 << 20, "helpers' memory": 2 << 20}


def end_daemons():
    """How many there were."""
    found = all_daemons()
    for pid in found:
        kill(pid)
        wait_for(lambda pid=pid: gone(pid), 60, "the daemon's death")
    return len(found)


def kill_often(chance, kills, churn, daemon_again):
    """Half of them strike at any moment, also while the next daemon takes over; half where some executions were made by it."""
    killed = 0
    while killed < kills:
        if killed % 2:
            whole = churn.came("whole")
            wait_for(lambda whole=whole: churn.errors or churn.came("whole") > whole, 120, "an execution that comes to its end")
        time.sleep(chance.uniform(0, 0.5))
        killed += end_daemons()
        daemon_again()
        if churn.errors:
            return


def new_daemon(*options):
    """One that stays, in place of any that runs: an embedded one might leave while somebody looks at what it uses."""
    end_daemons()
    return start_daemon(*options).pid


def served():
    wait_for(answers, 60, "a daemon that serves")


def same_in_kernel(use):
    found = {}

    def same():
        found.update(kernel_use())
        return found == use

    try:
        wait_for(same, 60, "as much in the kernel as before")
    finally:
        changed = {name: (use[name], found[name]) for name in use if found.get(name) != use[name]}
        if changed:
            print(f"# in the kernel, before and after: {changed}")


def not_grown(before, after):
    for name, most in GROWTH_MAX.items():
        check(after[name] <= before[name] + most, f"{name} of the daemon: {before[name]}, then {after[name]}")


def all_told(known):
    """Each that ran to its end was denied all that it tried, whoever was the daemon; how many denials those were."""
    total = missing = 0
    causes = collections.Counter()
    accounts = account_for_everything()
    for name, end in ends().items():
        account = accounts[name]
        total += account.counters["denials"]
        missing += account.missing
        if name in known or end["cordon"]["policy"]["name"] != "churn":
            continue
        how = end["cordon"]["end"]
        causes[how["cause"], how["exit_code"], how["signal"]] += 1
        if how["exit_code"] != 0:
            continue
        check(account.counters["denials"] >= DENIALS, f"{name}: {account.counters['denials']} denials, not {DENIALS}")
    return f"{total} denials counted by the kernel, {missing} events in gaps; ends: {dict(causes)}"


def churned(ways, count, known, settled, daemon_again=lambda: None):
    """KILLS / 2 kills during that many attacks or more; then a daemon that serves tells their ends."""
    kills = KILLS // 2
    chance = random.Random(SEED)
    begin = time.monotonic()
    churn = Churn(count, ways)
    try:
        kill_often(chance, kills, churn, daemon_again)
    finally:
        results = churn.finish()
    seconds = time.monotonic() - begin
    print(f"# {kills} kills in {seconds:.1f} s; executions: {results}")
    check(results.get("whole", 0) >= kills // 2, "hardly any came to its end")
    settled()
    try:
        wait_for(lambda: not one_sided(known), 60, "the end of each on record")
    finally:
        for name, words in list(one_sided(known).items())[:10]:
            print(f"# {name}: {words}")


def one_sided(known):
    """New executions that have not one start and one end: {execution: what they have}."""
    found = {}
    for record in each_record():
        word = record["event"]["action"]
        if word in ("execution-start", "execution-end") and execution_id(record) not in known:
            found.setdefault(execution_id(record), []).append(word)
    return {name: words for name, words in found.items() if sorted(words) != ["execution-end", "execution-start"]}


@case(f"{KILLS // 2} times SIGKILL of the daemon during a churn of executions (seed {SEED})")
def many_kills():
    new_daemon()
    known = set(ends())
    before = others()
    use = kernel_use()
    churned([by_run() for _ in range(AT_A_TIME)], AMONG_KILLS // 2, known, new_daemon)
    nothing_left(before, 60)
    same_in_kernel(use)
    print(f"# {all_told(known)}")


@case(f"{KILLS // 2} times SIGKILL of the daemon during a churn of what executors start (seed {SEED})")
def many_kills_of_executors():
    path = configure("churning", attack_policy())
    new_daemon("--config", path)
    known = set(ends())
    before = others()
    use = kernel_use()
    at_work = agents(EXECUTORS)
    try:
        churned([by_executor(agent) for agent in at_work], AMONG_KILLS // 2, known, served, lambda: spawn_daemon("--config", path))
    finally:
        for agent in at_work:
            agent.process.stdin.close()
            agent.process.wait(60)
    nothing_left(before, 60)
    same_in_kernel(use)
    print(f"# {all_told(known)}")


@case("a daemon that died before it kept what it had on record: the next one says nothing a second time")
def kept_nothing():
    path = configure("forgetful", attack_policy())
    new_daemon("--config", path)
    known = set(ends())
    (at_work,) = agents(1)
    with at_work:
        at_work.send("sh", "-c", ": >up; until [ -e stop ]; do sleep 0.05; done")
        wait_for(lambda: os.path.exists(os.path.join(UNDER, "up")), 60, "the start")
        end_daemons()
        names = state_files()
        equal(len(names), 1, f"state files: {names}")
        os.unlink(os.path.join(STATE, names[0]))
        new_daemon("--config", path)
        with open(os.path.join(UNDER, "stop"), "w", encoding="ascii"):
            pass
        # Whether it was found to be in order stood in that file: it may be ended.
        answer = at_work.receive()
        check(answer.get("status") in (0, -9), f"status of what went on ({answer})")
    for name in ("up", "stop"):
        os.unlink(os.path.join(UNDER, name))
    wait_for(lambda: set(ends()) - known, 60, "its end on record")
    wait_for(lambda: not state_files(), 60, "its end")
    equal(one_sided(known), {}, "what has another start or end")
    account_for_everything()


@case(f"{RUNS} executions in sequence leave no more of anything than the first ones did")
def sequence():
    pid = new_daemon()
    before = others()
    # What is kept for reuse is there after some.
    Churn(max(RUNS // 20, 20), [by_run() for _ in range(AT_A_TIME)]).finish()
    nothing_left(before, 60)
    use, kernel = daemon_use(pid), kernel_use()
    print(f"# after the first: {use}, {kernel}")
    begin = time.monotonic()
    for point in range(1, POINTS + 1):
        count = RUNS // POINTS
        results = Churn(count, [by_run() for _ in range(AT_A_TIME)]).finish()
        equal(list(results), ["whole"], f"what came of executions ({results})")
        nothing_left(before, 60)
        after = daemon_use(pid)
        rate = point * count / (time.monotonic() - begin)
        print(f"# after {point * count} executions, {rate:.1f} a second: {after}", flush=True)
        not_grown(use, after)
        same_in_kernel(kernel)
    account_for_everything()


@case(f"{LIVE} executions live at once, over a crash of the daemon, and are all ended and gone")
def live_at_once():
    pid = new_daemon()
    before = others()
    use, kernel = daemon_use(pid), kernel_use()
    known = set(ends())
    started = []
    arguments = run_arguments(["sh", "-c", ": >ran.$0; : <stop"], policy=attack_policy())
    os.mkfifo(os.path.join(WORK, "stop"))
    for i in range(LIVE):
        started.append(subprocess.Popen([*arguments, str(i)], cwd=WORK, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        # Not all at once: that is another case's.
        if i % 16 == 15:
            wait_for(lambda i=i: exists(f"ran.{i}") or started[i].poll() is not None, 120, "their start")
    wait_for(lambda: all(exists(f"ran.{i}") or started[i].poll() is not None for i in range(LIVE)), 300, "their start")
    if any(process.poll() is not None for process in started):
        tell_of_failures(known)
    equal({i: p.poll() for i, p in enumerate(started) if p.poll() is not None}, {}, "statuses of those that ended early")
    print(f"# with {LIVE} live: {daemon_use(pid)}, {kernel_use()}; before: {use}")
    begin = time.monotonic()
    pid = new_daemon()
    print(f"# the next daemon served after {time.monotonic() - begin:.1f} s")
    result = cordon("ps", "--json")
    equal(len([e for e in json.loads(result.out) if e["policy"] == "churn"]), LIVE, f"executions that are listed ({result.text})")
    # Whoever waits for a writer has one from here on.
    with open(os.path.join(WORK, "stop"), "w", encoding="utf-8"):
        statuses = [process.wait(600) for process in started]
    equal(statuses, [0] * LIVE, "statuses")
    nothing_left(before, 120)
    wait_for(lambda: len(set(ends()) - known) >= LIVE, 60, "their ends on record")
    print(f"# after their end: {daemon_use(pid)}")
    equal(daemon_use(pid)["descriptors"] <= use["descriptors"] + GROWTH_MAX["descriptors"], True, "descriptors as before")
    same_in_kernel(kernel)
    account_for_everything()
