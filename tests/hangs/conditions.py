# SPDX-License-Identifier: Apache-2.0
"""What can hang, or take all that there is, beside executions that have nothing to do with it: each is a context."""

import contextlib
import ctypes
import glob
import grp
import os
import pwd
import signal
import subprocess
import sys
import threading
import time

from host import TOP

FLOOD = "n = 0\nwhile True:\n    n = (n + 1) % 1000\n    try: open(f'/bench/refused/{n}')\n    except OSError: pass\n"
# Some have the names that the daemon gives what it removes.
FILES = "import os, sys\nfor n in range(int(sys.argv[1])): open(f\"{os.environ['TMPDIR']}/{'.cordon-removed-' if n % 2 else ''}{n}\", 'w').close()\n"
SLOW_FLOOD = FLOOD.replace("    try", "    time.sleep(0.05)\n    try").replace("n = 0", "import time\nn = 0", 1)
LOOKUPS = "import socket\nwhile True:\n    try: socket.getaddrinfo('nobody.example', 80)\n    except OSError: pass\n"


def ends_of(processes):
    for process in processes:
        process.kill()
    # One that waits for a file system which does not answer ends with that.


def cordons(word):
    """Processes of cordon's with this word in their arguments."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError), open(path, "rb") as file:
            if word.encode() in file.read():
                found.append(int(path.split("/")[2]))
    return found


def named(word):
    found = []
    for path in glob.glob("/proc/[0-9]*/comm"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            if file.read().strip() == word:
                found.append(int(path.split("/")[2]))
    return found


def owner(pid):
    with contextlib.suppress(OSError):
        return os.stat(f"/proc/{pid}").st_uid
    return None


def root_of(pid):
    """Where the link leads, and no look at what is there, which may not answer."""
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/root")
    return None


def writers_in(place):
    return [pid for pid in cordons("--log-writer") if root_of(pid) == place]


def member(user):
    """How a process is started as a user who may use cordon."""
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [grp.getgrnam("cordon").gr_gid]}


@contextlib.contextmanager
def stopped_again(find):
    """Whatever is found, now and later, stands still."""
    over = threading.Event()

    def stop():
        while not over.wait(0.05):
            for pid in find():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)

    thread = threading.Thread(target=stop)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        for pid in find():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def silent_file_system(path):
    """A mount that answers nothing: nobody reads what the kernel asks (Documentation/filesystems/fuse.rst)."""
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    os.makedirs(path, exist_ok=True)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if libc.mount(b"silent", path.encode(), b"fuse", 0, options) < 0:
        sys.exit(f"cannot mount {path}: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        # Everything that waits for it gets an error.
        os.close(device)
        libc.umount2(path.encode(), 2)


@contextlib.contextmanager
def background(host, *commands):
    processes = [host.start(*command, options=options, **how) for command, options, how in commands]
    time.sleep(1)
    try:
        yield
    finally:
        ends_of(processes)


@contextlib.contextmanager
def nothing_hangs(_):
    yield


@contextlib.contextmanager
def another_logs_writer(host):
    def writers():
        return writers_in(f"{TOP}/other")

    with background(host, *[(("sleep", "100000"), ("--log", f"{TOP}/other"), {})] * 3):
        host.until(writers, "the other log's writer")
        with stopped_again(writers), background(host, *[(("true",), ("--log", f"{TOP}/other"), {})] * 3):
            yield


@contextlib.contextmanager
def disk_of_another_log(host):
    with silent_file_system(f"{TOP}/disk"), background(host, *[(("true",), ("--log", f"{TOP}/disk/log"), {})] * 3):
        yield


@contextlib.contextmanager
def disk_of_a_log_in_use(host):
    """What answered when the log was opened does so no more, and its writer dies besides."""
    place = f"{TOP}/later"

    with background(host, *[(("python3", "-c", SLOW_FLOOD), ("--log", place), {})] * 3):
        found = host.until(lambda: writers_in(place), "the other log's writer")
        with silent_file_system(place):
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with background(host, *[(("true",), ("--log", place), {})] * 3):
                yield


@contextlib.contextmanager
def another_users_reader(host):
    who = member(pwd.getpwnam("alice"))

    def ask():
        return subprocess.Popen([host.cordon, "ps"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **who)

    before = set(cordons("--request-reader"))
    ask().wait()
    with stopped_again(lambda: set(cordons("--request-reader")) - before):
        asking = [ask() for _ in range(3)]
        try:
            yield
        finally:
            ends_of(asking)


@contextlib.contextmanager
def another_users_home(host):
    user = pwd.getpwnam("silent")
    who = member(user)
    with silent_file_system(user.pw_dir), background(host, *[(("true",), (), who)] * 3):
        yield


@contextlib.contextmanager
def work_directory(host):
    with silent_file_system(f"{TOP}/there"), background(host, *[(("true",), ("--workdir", f"{TOP}/there/w"), {})] * 3):
        yield


@contextlib.contextmanager
def resolver(host):
    with background(host, *[(("python3", "-c", LOOKUPS), (), {})] * 3):
        yield


@contextlib.contextmanager
def many_files(host):
    """They are removed while it is measured."""
    with background(host, *[(("python3", "-c", FILES, str(host.files)), (), {})] * 2):
        for process in host.started[-2:]:
            process.wait()
        yield


@contextlib.contextmanager
def flood(host):
    with background(host, *[(("python3", "-c", FLOOD), (), {})] * 3):
        yield


@contextlib.contextmanager
def compute(host):
    """What a flood takes of the one processor without being one."""
    with background(host, *[(("python3", "-c", "while True: pass"), (), {})] * 3):
        yield


@contextlib.contextmanager
def another_users_names(host):
    """What looks up whom the names of a user's policy stand for, as where a directory service does not answer."""
    user = pwd.getpwnam("silent")
    who = member(user)

    def look_ups():
        return [pid for pid in named("cordon-errand") if owner(pid) == user.pw_uid]

    with stopped_again(look_ups), background(host, *[(("true",), ("--policy", "named"), who)] * 3):
        yield


@contextlib.contextmanager
def large_code(host):
    """A script of a gigabyte, which has to be read for its digest."""
    path = f"{TOP}/w/large.sh"
    with open(path, "wb") as file:
        file.write(b"#!/bin/sh\nexit 0\n")
        file.truncate(1 << 30)
    with background(host, *[(("/bin/sh", path), (), {})] * 3):
        yield
    os.unlink(path)


@contextlib.contextmanager
def adopted_code(host):
    """An executor's children whose code lies where nothing answers."""
    with silent_file_system(f"{TOP}/w/silent"):
        command = [host.agent, "-c", f"/bin/sh {TOP}/w/silent/x.sh; :"]
        processes = [subprocess.Popen(command, cwd=f"{TOP}/w", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                     for _ in range(3)]
        time.sleep(1)
        try:
            yield
        finally:
            ends_of(processes)


CONDITIONS = {
    "nothing hangs": nothing_hangs,
    "another log's writer hangs": another_logs_writer,
    "another log's disk hangs": disk_of_another_log,
    "the disk of a log in use hangs": disk_of_a_log_in_use,
    "another user's requests hang": another_users_reader,
    "another user's home hangs": another_users_home,
    "another's work directory hangs": work_directory,
    "a DNS server hangs": resolver,
    "40,000 files are removed": many_files,
    "another user's names hang": another_users_names,
    "an executor's code hangs": adopted_code,
    "another's code has a gigabyte": large_code,
    "three others compute": compute,
    "three others flood with refusals": flood,
}
