# SPDX-License-Identifier: Apache-2.0
"""Many executions, and SIGKILL of the daemon at random while they come and go: none unconfined, none stuck, no denial
lost that the log does not account for, and nothing that grows. CORDON_CHURN_KILLS, _RUNS and _LIVE say how many."""

import json
import os
import random
import subprocess
import threading
import time

from service import start_daemon, standing
from support import (
    ROOT,
    PINS,
    SHELL_POLICY,
    WORK,
    Failed,
    account_for_everything,
    case,
    check,
    cordon,
    daemons,
    ends,
    equal,
    execution_cgroups,
    exists,
    gone,
    kill,
    nothing_left,
    processes,
    programs,
    run,
    run_arguments,
    state_files,
    wait_for,
    write,
)

KILLS = int(os.environ.get("CORDON_CHURN_KILLS", "20"))
RUNS = int(os.environ.get("CORDON_CHURN_RUNS", "200"))
LIVE = int(os.environ.get("CORDON_CHURN_LIVE", "60"))
SEED = int(os.environ.get("CORDON_ROBUSTNESS_SEED", time.time_ns() % 1_000_000))
AT_A_TIME = 4
GROWTH_MAX = 16 << 20

# Every access that it tries is refused, or there is a file that says so. Each is a denial that must be accounted for.
ATTACK = """
: >ran.$1
exec 2>/dev/null
{ read -r line </etc/shadow; } && : >opened
{ echo x >/var/tmp/escaped-from-cordon; } && : >opened
({ read -r line </proc/1/environ; } && : >opened)
kill -CONT 1 && : >opened
exit 0
"""
DENIALS = 4


def policy():
    """The shell's, with as many denials as it likes."""
    with open(SHELL_POLICY, encoding="utf-8") as file:
        lines = [line for line in file.read().splitlines() if not line.startswith(("name:", "on_denial:"))]
    path = os.path.join(ROOT, "churn.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, "name: churn", "on_denial: {limit: 0, action: none}"]) + "\n")
    return path


class Churn:
    """Attacks, some at a time, until there were enough of them and of what is done to them meanwhile."""

    def __init__(self, runs):
        self.runs = runs
        self.policy = policy()
        self.statuses = {}
        self.next = 0
        self.lock = threading.Lock()
        self.done = threading.Event()
        self.workers = [threading.Thread(target=self.work) for _ in range(AT_A_TIME)]
        for worker in self.workers:
            worker.start()

    def number(self):
        with self.lock:
            if self.next >= self.runs and self.done.is_set():
                return None
            self.next += 1
            return self.next

    def work(self):
        while (number := self.number()) is not None:
            arguments = run_arguments(["sh", "attack", str(number)], policy=self.policy)
            result = subprocess.run(arguments, cwd=WORK, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            ran = exists(f"ran.{number}")
            if ran:
                os.unlink(os.path.join(WORK, f"ran.{number}"))
            self.statuses[number] = (result.returncode, ran, result.stderr.decode())

    def finish(self):
        self.done.set()
        for worker in self.workers:
            worker.join()
        check(not exists("opened"), "something forbidden succeeded")
        check(not os.path.exists("/var/tmp/escaped-from-cordon"), "something forbidden was written")
        for number, (status, ran, said) in self.statuses.items():
            # 125: the daemon died before it began, so nothing of it may have run; else it came to its end.
            if (status, ran) not in ((0, True), (125, False)):
                raise Failed(f"run {number}: status {status}, {'it' if ran else 'nothing of it'} ran: {said}")
        return sum(status == 0 for status, _, _ in self.statuses.values())


def kill_often(chance, kills):
    """Now and then one that stays is started, and takes the place of whichever there is."""
    killed = 0
    while killed < kills:
        time.sleep(chance.uniform(0, 0.6))
        for pid in daemons() + standing():
            kill(pid)
            wait_for(lambda pid=pid: gone(pid), 60, "the daemon's death")
            killed += 1
        if chance.random() < 0.1:
            start_daemon()
    return killed


def daemon_use(pid):
    """Descriptors, and bytes of its own memory."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        fields = dict(line.split(":", 1) for line in file)
    return len(os.listdir(f"/proc/{pid}/fd")), int(fields["RssAnon"].split()[0]) << 10


def kernel_use():
    """What must be as many afterwards as before, by name."""
    pins = {name: len(os.listdir(os.path.join(PINS, name))) for name in ("links", "maps", "programs")}
    return {**pins, "bpf": len(programs()), "cgroups": len(execution_cgroups()), "state files": len(state_files())}


def one_daemon():
    equal(run("true").status, 0, "a run")
    (pid,) = daemons() + standing()
    return pid


def not_grown(before, after):
    check(after[0] <= before[0] + 2, f"descriptors of the daemon: {before[0]}, then {after[0]}")
    check(after[1] <= before[1] + GROWTH_MAX, f"memory of the daemon: {before[1]} bytes, then {after[1]}")


def every_denial_is_counted(known):
    """Each that ran to its end was refused all that it tried, whoever was the daemon."""
    for name, end in ends().items():
        if name in known or end["cordon"]["end"]["cause"] != "exited" or end["cordon"]["policy"]["name"] != "churn":
            continue
        found = end["cordon"]["counters"]["denials"]
        check(found >= DENIALS, f"{name}: {found} denials, not {DENIALS}")


@case(f"{KILLS} times SIGKILL of the daemon during {RUNS} executions (seed {SEED})")
def many_kills():
    one_daemon()
    known = set(ends())
    before = {key: line for key, line in processes().items() if "cordon daemon" not in line}
    use = kernel_use()
    write("attack", ATTACK)
    churn = Churn(RUNS)
    try:
        killed = kill_often(random.Random(SEED), KILLS)
    finally:
        whole = churn.finish()
    check(killed >= KILLS, f"{killed} kills")
    print(f"# {len(churn.statuses)} executions, of which {whole} came to their end; {killed} kills")
    check(whole > len(churn.statuses) / 3, "hardly any came to its end")
    one_daemon()
    nothing_left(before, 60)
    wait_for(lambda: kernel_use() == use, 60, f"as much in the kernel as before, {use}, now {kernel_use()}")
    every_denial_is_counted(known)
    account_for_everything()


@case(f"{RUNS} executions in sequence leave no more of anything than the first ones did")
def sequence():
    pid = one_daemon()
    before = {key: line for key, line in processes().items() if "cordon daemon" not in line}
    write("attack", ATTACK)
    # What is kept for reuse is there after some.
    churn = Churn(max(RUNS // 10, 20))
    churn.finish()
    nothing_left(before, 60)
    use, kernel = daemon_use(pid), kernel_use()
    churn = Churn(RUNS)
    whole = churn.finish()
    equal(whole, len(churn.statuses), "executions that came to their end")
    nothing_left(before, 60)
    after = daemon_use(pid)
    print(f"# descriptors and memory of the daemon: {use}, after {whole} executions {after}")
    not_grown(use, after)
    equal(kernel_use(), kernel, "what is in the kernel")
    account_for_everything()


@case(f"{LIVE} executions live at once, over a crash of the daemon, and are all ended and gone")
def live_at_once():
    pid = one_daemon()
    before = {key: line for key, line in processes().items() if "cordon daemon" not in line}
    use, kernel = daemon_use(pid), kernel_use()
    known = set(ends())
    started = []
    arguments = run_arguments(["sh", "-c", ": >ran.$0; : <stop"], policy=policy())
    os.mkfifo(os.path.join(WORK, "stop"))
    for i in range(LIVE):
        started.append(subprocess.Popen([*arguments, str(i)], cwd=WORK, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        # Not all at once: that is another case's.
        if i % 16 == 15:
            wait_for(lambda i=i: exists(f"ran.{i}") or started[i].poll() is not None, 120, "their start")
    wait_for(lambda: all(exists(f"ran.{i}") or started[i].poll() is not None for i in range(LIVE)), 300, "their start")
    equal([process.poll() for process in started], [None] * LIVE, "statuses")
    print(f"# with {LIVE} live: descriptors and memory of the daemon {daemon_use(pid)}, at first {use}")
    kill(pid)
    wait_for(lambda: gone(pid), 60, "the daemon's death")
    begin = time.monotonic()
    pid = one_daemon()
    print(f"# the next daemon served after {time.monotonic() - begin:.1f} s")
    result = cordon("ps", "--json")
    equal(len(json.loads(result.out)), LIVE, f"executions that are listed ({result.text})")
    # Whoever waits for a writer has one from here on.
    with open(os.path.join(WORK, "stop"), "w", encoding="utf-8"):
        statuses = [process.wait(600) for process in started]
    equal(statuses, [0] * LIVE, "statuses")
    nothing_left(before, 120)
    check(len(set(ends()) - known) >= LIVE, "ends are missing on record")
    not_grown(use, daemon_use(pid))
    equal(kernel_use(), kernel, "what is in the kernel")
    account_for_everything()
