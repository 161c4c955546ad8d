# SPDX-License-Identifier: Apache-2.0
"""Any part of cordon killed at any moment: what runs stays confined, ends, and is cleaned up and recorded."""

import os
import random
import signal
import subprocess
import time

from support import (
    CORDON,
    ESCAPED,
    PATIENCE,
    PINS,
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
    matches,
    no_daemons,
    nothing_left,
    others,
    processes,
    processes_like,
    read,
    records,
    run,
    start,
    starts,
    unloaded,
    verify,
    wait_for,
    write,
)

SEED = int(os.environ.get("CORDON_SEED", time.time_ns() % 1_000_000))
RANDOM = random.Random(SEED)
# At so many of them something is killed.
MOMENTS = int(os.environ.get("CORDON_ROBUSTNESS_MOMENTS", "4"))
NAP = "87654.321"

# Tries what is forbidden all the time. If ever it succeeds, there is a file that says so.
TRIER = f"""
exec 2>/dev/null
sleep {NAP} &
setsid sleep {NAP} &
: >up
i=0
while [ $i -lt %d ]; do
	if read -r line </etc/shadow; then : >opened; fi
	if echo x >{ESCAPED}; then : >opened; fi
	i=$((i + 1))
	echo $i >beat
	sleep 0.02
done
exit 17
"""


def trier(rounds=1_000_000):
    """The command that runs it."""
    write("trier", TRIER % rounds)
    for name in ("up", "beat"):
        if exists(name):
            os.unlink(os.path.join(WORK, name))
    return ("sh", "trier")


def confined():
    check(not exists("opened"), "something forbidden succeeded")
    check(not os.path.exists(ESCAPED), "something forbidden was written")


def survivors():
    """Of the command and its children; cordon run has their names among its arguments, too."""
    return [key[0] for key, line in processes().items() if line.startswith(("sh trier", f"sleep {NAP}"))]


def recovered(before, known):
    """The next run works, and after it there is nothing left of those before it, and all is on record."""
    result = run("sh", "-c", "echo again")
    equal((result.status, result.out), (0, b"again\n"), f"the next run ({result.text})")
    equal(survivors(), [], "processes that survived")
    confined()
    nothing_left(before)
    daemon()
    account_for_everything()
    return {name: end["cordon"]["end"]["cause"] for name, end in ends().items() if name not in known}


def moments(longest):
    """Random ones, of which about half lie in the first quarter, where most is going on."""
    return [RANDOM.uniform(0, longest if i % 2 else longest / 4) for i in range(MOMENTS)]


@case(f"SIGKILL of cordon run, at several moments (seed {SEED})")
def kill_run():
    ensure_daemon()
    before = processes()
    for delay in moments(1.2):
        known = set(ends())
        process = start(*trier())
        time.sleep(delay)
        process.kill()
        process.wait()
        wait_for(lambda: not survivors(), 1, f"death of all, {delay:.3f} s after the start")
        nothing_left(before)
        wait_for(lambda: set(starts()) == set(ends()), 2, "the end record")
        causes = {end["cordon"]["end"]["cause"] for name, end in ends().items() if name not in known}
        check(causes <= {"owner-gone"}, f"causes: {causes}, {delay:.3f} s after the start")
    confined()
    account_for_everything()


@case("SIGKILL of cordon run, once its command runs: the cause is owner-gone")
def kill_run_later():
    pid = ensure_daemon()
    known = set(ends())
    process = start(*trier(), stdin=subprocess.PIPE)
    wait_for(lambda: exists("beat"), 20, "the command's start")
    process.kill()
    process.wait()
    wait_for(lambda: not survivors(), 1, "death of all")
    end = wait_for(lambda: [end for name, end in ends().items() if name not in known], 2, "the end record")[0]
    equal(end["cordon"]["end"]["cause"], "owner-gone", "recorded cause")
    equal(end["cordon"]["end"]["exit_code"], None, "recorded exit code")
    equal(daemon(), pid, "the daemon")


@case(f"SIGKILL of the daemon, at several moments: the run goes on, confined, and keeps its status (seed {SEED})")
def kill_daemon():
    before = others()
    for delay in moments(1.2):
        pid = ensure_daemon()
        known = set(starts())
        process = start(*trier(12), stderr=subprocess.PIPE)
        time.sleep(delay)
        kill(pid)
        err = process.communicate(timeout=PATIENCE)[1].decode()
        if process.returncode == 125:
            # Nothing ran then, and that is what it says.
            check(not exists("up"), f"status 125, but the command ran; killed after {delay:.3f} s ({err})")
        else:
            equal(process.returncode, 17, f"status, killed after {delay:.3f} s ({err})")
            equal(read("beat"), b"12\n", "rounds")
        causes = recovered(before, known)
        for name in set(starts()) - known:
            # The owner may have had no answer to its last question, and gone.
            check(causes[name] in ("exited", "recovered", "not-started", "owner-gone"), f"causes: {causes}")


@case("SIGKILL of the daemon in mid-run: the end is on record with its status, and every denial is accounted for")
def kill_daemon_later():
    pid = ensure_daemon()
    before = others()
    known = set(ends())
    process = start(*trier(30), stderr=subprocess.PIPE)
    wait_for(lambda: exists("beat"), 20, "the command's start")
    kill(pid)
    wait_for(lambda: gone(pid), 2, "the daemon's death")
    beat = read("beat")
    wait_for(lambda: read("beat") != beat, 5, "the command going on")
    equal(process.wait(60), 17, "status")
    causes = recovered(before, known)
    name = next((name for name in causes if ends()[name]["cordon"]["end"]["exit_code"] == 17), None)
    equal(causes.get(name), "exited", f"cause of its end, of {causes}")
    check("denial" in [action(r) for r in records() if execution_id(r) == name], f"no denial of {name} is on record")
    counters = ends()[name]["cordon"]["counters"]
    check(counters["denials"] >= 30, f"counters: {counters}")


@case(f"SIGKILL of both at once, at several moments (seed {SEED})")
def kill_both():
    before = others()
    for delay in moments(1.2):
        pid = ensure_daemon()
        known = set(starts())
        process = start(*trier())
        time.sleep(delay)
        victims = [process.pid, pid]
        RANDOM.shuffle(victims)
        for victim in victims:
            kill(victim)
        process.wait()
        recovered(before, known)


@case("SIGKILL of the command itself, and of its parent's held child")
def kill_child():
    ensure_daemon()
    for delay in moments(0.4):
        process = start(*trier())
        time.sleep(delay)
        for pid in survivors():
            kill(pid)
        process.terminate()
        check(finish(process, 20) in (125, 137, 143), "status")
    confined()
    account_for_everything()


@case("SIGTERM to the daemon in mid-run: the run goes on, confined, and its end is on record")
def terminate_daemon():
    pid = ensure_daemon()
    before = others()
    known = set(ends())
    process = start(*trier(30))
    wait_for(lambda: exists("beat"), 20, "the command's start")
    os.kill(pid, signal.SIGTERM)
    wait_for(lambda: gone(pid), 5, "the daemon's end")
    equal(finish(process), 17, "status")
    causes = recovered(before, known)
    check([name for name in causes if ends()[name]["cordon"]["end"]["exit_code"] == 17], f"no end with its status: {causes}")


@case("SIGSTOP of the daemon: the deadline holds all the same")
def stop_daemon():
    pid = ensure_daemon()
    process = start(*trier(), options=["--timeout", "2s"])
    wait_for(lambda: exists("beat"), 20, "the command's start")
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_for(lambda: not survivors(), 8, "death of all by cordon run's own hand")
        probe = cordon("status")
        check("does not respond" in probe.text, f"what a probe is told ({probe.text})")
    finally:
        os.kill(pid, signal.SIGCONT)
    equal(finish(process), 124, "status")
    confined()


@case("SIGSTOP of cordon run: the deadline holds all the same")
def stop_run():
    ensure_daemon()
    process = start(*trier(), options=["--timeout", "2s"])
    wait_for(lambda: exists("beat"), 20, "the command's start")
    process.send_signal(signal.SIGSTOP)
    try:
        wait_for(lambda: not survivors(), 5, "death of all by the daemon's hand")
    finally:
        process.send_signal(signal.SIGCONT)
    equal(finish(process), 124, "status")


def links():
    try:
        return len(os.listdir(os.path.join(PINS, "links")))
    except FileNotFoundError:
        return 0


def attached_anew(few):
    """A condition: the links of before are gone, and more than a few are there again."""
    cleared = []

    def condition():
        count = links()
        if count == 0:
            cleared.append(True)
        return cleared and count > few

    return condition


def kill_starter_when(condition, what):
    """Starts a run that has to load, and kills the daemon as soon as the condition holds."""
    process = start("true", stderr=subprocess.PIPE)
    found = wait_for(lambda: (condition() and daemons()) or (process.poll() is not None and [0]), 60, what)
    for pid in filter(None, found):
        kill(pid)
    err = process.communicate(timeout=PATIENCE)[1].decode()
    equal(process.returncode, 125, f"status ({err})")
    check("cordon daemon" in err and "doctor" in err, f"standard error: {err!r}")


def short_lived_daemon():
    """In place of the one that runs: as cordon run starts it, but for the time that it stays."""
    for pid in daemons():
        kill(pid)
        wait_for(lambda: gone(pid), 5, "the daemon's death")
    read_end, write_end = os.pipe()
    command = f'exec 3>&{write_end} {write_end}>&-; exec -a cordon "$0" daemon --embedded --idle 1'
    process = subprocess.Popen(["bash", "-c", command, CORDON], pass_fds=[write_end], cwd="/")
    os.close(write_end)
    equal(os.read(read_end, 100)[:1], b"R", "what the daemon says of its start")
    os.close(read_end)
    equal(run("true").status, 0, "a run")
    return process


def kill_unloading(count):
    """It takes down one program after the other, and waits for each to be gone: who does not look then has to try again."""
    for _ in range(20):
        ensure_daemon()
        with short_lived_daemon() as process:
            wait_for(lambda: links() < count, 60, "the daemon's leaving")
            process.kill()
        if links() > 0:
            return
    check(False, "the daemon was gone each time")


@case("SIGKILL while unloading, while loading and while attaching: the next start repairs")
def kill_start():
    ensure_daemon()
    count = links()
    check(count > 20, f"{count} links are pinned")
    kill_unloading(count)
    kill_starter_when(lambda: True, "a daemon")
    no_daemons()
    few = RANDOM.randrange(1, 15)
    kill_starter_when(attached_anew(few), f"more than {few} links, attached anew")
    check(links() < count, "killed too late")
    check(links() > 0, "nothing to repair")
    result = run("sh", "-c", "cat /etc/shadow || echo refused")
    equal((result.status, result.out), (0, b"refused\n"), f"the next run ({result.text})")
    equal(links(), count, "pinned links")
    account_for_everything()


@case("idle: an embedded daemon leaves, and all of cordon with it")
def idle():
    ensure_daemon()
    with short_lived_daemon() as process:
        wait_for(lambda: process.poll() is not None, 60, "the daemon's leaving")
        equal(process.returncode, 0, "the daemon's status")
    unloaded()
    verify()


def hide_addresses(level):
    with open("/proc/sys/kernel/kptr_restrict", "w", encoding="ascii") as file:
        file.write(level)


@case("addresses that the kernel tells nobody: nothing is loaded without them, and it says what to do")
def hidden_addresses():
    # What is loaded already goes on: it knows them.
    equal(cordon("disable", "--force").status, 0, "disable")
    no_daemons()
    hide_addresses("2")
    try:
        result = run("touch", "marker")
        equal(result.status, 125, "exit status")
        matches(result.text, "kptr_restrict", "what it says")
        check(not exists("marker"), "the command ran")
        matches(cordon("doctor", "--quick").out.decode(), "kernel addresses +.*kptr_restrict", "cordon doctor")
        no_daemons()
    finally:
        hide_addresses("1")
    # That it runs where root is told, the next case shows, which loads.
    check("kptr_restrict" not in cordon("doctor", "--quick").out.decode(), "cordon doctor, where root is told")


@case("the end of the cgroup that a daemon was started in: it serves others, and goes on")
def starter_ends():
    equal(cordon("disable").status, 0, "disable")
    no_daemons()
    place = "/sys/fs/cgroup/starter"
    os.makedirs(place, exist_ok=True)

    def enter():
        for path, text in ((f"{place}/cgroup.procs", "0"), ("/proc/self/oom_score_adj", "700")):
            with open(path, "w", encoding="ascii") as file:
                file.write(text)

    first = start("sleep", "1000", preexec_fn=enter)
    pid = wait_for(daemons, 60, "the daemon")[0]
    wait_for(lambda: processes_like("sleep 1000"), 60, "its command's start")
    process = start(*trier(20))
    wait_for(lambda: exists("beat"), 60, "the other command's start")
    with open(f"/proc/{pid}/oom_score_adj", encoding="ascii") as file:
        equal(file.read().strip(), "0", "the daemon's OOM score")
    with open(f"{place}/cgroup.kill", "w", encoding="ascii") as file:
        file.write("1")
    finish(first)
    equal(finish(process), 17, "status of the other")
    equal(daemon(), pid, "the daemon")
    wait_for(lambda: not processes_like("sleep 1000"), 20, "the end of the one that was started there")
    os.rmdir(place)
    account_for_everything()
