# SPDX-License-Identifier: Apache-2.0
"""Attacks, some at a time, by `cordon run` and by executors that nobody changed; and what cordon uses meanwhile."""

import json
import os
import subprocess
import threading
import time

from executor import UNDER, Agent
from service import policy, standing
from support import (
    ESCAPED,
    PINS,
    WORK,
    Failed,
    check,
    daemons,
    each_record,
    ends,
    execution_cgroups,
    execution_id,
    programs,
    run_arguments,
    state_files,
    status_of,
)

AT_A_TIME = 4
# How long one may take: it is stuck that takes longer.
STUCK_SECONDS = 900

# Every access that it tries is refused, and no secret there, or there is a file that says so.
ATTACK = f"""
: >ran.$1
exec 2>/dev/null
{{ read -r line </etc/shadow; }} && : >opened
{{ echo x >{ESCAPED}; }} && : >opened
({{ read -r line </proc/1/environ; }} && : >opened)
kill -CONT 1 && : >opened
[ -z "$SECRET_TOKEN" ] || : >opened
exit 0
"""
DENIALS = 4
SECRET = {"SECRET_TOKEN": "hunter2"}

NOTHING_RAN = 125


def attack_policy():
    """The shell's, with as many denials as it likes."""
    return policy("churn", "on_denial: {limit: 0, action: none}")


class Churn:
    """Attacks until there were `count` of them and finish() is called. `ways`: one worker for each, which makes an attack
    of this number, and says what came of it: "whole" or "refused", or, if it was killed, "killed"."""

    def __init__(self, count, ways):
        self.count = count
        self.results = {}
        self.errors = []
        self.next = 0
        self.lock = threading.Lock()
        self.finishing = threading.Event()
        for directory in (WORK, UNDER):
            os.makedirs(directory, exist_ok=True)
            with open(os.path.join(directory, "attack"), "w", encoding="ascii") as file:
                file.write(ATTACK)
        # One that is stuck must not keep the case from saying so.
        self.workers = [threading.Thread(target=self.work, args=(way,), daemon=True) for way in ways]
        for worker in self.workers:
            worker.start()

    def number(self):
        with self.lock:
            if self.errors or (self.next >= self.count and self.finishing.is_set()):
                return None
            self.next += 1
            return self.next

    def work(self, way):
        try:
            while (number := self.number()) is not None:
                self.results[number] = way(number)
        except Exception as error:  # whatever it is, the case has failed
            self.errors.append(error)

    def came(self, what):
        return sum(result == what for result in list(self.results.values()))

    def finish(self):
        """What came of them: {result: how many}."""
        self.finishing.set()
        for worker in self.workers:
            worker.join(STUCK_SECONDS)
            check(not worker.is_alive(), f"an execution is stuck: {self.next} were begun, {len(self.results)} came to their end")
        if self.errors:
            tell_of_failures()
        check(not self.errors, f"{self.errors}")
        nothing_escaped()
        return {what: self.came(what) for what in sorted(set(self.results.values()))}


def tell_of_failures(known=()):
    """What is on record of new executions that ended as none should, and what the kernel said meanwhile."""
    failed = set()
    for name, end in ends().items():
        how = end["cordon"]["end"]
        if name not in known and (how["cause"] == "signaled" or how["exit_code"] not in (0, None)):
            failed.add(name)
    for record in each_record():
        if execution_id(record) in failed:
            print(f"# {json.dumps(record)}")
    said = subprocess.run(["dmesg"], capture_output=True, text=True, check=False).stdout.splitlines()
    for line in said[-20:]:
        print(f"# {line}", flush=True)


def nothing_escaped():
    for directory in (WORK, UNDER):
        check(not os.path.lexists(os.path.join(directory, "opened")), "something forbidden succeeded")
    check(not os.path.exists(ESCAPED), "something forbidden was written")


def it_ran(directory, number):
    path = os.path.join(directory, f"ran.{number}")
    if not os.path.lexists(path):
        return False
    os.unlink(path)
    return True


def by_run():
    """By cordon run, which says whether anything ran."""
    path = attack_policy()

    def attack(number):
        result = subprocess.run(
            run_arguments(["sh", "attack", str(number)], policy=path),
            cwd=WORK, env={**os.environ, **SECRET}, stdin=subprocess.DEVNULL, capture_output=True, timeout=STUCK_SECONDS,
            check=False,
        )  # fmt: skip
        ran = it_ran(WORK, number)
        # NOTHING_RAN: the daemon died before it began, so nothing of it may have run; else it came to its end.
        if (result.returncode, ran) not in ((0, True), (NOTHING_RAN, False)):
            raise Failed(f"run {number}: status {result.returncode}, {'it' if ran else 'nothing of it'} ran: {result.stderr}")
        return "whole" if ran else "refused"

    return attack


def by_executor(agent):
    """By an executor, whose exec is refused without a daemon."""

    def attack(number):
        answer = agent.ask("sh", "attack", str(number))
        ran = it_ran(UNDER, number)
        if "errno" in answer and not ran:
            # It would do nothing but ask again until a daemon is there.
            time.sleep(0.2)
            return "refused"
        if answer.get("status") == 0 and ran:
            return "whole"
        # Held when its daemon died: that one's guard kills it, and nothing of it has run.
        if answer.get("status") == -9 and not ran:
            return "killed"
        raise Failed(f"execution {number}: {answer}, {'it' if ran else 'nothing of it'} ran")

    return attack


def agents(count):
    return [Agent(**SECRET) for _ in range(count)]


# What is used


def all_daemons():
    return daemons() + standing()


def helpers(pid):
    """The processes that a daemon has started for itself: its guard, writers and readers."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def memory_of(pid):
    try:
        return int(status_of(pid)["RssAnon"].split()[0]) << 10
    except FileNotFoundError:
        return 0


def daemon_use(pid):
    """Descriptors of the daemon; bytes of its own memory, and of its helpers'."""
    return {
        "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
        "memory": memory_of(pid),
        "helpers' memory": sum(memory_of(child) for child in helpers(pid)),
    }


# Of which there is one for each process, name or object that is there.
COUNTED_MAPS = ("labels_by_address", "roles", "host_addresses", "ipc_owners", "traffic")


def entries(name):
    done = subprocess.run(["bpftool", "-j", "map", "dump", "pinned", os.path.join(PINS, "maps", name)], capture_output=True, check=True)
    return len(json.loads(done.stdout))


def kernel_use():
    """What must be as many afterwards as before, by name."""
    pins = {name: len(os.listdir(os.path.join(PINS, name))) for name in ("links", "maps", "programs")}
    maps = {name: entries(name) for name in COUNTED_MAPS}
    return {**pins, **maps, "bpf": len(programs()), "cgroups": len(execution_cgroups()), "state files": len(state_files())}
