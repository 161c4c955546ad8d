# SPDX-License-Identifier: Apache-2.0
"""Docker as people start it for an agent: the project mounted, the user's own number, the default network.

The image has no program of its own. The host's /usr is mounted read-only, so that each sandbox has the same programs.
"""

import os
import pwd
import shutil
import subprocess
import time

PROJECT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
FETCHED = os.path.join(PROJECT, os.environ.get("BUILD", "build"), "executors", "docker")
TOP = "/run/compare/docker"
SOCKET = f"unix://{TOP}/socket"
IMAGE = "agent"
CLIENT = [os.path.join(FETCHED, "usr/bin/docker"), "--host", SOCKET]
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{FETCHED}/usr/sbin:{FETCHED}/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LD_LIBRARY_PATH": f"{FETCHED}/lib/{os.uname().machine}-linux-gnu:{FETCHED}/usr/lib/{os.uname().machine}-linux-gnu",
}
# Directories of the image that a program expects, and files of the host that it has as every Debian image does.
DIRECTORIES = ("etc", "home", "proc", "run", "sys", "dev", "tmp", "usr", "var/lib", "var/tmp")
FILES = ("etc/passwd", "etc/group", "etc/ld.so.cache", "etc/nsswitch.conf")


def command(work, argv, _job=None):
    user = pwd.getpwnam("agent")
    return [*CLIENT, *options(work, f"{user.pw_uid}:{user.pw_gid}"), IMAGE, *argv]


def options(work, user):
    return ["run", "--rm", "--volume", f"{work}:{work}", "--workdir", work, "--user", user, "--volume", "/usr:/usr:ro"]


def wait_until(condition, what, seconds=180):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            with open(f"{TOP}/log", encoding="utf-8", errors="replace") as file:
                raise OSError(f"{what} is not ready after {seconds} s: {file.read()[-2000:]}")
        time.sleep(0.2)


class Engine:
    """containerd and dockerd of Debian's packages, unpacked. start() returns when the image exists."""

    def __init__(self):
        self.daemons = []

    def start(self):
        os.makedirs(TOP)
        with open(f"{TOP}/containerd.toml", "w", encoding="ascii") as file:
            file.write(f'version = 2\nroot = "{TOP}/c-root"\nstate = "{TOP}/c-state"\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n')
        self.begin("containerd", "--config", f"{TOP}/containerd.toml", "--address", f"{TOP}/containerd")
        wait_until(lambda: self.status("ctr", "--address", f"{TOP}/containerd", "version") == 0, "containerd")
        self.begin("dockerd", "--data-root", f"{TOP}/data", "--exec-root", f"{TOP}/exec", "--pidfile", f"{TOP}/pid", "--host", SOCKET, "--containerd", f"{TOP}/containerd")
        wait_until(lambda: self.status(*CLIENT, "version") == 0, "dockerd")
        # Membership of the group `docker` in one line.
        os.chmod(f"{TOP}/socket", 0o666)
        self.make_image()

    def begin(self, *words):
        with open(f"{TOP}/log", "ab") as log:
            self.daemons.append(subprocess.Popen(words, stdout=log, stderr=log, env=ENVIRONMENT))  # pylint: disable=consider-using-with

    def status(self, *words):
        return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT, check=False).returncode

    def make_image(self):
        root = f"{TOP}/image"
        for name in DIRECTORIES:
            os.makedirs(f"{root}/{name}")
        os.chmod(f"{root}/tmp", 0o1777)
        os.chmod(f"{root}/var/tmp", 0o1777)
        for name in ("bin", "sbin", "lib", "lib64"):
            os.symlink(f"usr/{name}", f"{root}/{name}")
        for name in FILES:
            shutil.copy2(f"/{name}", f"{root}/{name}")
        shutil.copytree("/etc/alternatives", f"{root}/etc/alternatives", symlinks=True)
        with subprocess.Popen(["tar", "-C", root, "-c", "."], stdout=subprocess.PIPE) as tar:
            subprocess.run([*CLIENT, "import", "-", IMAGE], stdin=tar.stdout, stdout=subprocess.DEVNULL, env=ENVIRONMENT, check=True)

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait()
