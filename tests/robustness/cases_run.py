# SPDX-License-Identifier: Apache-2.0
"""Status, streams, arguments and signals are the command's own; time-outs stop everything."""

import hashlib
import json
import os
import signal
import subprocess
import time

from support import (
    LOG,
    PATIENCE,
    PYTHON_POLICY,
    ROOT,
    UUID,
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
    execute,
    exists,
    finish,
    last_end,
    matches,
    processes_like,
    read,
    records,
    run,
    run_arguments,
    start,
    starts,
    verify,
    wait_for,
    write,
)


BASELINE = {}
# Of a leak that is found, kB for each run; and the runs between two looks.
KB_PER_RUN = 20
GROWTH_RUNS = 20


@case("growth: what the daemon uses after its first runs")
def baseline():
    for _ in range(5):
        run("true")
    BASELINE.update(usage(daemon()))


@case("exit status: the command's own")
def exit_status():
    for status in (0, 1, 124, 125, 127, 255):
        result = run("sh", "-c", f"exit {status}")
        equal((result.status, result.out, result.err), (status, b"", b""), f"exit {status}")
        equal(last_end()["cordon"]["end"]["exit_code"], status, "recorded exit code")
    verify()


@case("exit status: 128+n for a death by signal n")
def death_by_signal():
    for number in ("KILL", "TERM", "SEGV", "PIPE"):
        result = run("sh", "-c", f"kill -{number} $$")
        equal(result.status, 128 + getattr(signal, f"SIG{number}"), f"status after {number}")
        equal(result.err, b"", "standard error")
        end = last_end()["cordon"]["end"]
        equal((end["cause"], end["exit_code"]), ("signaled", None), "recorded end")


@case("exit status: 127 not found, 126 not executable or denied")
def not_run():
    write("text", "no program\n", 0o644)
    write("garbage", b"\x7fELF garbage", 0o755)
    write("bad-interpreter", "#!/no/such/interpreter\n", 0o755)
    os.mkdir(os.path.join(WORK, "directory"))
    for command, status, pattern in (
        ("no-such-program", 127, r"no-such-program: not found"),
        ("./no-such-program", 127, r"no-such-program: not found"),
        ("./bad-interpreter", 127, r"bad-interpreter: not found"),
        ("./text", 126, r"\./text: Permission denied"),
        ("./directory", 126, r"\./directory: "),
        ("/etc/passwd", 126, r"/etc/passwd: "),
        ("./garbage", 126, r"garbage"),
        ("/usr/bin/passwd", 126, r"passwd: "),
        ("./" + "x" * 300, 126, r"too long"),
    ):
        result = run(command)
        equal(result.status, status, f"status of {command[:40]} ({result.text.strip()})")
        matches(result.text, pattern, f"standard error of {command[:40]}")
        equal(result.out, b"", "standard output")


LOOP_NAME = "98765.4321"


@case("time-out: 124, and children, sessions and double forks die with it")
def time_out():
    ensure_daemon()
    write(
        "script",
        f"""trap '' TERM INT HUP
sleep {LOOP_NAME} &
setsid sleep {LOOP_NAME} &
(setsid sh -c 'trap "" TERM; sleep {LOOP_NAME} & sleep {LOOP_NAME}' &)
(trap '' TERM; setsid setsid nohup sleep {LOOP_NAME} >/dev/null 2>&1 &)
echo started
while :; do sleep 0.1; done
""",
    )
    result = run("bash", "script", options=["--timeout", "2s"])
    equal(result.status, 124, f"status ({result.text})")
    equal(processes_like(LOOP_NAME), [], "processes that outlived it")
    equal(result.out, b"started\n", "output")
    # From the deadline until it dies it may be refused a fork.
    matches(result.err.decode(), r"^(script: fork: Operation not permitted\n)?$", "errors")
    end = last_end()["cordon"]["end"]
    equal(end["cause"], "timeout", "recorded cause")
    check(last_end()["event"]["duration"] >= 2e9, f"it ended before its time: {last_end()['event']}")
    check(end["killed_tasks"] >= 5, f"killed_tasks: {end['killed_tasks']}")


@case("end: what the command leaves in the background dies with it, and standard output closes")
def background():
    result = run("sh", "-c", f"sleep {LOOP_NAME} & setsid sleep {LOOP_NAME} & echo done")
    equal((result.status, result.out), (0, b"done\n"), "the run")
    equal(processes_like(LOOP_NAME), [], "processes that outlived it")


def at_once(count):
    known = set(starts()) if os.path.exists(os.path.join(LOG, "current.jsonl")) else set()
    runs = []
    for i in range(count):
        runs.append(start("sh", "-c", f"echo {i}; exit {i}", stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    for i, process in enumerate(runs):
        out, err = process.communicate(timeout=PATIENCE)
        equal((process.returncode, out, err), (i, b"%d\n" % i, b""), f"run {i}")
    daemon()
    fresh = set(starts()) - known
    equal(len(fresh), count, "new ids")
    check(all(UUID.match(name) for name in fresh), f"ids: {fresh}")
    equal(sorted(ends()[name]["cordon"]["end"]["exit_code"] for name in fresh), list(range(count)), "recorded codes")
    verify()


# A child that is the caller's, not its own: who started the run never heard of it, and does not wait for it.
SIBLINGS = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
made = 0
for _ in range(20):
    pid = libc.syscall(number, 0x8000 | 17, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    made += pid > 0
print(made, ctypes.get_errno())
"""


@case("end: zombies that are not the command's to wait for hold nothing up, and make no false record")
def siblings():
    write("siblings.py", SIBLINGS)
    for options, wanted in ((), b"0 1\n"), (("--observe",), b"20 0\n"):
        result = run("python3", "siblings.py", policy=PYTHON_POLICY, options=options)
        equal((result.status, result.out), (0, wanted), f"with {options} ({result.text})")
    # They stay as long as the run that is their parent, so that an end which waits for them gives up only with such a record.
    equal([r for r in records() if action(r) == "agent-stuck"], [], "records of what cannot be killed")


@case("two runs at once")
def two():
    at_once(2)


@case("twenty runs at once")
def twenty():
    at_once(20)


@case("arguments: 2 MB of them, and a large environment")
def large():
    arguments = ["x" * 100_000] * 18
    result = run("bash", "-c", 'echo $# ${#18}', "_", *arguments)
    equal((result.status, result.out), (0, b"18 100000\n"), f"large arguments ({result.text[:200]})")
    result = run("bash", "-c", 'echo $#', "_", *["y"] * 50_000)
    equal((result.status, result.out), (0, b"50000\n"), f"many arguments ({result.text[:200]})")
    environment = {**os.environ, **{f"LC_{i}": "z" * 1000 for i in range(1000)}}
    result = run("bash", "-c", "echo ${#LC_999}", env=environment)
    equal((result.status, result.out), (0, b"1000\n"), f"a large environment ({result.text[:200]})")
    environment = {**os.environ, **{f"DROPPED_{i}": "z" * 1000 for i in range(1000)}}
    result = run("bash", "-c", "env | grep -c DROPPED_", env=environment)
    equal((result.status, result.out), (1, b"0\n"), f"an environment to be dropped ({result.text[:200]})")
    verify()


@case("arguments: any bytes, and none reaches a terminal raw")
def odd_bytes():
    odd = bytes(range(1, 256)) + b"\xff\xfe\n\x1b]0;title\x07\xc2\x9b31m"
    result = run(b"bash", b"-c", b'printf "%s" "$1"', b"_", odd)
    equal((result.status, result.out, result.err), (0, odd, b""), "odd bytes")
    result = run(b"./\x1b[31m\xff\nname", odd)
    equal(result.status, 127, "a program with an odd name")
    check(b"\x1b" not in result.err, f"an escape sequence on standard error: {result.err!r}")
    for arguments in (["show", "last"], ["events"], ["events", "-o", "json"]):
        shown = cordon(*arguments, "--log", LOG)
        equal(shown.status, 0, f"cordon {arguments} ({shown.text})")
        check(b"\x1b" not in shown.out and b"\x9b3" not in shown.out, f"an escape sequence in cordon {arguments[0]}")
    verify()


@case("environment: malformed variables do no harm")
def odd_environment():
    code = "import os, sys\nos.execve(sys.argv[1], sys.argv[1:], {b'LC_X': b'\\xff\\n', b'\\x1b[31m': b'1', b'PATH': b'/usr/bin:/bin'})\n"
    result = execute(["python3", "-c", code, *run_arguments(["sh", "-c", "echo ok"])])
    equal((result.status, result.out), (0, b"ok\n"), f"odd variables ({result.text})")
    result = execute(["env", "-i", *run_arguments(["sh", "-c", "echo ok"])])
    equal((result.status, result.out), (0, b"ok\n"), f"no environment ({result.text})")
    verify()


def code_of_last(result):
    equal(result.status, 0, f"status ({result.text})")
    return last_end()["cordon"]["execution"]["code"]


@case("standard input: code in a pipe is passed on and hashed")
def code_in_pipe():
    for code in (b"print(6 * 7)\n", b"import hashlib\n" + b"# padding\n" * 60_000 + b"print(6 * 7)\n"):
        result = run("python3", "-", policy=PYTHON_POLICY, stdin=code)
        found = code_of_last(result)
        equal(result.out, b"42\n", "standard output")
        equal(found["sha256"], hashlib.sha256(code).hexdigest(), "recorded digest")
        equal(found["length"], len(code), "recorded length")
        equal(found["source"], "stdin", "recorded source")
    check(b"print(6" not in open(os.path.join(LOG, "current.jsonl"), "rb").read(), "the code is in the log")


@case("standard input: code in a file is passed on and hashed")
def code_in_file():
    code = b"print(6 * 7)\n"
    path = write("code.py", code)
    with open(path, "rb") as file:
        result = run("python3", "-", policy=PYTHON_POLICY, stdin=file)
    equal(code_of_last(result)["sha256"], hashlib.sha256(code).hexdigest(), "recorded digest")
    equal(result.out, b"42\n", "standard output")


@case("standard input: data reaches the command whole; empty and closed are so for it")
def data_in():
    data = os.urandom(3_000_000)
    result = run("sha256sum", stdin=data)
    equal(result.out.split()[0].decode(), hashlib.sha256(data).hexdigest(), "digest of 3 MB")
    result = run("wc", "-c", stdin=subprocess.DEVNULL)
    equal((result.status, result.out), (0, b"0\n"), "from /dev/null")
    result = run("python3", "-", policy=PYTHON_POLICY, stdin=subprocess.DEVNULL)
    equal((result.status, result.out), (0, b""), "no code at all")
    for shell in ('exec "$@" <&-', 'exec "$@" <&- >&- 2>&-', 'exec "$@" >&-'):
        result = execute(["sh", "-c", shell, "_", *run_arguments(["sh", "-c", "read x; echo hi >file; exit 7"])])
        equal(result.status, 7, f"with {shell} ({result.text})")
        equal(read("file"), b"hi\n", "what it wrote")
    verify()


@case("standard input: a command that reads none of it does not hang its writer")
def data_unread():
    result = run("python3", "-c", "print(1)", policy=PYTHON_POLICY, stdin=b"x" * 1_000_000)
    equal((result.status, result.out), (0, b"1\n"), "arguments carry the code")
    result = run("sh", "-s", stdin=b"exit 9\n" + b"# rest\n" * 200_000)
    equal(result.status, 9, "code whose rest is not read")


@case("standard output: closed and broken pipes are the command's to notice")
def broken_output():
    result = execute(["sh", "-c", '"$@" >&-; echo $? >&2', "_", *run_arguments(["sh", "-c", "echo x || exit 55"])])
    equal(result.text.splitlines()[-1], "55", "status with standard output closed")
    pipeline = '"$@" | head -c 2; echo ${PIPESTATUS[0]}'
    result = execute(["bash", "-c", pipeline, "_", *run_arguments(["yes"])])
    equal(result.out, b"y\n141\n", f"output and status of a broken pipe ({result.text})")


@case("output: 10 MB of binary whole, nothing added on either stream")
def big_output():
    data = os.urandom(10 << 20)
    write("data", data)
    result = run("sh", "-c", "cat data; head -c 1000000 data >&2", options=["--report", "r.json"])
    equal(result.status, 0, "status")
    check(result.out == data, f"standard output differs ({len(result.out)} bytes)")
    check(result.err == data[:1_000_000], f"standard error differs ({len(result.err)} bytes)")
    result = run("sh", "-c", "cat /etc/shadow 2>/dev/null; cat /root/.profile 2>/dev/null; echo end")
    equal((result.out, result.err), (b"end\n", b""), "the streams of a run that was denied something")


def signalled(number, command, group=False):
    """Status of a run that gets a signal once its command is ready for it."""
    process = start("sh", "-c", command, start_new_session=group)
    wait_for(lambda: exists("up"), 20, "the command's start")
    if group:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    status = finish(process)
    os.unlink(os.path.join(WORK, "up"))
    return status


@case("signals: forwarded; the status is what the command makes of them")
def signals():
    for name in ("INT", "TERM", "HUP", "QUIT", "USR1"):
        number = getattr(signal, f"SIG{name}")
        equal(signalled(number, "touch up; exec sleep 50"), 128 + number, f"SIG{name}")
    loop = "touch up; while :; do sleep 0.05; done"
    equal(signalled(signal.SIGTERM, f"trap 'exit 7' TERM; {loop}"), 7, "a handler's exit")
    equal(signalled(signal.SIGINT, f"trap 'exit 8' INT; {loop}", group=True), 8, "a handler's exit, the group signalled")
    verify()


@case("signals: one per signal, in the order of handling, and none lost at the start")
def early_signal():
    for delay in (0.0, 0.02, 0.05, 0.1, 0.2, 0.3):
        process = start("sleep", "50")
        time.sleep(delay)
        process.terminate()
        equal(finish(process) in (128 + signal.SIGTERM, 125), True, f"SIGTERM after {delay} s")


@case("signals: ignored and blocked ones stay so, as for nohup")
def inherited_signals():
    command = run_arguments(["sh", "-c", "kill -HUP $$; echo survived"])
    result = execute(["nohup", *command])
    equal((result.status, result.out), (0, b"survived\n"), f"under nohup ({result.text})")
    result = execute(["sh", "-c", 'trap "" CHLD; exec "$@"', "_", *run_arguments(["sh", "-c", "exit 6"])])
    equal(result.status, 6, "with SIGCHLD ignored")


@case("log: with keys, what is recorded is sealed soon, and a forgery that keeps the chain is found by the key")
def sealed():
    ensure_daemon()
    directory = os.path.join(ROOT, "sealed")
    os.mkdir(directory)
    key = cordon("log", "setup-keys", "--log", directory)
    equal(key.status, 0, "setup-keys")
    options = ("--log", directory)
    ran = run("true", options=options)
    equal(ran.status, 0, f"a run ({ran.text})")
    current = os.path.join(directory, "current.jsonl")

    def lines():
        with open(current, encoding="ascii") as file:
            return file.read().splitlines()

    wait_for(lambda: any('"action":"seal"' in line for line in lines()), 60, "a seal")
    proven = cordon("log", "verify", "--log", directory, "--key-file", "-", stdin=key.out)
    equal(proven.status, 0, f"verify ({proven.text})")
    # Whoever takes the host can make a chain, but not a seal of earlier.
    chain, forged = bytes(32), []
    for line in lines():
        body = line[: line.rindex(',"chain":"')]
        if '"action":"execution-start"' in body:
            body = body.replace('"outcome":"success"', '"outcome":"failure"')
        chain = hashlib.sha256(chain + body.encode()).digest()
        forged.append(f'{body},"chain":"{chain.hex()}"}}')
    copy = os.path.join(ROOT, "forged")
    os.mkdir(copy)
    with open(os.path.join(copy, "current.jsonl"), "w", encoding="ascii") as file:
        file.write("\n".join(forged) + "\n")
    equal(cordon("log", "verify", "--log", copy).status, 0, "a forged chain, without the key")
    found = cordon("log", "verify", "--log", copy, "--key-file", "-", stdin=key.out)
    check(found.status != 0, f"a forged log passes ({found.out})")


@case("log: a key is replaced by a writer that nobody but root gave it to, and each proves its own seals")
def renewed():
    ensure_daemon()
    directory = os.path.join(ROOT, "renewed")
    os.mkdir(directory)
    keys = [cordon("log", "setup-keys", "--log", directory)]
    equal(keys[0].status, 0, f"setup-keys ({keys[0].text})")
    sleeping = start("sleep", "600", options=("--log", directory))
    try:
        wait_for(lambda: os.path.exists(os.path.join(directory, "current.jsonl")) and starts(directory), 60, "a start")
        keys.append(cordon("log", "renew-keys", "--log", directory))
        equal(keys[1].status, 0, f"renew-keys ({keys[1].text})")
        wait_for(lambda: not os.path.exists(os.path.join(directory, "seal.next")), 60, "the new key taken up")
    finally:
        sleeping.terminate()
        finish(sleeping)
    equal(run("true", options=("--log", directory)).status, 0, "a run with the new key")
    names = []
    for number, key in enumerate(keys):
        names.append(os.path.join(ROOT, f"key-{number}"))
        with open(names[-1], "wb") as file:
            file.write(key.out)

    def verified(*files):
        options = [word for name in files for word in ("--key-file", name)]
        done = cordon("log", "verify", "--json", "--log", directory, *options)
        equal(done.status, 0, f"verify ({done.out} {done.text})")
        return json.loads(done.out)["sealed"]

    # Between two looks there may be another seal.
    wait_for(lambda: verified(names[0])["up_to"] < verified(names[1])["up_to"] == verified(*names)["up_to"], 60, "what each key proves")
    wait_for(lambda: 0 < verified(names[0])["unchecked"] < verified(*names)["seals"], 60, "the old key proves its own")
    equal(verified(*names)["unchecked"], 0, "seals without a key")
    page = cordon("report", "last", "--log", directory, "--key-file", names[0], "--key-file", names[1])
    equal(page.status, 0, f"report ({page.text})")
    check(b"<strong>Sealed.</strong>" in page.out and b"the key was replaced at seal" in page.out, "the report tells of the seals")


@case("growth: after a hundred runs descriptors and executions are as they were, and memory does not grow with more")
def growth():
    pid = BASELINE["pid"]
    while len(starts()) < BASELINE["runs"] + 100:
        equal(run("true").status, 0, "a run")
    wait_for(lambda: usage(pid)["descriptors"] <= BASELINE["descriptors"], 5, f"descriptors as before ({BASELINE})")
    after = usage(pid)
    equal(daemon(), pid, "the daemon")
    equal(after["executions"], 0, "live executions")
    # The allocator may take a large piece at any time, once. What leaks grows with the runs, in each part of them.
    memory = [after["memory"]]
    for _ in range(3):
        for _ in range(GROWTH_RUNS):
            equal(run("true").status, 0, "a run")
        memory.append(usage(pid)["memory"])
    growth_of_parts = [later - earlier for earlier, later in zip(memory, memory[1:])]
    check(min(growth_of_parts) < GROWTH_RUNS * KB_PER_RUN, f"kB of memory, after {GROWTH_RUNS} runs more each time: {memory}")
    account_for_everything()


def usage(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        memory = next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))
    status = json.loads(cordon("status", "--json").out)
    return {
        "pid": pid,
        "runs": len(starts()),
        # Each policy that stays at hand has its system call filter as a file in memory.
        "descriptors": len(os.listdir(f"/proc/{pid}/fd")) - status["policies"],
        "executions": status["executions"],
        "memory": memory,
    }
