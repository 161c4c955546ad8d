# SPDX-License-Identifier: Apache-2.0
"""What the cases share: running cordon, reading its log, and looking for what it left behind."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback

PROJECT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path[:0] = [os.path.join(PROJECT, "tests", name) for name in ("schema", "common")]

from patience import Failed, comes, measure_slowness, patience, wait_for  # noqa: E402  pylint: disable=wrong-import-position
from process import descendants, status_of  # noqa: E402,F401  pylint: disable=wrong-import-position,unused-import
from segment import records_of  # noqa: E402  pylint: disable=wrong-import-position

CORDON = os.path.join(os.path.realpath(os.environ.get("BUILD", os.path.join(PROJECT, "build"))), "cordon")
SHELL_POLICY = os.path.join(PROJECT, "policies", "shell-sandbox.yaml")
PYTHON_POLICY = os.path.join(PROJECT, "policies", "python-sandbox.yaml")

ROOT = "/var/tmp/cordon-robustness"
WORK = os.path.join(ROOT, "work")
LOG = os.path.join(ROOT, "log")
# No execution may write it: it is outside of the work directory, and no execution made the directory that holds it.
ESCAPED = os.path.join(ROOT, "escaped-from-cordon")
CGROUPS = "/sys/fs/cgroup/cordon"
STATE = "/run/cordon/executions"
PINS = "/sys/fs/bpf/cordon"
SOCKET = "/run/cordon/control.sock"

NOTHING_RAN = 125
# Seconds for the longest commands: loading takes an emulated machine a minute, and a loaded one several times that.
PATIENCE = patience(120)
SETTLE = 5

# What is being ended can start nothing more in the moment before it is killed, for which a shell would leave with a status of its own.
STAYS = "trap 'while :; do :; done' EXIT\n"
LEAVES = "trap - EXIT\n"
# For a shell: tries what is forbidden until somebody writes `stop`. If ever it succeeds, there is a file that says so.
LOOP = f"""
{STAYS}
exec 2>/dev/null
i=0
until [ -e stop ]; do
	if read -r line </etc/shadow; then : >opened; fi
	i=$((i + 1))
	echo $i >beat
	sleep 0.05
done
{LEAVES}
exit 17
"""

UUID = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")


def check(held, text):
    if not held:
        raise Failed(text)


def equal(found, wanted, what):
    check(found == wanted, f"{what}: {found!r}, not {wanted!r}")


def matches(text, pattern, what):
    check(re.search(pattern, text, re.DOTALL), f"{what}: {text!r} does not match {pattern!r}")


# Running


class Result:
    def __init__(self, status, out, err, seconds):
        self.status = status
        self.out = out
        self.err = err
        self.seconds = seconds

    @property
    def text(self):
        return self.err.decode("utf-8", "replace")


def shell_status(returncode):
    """As a shell would see it: 128+n for a death by signal n."""
    return 128 - returncode if returncode < 0 else returncode


def execute(argv, stdin=b"", timeout=PATIENCE, **options):
    """Runs a program to its end. stdin: bytes, or anything that Popen takes."""
    data = stdin if isinstance(stdin, bytes) else None
    feed = subprocess.PIPE if data else subprocess.DEVNULL if data is not None else stdin
    options.setdefault("cwd", WORK)
    start = time.monotonic()
    process = subprocess.Popen(argv, stdin=feed, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    try:
        out, err = process.communicate(data, timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Failed(f"{' '.join(map(str, argv[:12]))}: still running after {timeout:.0f} s") from None
    return Result(shell_status(process.returncode), out, err, time.monotonic() - start)


def cordon(*arguments, **options):
    return execute([CORDON, *arguments], **options)


def run_arguments(command, policy=SHELL_POLICY, options=()):
    return [CORDON, "run", "--policy", policy, "--workdir", WORK, "--log", LOG, *options, "--", *command]


def run(*command, policy=SHELL_POLICY, options=(), **how):
    return execute(run_arguments(command, policy, options), **how)


def start(*command, policy=SHELL_POLICY, options=(), **how):
    """A run in the background; its output goes where `how` says, or nowhere."""
    how.setdefault("stdin", subprocess.DEVNULL)
    how.setdefault("stdout", subprocess.DEVNULL)
    how.setdefault("stderr", subprocess.DEVNULL)
    process = subprocess.Popen(run_arguments(command, policy, options), cwd=WORK, **how)
    STARTED.append(process)
    return process


STARTED = []


def end_all_started():
    """What a case that failed left running would be in the way of the others."""
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            process.kill()
            process.wait()


def end_all_run():
    """Nor does what it has run through a shell or a terminal stay."""
    for pid in processes_like(f"{CORDON} run"):
        kill(pid)
    with contextlib.suppress(Failed):
        wait_for(lambda: not execution_cgroups(), SETTLE, "the executions' end")


def finish(process, seconds=120):
    """Returns the status of a run, as a shell does. seconds: as for wait_for()."""
    try:
        return shell_status(process.wait(patience(seconds)))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise Failed(f"cordon run did not end within {patience(seconds):.0f} s") from None


def write(name, content, mode=0o644):
    """A file in the work directory, or at an absolute path."""
    path = os.path.join(WORK, name)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    os.chmod(path, mode)
    return path


def read(name):
    with open(os.path.join(WORK, name), "rb") as file:
        return file.read()


def exists(name):
    return os.path.lexists(os.path.join(WORK, name))


# The log


def each_record(log=LOG):
    """All, in order, one at a time: of a long log, too, whose closed segments are compressed."""
    for name in sorted(os.listdir(log)):
        if not name.endswith((".jsonl", ".jsonl.gz")):
            continue
        path = os.path.join(log, name)
        # It may have been compressed meanwhile.
        path = path if os.path.exists(path) else path + ".gz"
        yield from records_of(path)


def records(log=LOG):
    return list(each_record(log))


def action(record):
    return record["event"]["action"]


def execution_id(record):
    return record["cordon"].get("execution", {}).get("id")


def ends(log=LOG):
    return {execution_id(r): r for r in each_record(log) if action(r) == "execution-end"}


def starts(log=LOG):
    return {execution_id(r): r for r in each_record(log) if action(r) == "execution-start"}


def last_end(log=LOG):
    found = [r for r in records(log) if action(r) == "execution-end"]
    check(found, "the log has no execution-end")
    return found[-1]


def verify(log=LOG):
    result = cordon("log", "verify", "--log", log)
    equal(result.status, 0, f"cordon log verify ({result.text.strip()} {result.out[-300:]!r})")


class Account:
    """What the log has of one execution."""

    def __init__(self):
        self.starts = self.ends = self.denials = self.missing = 0
        self.adopted = False
        self.numbers = set()
        self.counters = None

    def add(self, record):
        what = action(record)
        if "sequence" in record["cordon"]:
            self.numbers.add(record["cordon"]["sequence"])
        if what == "execution-start":
            self.starts += 1
            self.adopted = record["cordon"]["execution"]["executor"] != "cordon-run"
        elif what == "execution-end":
            self.ends += 1
            self.counters = record["cordon"]["counters"]
        elif what == "denial":
            self.denials += 1
        elif what == "gap" and record["cordon"]["gap"]["of"] == "events":
            gap = record["cordon"]["gap"]
            self.numbers.update(range(gap["after"] + 1, gap["before"]))
            self.missing += gap["missing"]

    def last(self):
        """How far the events are on record without a hole, or in a gap that is."""
        numbers = set(self.numbers)
        if self.adopted:
            # That the kernel took it, which variables it removed, and that the program was in place: the start record
            # tells of these.
            missing = (n for n in range(1, max(numbers, default=0)) if n not in numbers)
            numbers.update(n for n, _ in zip(missing, range(3)))
        return next(n for n in range(len(numbers) + 1) if n + 1 not in numbers)

    def told(self):
        """How many denials the log accounts for."""
        return self.denials + self.missing + sum(self.counters[name] for name in ("coalesced", "limited", "dropped"))


def account_for_everything(log=LOG):
    """Every start has one end, each event that the kernel numbered is on record or in a gap, and so is each denial that it
    counted, unless it was merged or held back, which is counted as well."""
    verify(log)
    accounts = {}
    for record in each_record(log):
        accounts.setdefault(execution_id(record), Account()).add(record)
    accounts.pop(None, None)
    wrong = [f"{name}: {a.starts} start and {a.ends} end records" for name, a in accounts.items() if a.starts != a.ends or a.starts > 1]
    equal(wrong, [], "executions without one of each")
    for name, account in accounts.items():
        if account.ends == 0:
            continue
        last, denials = account.counters["last_sequence"], account.counters["denials"]
        # The last event may be the one that says that all are dead, which is no record.
        check(account.last() >= last - 1, f"{name}: {last} events, accounted for up to {account.last()}")
        check(account.told() >= denials, f"{name}: {denials} denials, of which the log tells of {account.told()}: {account.counters}")
    return accounts


# What is left behind


def user_processes():
    """Process ids of those that are not the kernel's own, which are most: the children of kthreadd, and itself."""
    with open("/proc/2/task/2/children", encoding="ascii") as file:
        kernel = {"2", *file.read().split()}
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and pid not in kernel]


def processes():
    """Of user space: {(pid, start time): command line}."""
    found = {}
    for pid in user_processes():
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                line = file.read().replace(b"\0", b" ").decode("utf-8", "replace")
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if line and fields[0] not in "ZX":
            found[(int(pid), fields[19])] = line
    return found


def others():
    """Processes besides daemons."""
    return {key: line for key, line in processes().items() if "cordon daemon" not in line}


def processes_like(text):
    return [key[0] for key, line in processes().items() if text in line and key[0] != os.getpid()]


def parent(pid):
    """0 of one that has gone."""
    try:
        return int(status_of(pid)["PPid"])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def daemons():
    """Daemons that run; one that is still being started counts from its exec on. What one of them forks for something that takes
    long has its command line, too."""
    found = [key[0] for key, line in processes().items() if line.startswith("cordon daemon --embedded")]
    return [pid for pid in found if len(found) == 1 or parent(pid) not in found]


def no_daemons():
    """One that has answered its last request, or has refused to start, takes a moment to end."""
    wait_for(lambda: not daemons(), SETTLE, "the daemon's end")


def execution_cgroups():
    try:
        return [name for name in os.listdir(CGROUPS) if os.path.isdir(os.path.join(CGROUPS, name))]
    except FileNotFoundError:
        return []


def state_files():
    try:
        return os.listdir(STATE)
    except FileNotFoundError:
        return []


def temporary_directories():
    return [name for name in os.listdir("/tmp") if UUID.match(name.removeprefix("cordon-"))]


def leftovers(before):
    found = [f"cgroup {name}" for name in execution_cgroups()]
    found += [f"state file {name}" for name in state_files()]
    found += [f"/tmp/{name}" for name in temporary_directories()]
    known = set(before) | {(os.getpid(), "")}
    for key, line in processes().items():
        if key not in known and not line.startswith(("cordon daemon", "/usr/local/bin/cordon daemon")):
            found.append(f"process {key[0]}: {line[:80]}")
    return found


def nothing_left(before, seconds=SETTLE):
    left = []

    def is_clean():
        left[:] = leftovers(before)
        return not left

    if not comes(is_clean, seconds):
        raise Failed(f"left behind: {len(left)}, such as {', '.join(left[:10])}")


def fresh_work():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK, exist_ok=True)
    os.makedirs(LOG, mode=0o750, exist_ok=True)


# The daemon


def daemon():
    """The one daemon's process id."""
    found = daemons()
    equal(len(found), 1, "daemons running")
    return found[0]


def ensure_daemon():
    if not daemons():
        equal(run("true").status, 0, "a run that starts the daemon")
    return daemon()


def gone(pid):
    """It may go between any two looks at it."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            return any(line.startswith("State:\tZ") for line in file)
    except (FileNotFoundError, ProcessLookupError):
        return True


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def program_ids():
    """Of each of cordon's programs that the kernel has: [(id, name)]."""
    result = subprocess.run(["bpftool", "-j", "prog"], capture_output=True, check=True)
    return [(p["id"], p["name"]) for p in json.loads(result.stdout) if p.get("name", "").startswith("cordon")]


def programs():
    return [name for _, name in program_ids()]


def unloaded():
    """Nothing of cordon is in force, and nothing is left of it but its log and its locks."""
    no_daemons()
    check(not os.path.exists(PINS), f"{PINS} is there")
    check(not os.path.exists(SOCKET), f"{SOCKET} is there")
    equal(execution_cgroups(), [], "cgroups")
    equal(state_files(), [], "state files")
    equal(os.listdir("/run/cordon/policies"), [], "notes of policies")
    wait_for(lambda: not programs(), 5, "no program of cordon in the kernel")


# Cases

CASES = []


def case(title):
    def add(function):
        CASES.append((title, function))
        return function

    return add


def logs():
    """All that the cases left, but the one that a case made into no log."""
    found = [top for top, _, files in os.walk(ROOT) if "current.jsonl" in files]
    return [top for top in found if not read_bytes(os.path.join(top, "current.jsonl")).startswith(b"this is no log")]


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def check_logs(what, program, *arguments):
    """What any case had recorded, by a program of tests/schema."""
    found = logs()
    if not found:
        print(f"{what}: these cases leave no log")
        return
    checker = os.path.join(os.path.dirname(CORDON), "tests", "schema", program)
    done = subprocess.run([checker, *arguments, *found], capture_output=True, text=True, errors="replace", check=False)
    check(done.returncode == 0, f"{what}: {done.stdout[-12000:]}{done.stderr}")
    print(f"{what}: {done.stdout.splitlines()[-1]}")


def check_records():
    check_logs("schema", "check", os.path.join(PROJECT, "docs", "audit.schema.json"))


def check_answers():
    check_logs("answers", "agree")


def print_longest_turn():
    """What the loop of the daemon that is left, if any, took most processor time for, and what it was at for longest."""
    try:
        turns = json.loads(cordon("status", "--json").out)["turns"]
        busiest, longest = turns["busiest"], turns["longest"]
        print(
            f"(longest turn of the daemon's loop: {busiest['nsec'] / 1e6:.1f} ms of processor time, {busiest['what']}; "
            f"by the clock {longest['nsec'] / 1e6:.1f} ms, {longest['what']})"
        )
    except (Failed, ValueError, KeyError, TypeError):
        pass


def where(failure, function):
    """The line of that case."""
    file = function.__code__.co_filename
    lines = [frame.lineno for frame in traceback.extract_tb(failure.__traceback__) if frame.filename == file]
    return f"{os.path.basename(file)}:{lines[0] if lines else function.__code__.co_firstlineno}"


def what_runs(before):
    """What a case that failed has started and that is still there: a line each, with what it waits in and its signals."""
    lines = []
    for (pid, since), line in processes().items():
        if (pid, since) in before or pid == os.getpid():
            continue
        with contextlib.suppress(OSError, KeyError):
            status = status_of(pid)
            with open(f"/proc/{pid}/wchan", encoding="ascii") as file:
                wait = file.read()
            signals = ", ".join(f"{name} {status[name].lstrip('0') or 0}" for name in ("ShdPnd", "SigPnd", "SigBlk", "SigIgn"))
            lines.append(f"{pid} of {status['PPid']}, {status['State']} in {wait}, {signals}: {line[:120]}")
    return "".join(f"\nruns: {line}" for line in lines[:12])


def run_cases(only=None):
    """Runs all cases in order; returns how many passed and failed."""
    passed = failed = 0
    print(f"slowness {measure_slowness():.2f}")
    last = [
        ("records: all that the cases had recorded is as docs/audit.schema.json says", check_records),
        ("records: what answers people says of each access what was decided", check_answers),
    ]
    for title, function in CASES + last:
        if only and not re.search(only, title) and function not in (check_records, check_answers):
            continue
        begin = time.monotonic()
        before = processes()
        try:
            fresh_work()
            function()
            nothing_left(before)
            outcome = ""
        except Failed as failure:
            outcome = f"{failure}\n(at {where(failure, function)})"
        except Exception:  # a case that cannot run has failed
            outcome = traceback.format_exc()
        if outcome:
            outcome += what_runs(before)
            end_all_run()
        end_all_started()
        seconds = time.monotonic() - begin
        if outcome:
            failed += 1
            print(f"not ok {title} ({seconds:.1f} s)")
            print("".join(f"    {line}\n" for line in outcome.splitlines()), end="")
        else:
            passed += 1
            print(f"ok {title} ({seconds:.1f} s)")
        sys.stdout.flush()
    print_longest_turn()
    return passed, failed
