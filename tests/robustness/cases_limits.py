# SPDX-License-Identifier: Apache-2.0
"""Each limit takes effect, and its consequence is the command's."""

import os
import re
import signal

from support import (
    CGROUPS,
    PYTHON_POLICY,
    ROOT,
    WORK,
    case,
    check,
    equal,
    execution_cgroups,
    exists,
    finish,
    last_end,
    run,
    start,
    starts,
    verify,
    wait_for,
    write,
)



def unhurried():
    """The policy for Python with a wall limit that nothing reaches, however slow the machine is: another limit ends the command."""
    path = os.path.join(ROOT, "limits.yaml")
    with open(PYTHON_POLICY, encoding="utf-8") as source, open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"\bwall: \w+", "wall: 1h", source.read()))
    return path


def python(code, *options):
    return run("python3", write("limited.py", code), policy=unhurried(), options=list(options))


@case("limit: memory; all of the execution dies, and the record says why")
def memory():
    code = "x = []\nwhile True:\n    x.append(bytearray(b'x' * 4000000))\n"
    result = python(code, "--memory", "48M")
    equal(result.status, 128 + signal.SIGKILL, f"status ({result.text})")
    end = last_end()["cordon"]
    check(40 << 20 <= end["resources"]["memory_peak_bytes"] <= 49 << 20, f"peak: {end['resources']}")
    equal(end["resources"]["oom_kills"] >= 1, True, "recorded oom_kills")
    equal(python("x = b'x' * 10000000\nprint(1)\n", "--memory", "48M").out, b"1\n", "within the limit")
    equal(last_end()["cordon"]["resources"]["oom_kills"], 0, "recorded oom_kills")


@case("limit: pids; a fork bomb cannot grow")
def pids():
    code = """import os, time
n = 0
try:
    while n < 100:
        if os.fork() == 0:
            time.sleep(10000)
            os._exit(0)
        n += 1
except BlockingIOError:
    print('refused', n)
"""
    result = python(code, "--pids", "8")
    equal((result.status, result.out), (0, b"refused 7\n"), f"forking ({result.text})")
    equal(last_end()["cordon"]["resources"]["pids_peak"], 8, "recorded peak")
    equal(last_end()["cordon"]["end"]["killed_tasks"], 7, "killed_tasks")
    code = """import os
refused, told = os.pipe()
if os.fork() == 0:
    while True:
        try:
            os.fork()
        except BlockingIOError:
            os.write(told, b'x')
            break
    while True:
        try:
            os.fork()
        except BlockingIOError:
            pass
os.read(refused, 1)
os._exit(3)
"""
    result = python(code, "--pids", "12")
    equal(result.status, 3, f"status of a fork bomb ({result.text})")
    equal(last_end()["cordon"]["resources"]["pids_peak"], 12, "recorded peak")


@case("limit: CPU time of a process")
def cpu_time():
    result = python("while True: pass\n", "--cpu-time", "1s")
    equal(result.status in (128 + signal.SIGXCPU, 128 + signal.SIGKILL), True, f"status {result.status}")
    equal(last_end()["cordon"]["end"]["cause"], "signaled", "recorded cause")


SPIN = "import os\nopen('up', 'w').close()\nwhile not os.path.exists('stop'): pass\n"


def cgroup_file(name):
    """Of the one execution that there is."""
    (execution,) = execution_cgroups()
    with open(os.path.join(CGROUPS, execution, name), encoding="ascii") as file:
        return file.read()


def throttled():
    """In how many periods of its limit the kernel has held it back."""
    return int(dict(line.split() for line in cgroup_file("cpu.stat").splitlines())["nr_throttled"])


@case("limit: CPU bandwidth; the kernel has it, and holds a command back that wants more")
def cpu():
    command = ("python3", write("spin.py", SPIN))
    # The policy's own limit is what one thread can use.
    for options, wanted in ((("--cpu", "20%"), 20), ((), 100)):
        process = start(*command, policy=unhurried(), options=options)
        wait_for(lambda: exists("up") or process.poll() is not None, 30, "the command's start")
        check(exists("up"), f"it ended with status {process.poll()}")
        quota, period = cgroup_file("cpu.max").split()
        equal(int(quota) * 100, wanted * int(period), "the kernel's limit")
        if wanted < 100:
            wait_for(lambda: throttled() >= 3, 30, "the kernel holding it back")
        write("stop", "")
        equal(finish(process), 0, f"status with {options}")
        for name in ("up", "stop"):
            os.unlink(os.path.join(WORK, name))


@case("limit: file size")
def file_size():
    result = run("sh", "-c", "head -c 3000000 /dev/zero >big; echo $?", options=["--file-size", "1M"])
    check(result.out != b"0\n", f"output {result.out!r}")
    equal(os.path.getsize(os.path.join(WORK, "big")), 1 << 20, "size")
    equal(run("sh", "-c", "head -c 1000000 /dev/zero >big", options=["--file-size", "1M"]).status, 0, "within")


@case("limit: open files")
def open_files():
    code = """import sys
files = []
try:
    while len(files) < 1000:
        files.append(open(sys.argv[0]))
except OSError as error:
    print(error.errno, len(files) < 32)
"""
    result = python(code, "--open-files", "32")
    equal((result.status, result.out), (0, b"24 True\n"), f"opening ({result.text})")


@case("limit: address space")
def address_space():
    code = "try:\n    x = bytearray(400 << 20)\nexcept MemoryError:\n    print('refused')\n"
    result = python(code, "--address-space", "256M")
    equal((result.status, result.out), (0, b"refused\n"), f"allocating ({result.text})")


@case("limit: wall clock, of one that sleeps, one that spins and one that stops itself")
def wall():
    for command in ("sleep 10000", "while :; do :; done", "kill -STOP $$", "trap '' TERM INT; sleep 10000"):
        result = run("bash", "-c", command, options=["--timeout", "1s"])
        equal(result.status, 124, f"status of {command!r} ({result.text})")
        equal(last_end()["cordon"]["end"]["cause"], "timeout", "recorded cause")


@case("limit: the policy's limits are recorded with each start")
def recorded():
    run("true", options=["--timeout", "7500ms", "--pids", "33"])
    limits = list(starts().values())[-1]["cordon"]["limits"]
    equal((limits["wall_ms"], limits["pids"]), (7500, 33), "recorded limits")
    equal(limits["missing"], [], "limits that were not applied")
    verify()
