# SPDX-License-Identifier: Apache-2.0
"""The process that writes the log: what it may not do, and what becomes of the records when it is killed."""

import fcntl
import os
import signal
import subprocess
import time

from cases_crash import SEED, confined, moments, survivors, trier
from support import (
    LOG,
    NOTHING_RAN,
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
    exists,
    finish,
    gone,
    kill,
    matches,
    measure_slowness,
    processes,
    read,
    records,
    run,
    start,
    status_of,
    verify,
    wait_for,
)

WRITER_UID = 65530


def writers(log=LOG):
    """The writers of this log: its directory is their root."""
    found = []
    for (pid, _), line in processes().items():
        try:
            if "--log-writer" in line and os.path.samefile(f"/proc/{pid}/root", log):
                found.append(pid)
        except OSError:
            continue
    return found


def writer():
    return wait_for(writers, 20, "the log's writer")[0]


@case("writer: another user's, without capabilities and new privileges, with the log's directory as its root")
def unprivileged():
    ensure_daemon()
    process = start(*trier(20))
    wait_for(lambda: exists("beat"), 20, "the command's start")
    pid = writer()
    status = status_of(pid)
    equal(set(status["Uid"].split()), {str(WRITER_UID)}, "its user")
    equal(set(status["Gid"].split()), {str(WRITER_UID)}, "its group")
    equal(status["Groups"].strip(), "", "its other groups")
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        equal(int(status[name], 16), 0, name)
    equal((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"), "its privileges and filter")
    equal(os.stat(LOG).st_uid, WRITER_UID, "whose the log is")
    equal(os.stat(LOG).st_mode & 0o777, 0o750, "the directory's mode")
    for name in ("current.jsonl", "lock"):
        found = os.stat(os.path.join(LOG, name))
        equal((found.st_uid, found.st_mode & 0o777), (WRITER_UID, 0o640), name)
    numbers = [int(number) for number in os.listdir(f"/proc/{pid}/fd")]
    strays = {os.readlink(f"/proc/{pid}/fd/{number}") for number in numbers if number > 3}
    equal({path for path in strays if not path.startswith(LOG)}, set(), "what else it has open")
    check(os.readlink(f"/proc/{pid}/fd/3").startswith("socket:"), "no socket to the daemon")
    equal(finish(process), 17, "status")


@case(f"SIGKILL of the log's writer, at several moments: what runs stays confined, and no record is missing (seed {SEED})")
def kill_writer():
    pid = ensure_daemon()
    known = len(records())
    for delay in moments(1.2):
        process = start(*trier(12), stderr=subprocess.PIPE)
        time.sleep(delay)
        for victim in writers():
            kill(victim)
        status, said = finish(process), process.stderr.read().decode()
        equal(status, 17, f"status, the writer killed after {delay:.3f} s ({said})")
        equal(read("beat"), b"12\n", "rounds")
    equal(daemon(), pid, "the daemon")
    confined()
    account_for_everything()
    missing = [r for r in records()[known:] if action(r) == "gap" and r["cordon"]["gap"]["of"] != "crash"]
    equal(missing, [], "gaps")


@case("SIGKILL of the log's writer in mid-run: its successor repairs, and says so")
def kill_writer_later():
    ensure_daemon()
    known = len(records())
    process = start(*trier(30))
    wait_for(lambda: exists("beat"), 20, "the command's start")
    name = wait_for(lambda: [r for r in records()[known:] if action(r) == "execution-start"], 20, "the start record")[-1]
    victim = writer()
    kill(victim)
    successor = wait_for(lambda: [pid for pid in writers() if pid != victim], 20, "another writer")[0]
    check(gone(victim), "the first one is still there")
    equal(finish(process), 17, "status")
    restarts = [r for r in records()[known:] if action(r) == "agent-writer-restart"]
    equal([r["cordon"]["agent"]["why"] for r in restarts], ["killed by signal 9"], "what is on record of it")
    crashes = [r for r in records()[known:] if action(r) == "gap" and r["cordon"]["gap"]["of"] == "crash"]
    equal(len(crashes), 1, "gaps of a crash")
    end = ends()[execution_id(name)]["cordon"]["counters"]
    check(end["denials"] >= 30, f"counters: {end}")
    account_for_everything()
    wait_for(lambda: gone(successor), 20, "the end of the writer of a log that is not in use")


@case("no writer, no execution: what cannot be recorded does not start, and does as soon as it can")
def no_writer():
    ensure_daemon()
    process = start(*trier(40))
    wait_for(lambda: exists("beat"), 20, "the command's start")
    victim = writer()
    lock = os.open(os.path.join(LOG, "lock"), os.O_RDWR | os.O_CLOEXEC)
    try:
        kill(victim)
        wait_for(lambda: gone(victim), 5, "the writer's end")
        # Whoever comes first has the log.
        wait_for(lambda: lock_it(lock), 20, "the lock")
        for other in writers():
            kill(other)
        result = run("true")
        equal(result.status, NOTHING_RAN, f"status ({result.text})")
        matches(result.text, "cannot be written|another cordon writes", "standard error")
    finally:
        os.close(lock)
    equal(finish(process), 17, "status of the one that ran")
    result = run("sh", "-c", "echo again")
    equal((result.status, result.out), (0, b"again\n"), f"the next run ({result.text})")
    verify()
    account_for_everything()
    confined()


def lock_it(lock):
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        for other in writers():
            kill(other)
        return False
    return True


@case("SIGSTOP of the log's writer: deadlines, status and kill go on; what starts waits for its record, and has all its time then")
def stop_writer():
    ensure_daemon()
    known = len(records())
    timed = start(*trier(), options=["--timeout", "4s"])
    wait_for(lambda: exists("beat"), 20, "the command's start")
    other = start("sleep", "1000")
    wait_for(lambda: len([r for r in records()[known:] if action(r) == "execution-start"]) == 2, 20, "its start record")
    name = execution_id([r for r in records()[known:] if action(r) == "execution-start"][-1])
    victims = writers()
    for victim in victims:
        os.kill(victim, signal.SIGSTOP)
    # Enough for the command on this machine, and less than what the daemon's own patience with a writer allows it to be held.
    limit = min(4, max(2, round(measure_slowness() / 2)))
    begun = time.monotonic()
    try:
        held = start("sh", "-c", "echo ran >held", options=["--timeout", f"{limit}s"], stderr=subprocess.PIPE)
        wait_for(lambda: not survivors(), 5, "death of all whose time is over")
        equal(finish(timed), 124, "status of the timed one")
        # None of them waits for the writer, which does not go on before the last of them has its answer.
        for arguments in (("status",), ("ps",), ("kill", name)):
            equal(cordon(*arguments).status, 0, f"status of cordon {arguments[0]}")
        finish(other)
        # It is held for longer than its limit. The daemon replaces a writer that is silent for half a minute; then it may start.
        time.sleep(max(0, limit - (time.monotonic() - begun)))
        check(not exists("held") or any(gone(victim) for victim in victims), "it ran before its start was on record")
    finally:
        for victim in victims:
            if not gone(victim):
                os.kill(victim, signal.SIGCONT)
    status, told = finish(held), held.stderr.read().decode()
    if status == NOTHING_RAN:
        # On a slow machine the daemon has given up the launch meanwhile.
        check(told.startswith("cordon: "), f"no reason is given: {told!r}")
        check(not exists("held"), "it ran although its launch failed")
    else:
        equal(status, 0, f"status of the one that was held ({told})")
        equal(read("held"), b"ran\n", "what it wrote")
    account_for_everything()
    confined()
