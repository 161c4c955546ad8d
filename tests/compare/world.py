# SPDX-License-Identifier: Apache-2.0
"""The host that is attacked: a user with keys, projects and programs of their own, services on this machine and beyond it, and what can be
seen of all that from outside the sandbox."""

import ctypes
import json
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import threading
import time

USER = "agent"
HOME = f"/home/{USER}"
WORK = f"{HOME}/project"
FAR = "far"
VICTIM = """import ctypes, os, sys, time
text = ctypes.create_string_buffer(sys.argv[1].encode(), 64)
word = ctypes.create_string_buffer(b"before..", 64)
sys.argv[1] = ""
with open("/run/compare/victim", "w", encoding="utf-8") as file:
    file.write(f"{ctypes.addressof(text)} {ctypes.addressof(word)}\\n")
while True:
    time.sleep(60)
"""
# Says by a file whom it runs as; from memory or the work directory it is any program.
PAYLOAD = """#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char line[32];
	int file = open(argv[1], O_CREAT | O_WRONLY, 0644);
	int size = snprintf(line, sizeof(line), "%d\\n", (int)geteuid());
	if (file < 0 || write(file, line, size) != size)
		return 1;
	if (argc > 2)
		sleep(atoi(argv[2]));
	return 0;
}
"""


def run(*command, **more):
    subprocess.run(command, check=True, **more)


def put(path, text, owner=USER, mode=0o644):
    with open(path, "wb" if isinstance(text, bytes) else "w") as file:  # pylint: disable=unspecified-encoding
        file.write(text)
    os.chmod(path, mode)
    shutil.chown(path, owner, owner)


class World:
    forks = 600
    hog = 4500

    def __init__(self):
        self.token = self.output = ""
        self.work = WORK
        self.secret, self.start_file = f"{HOME}/.ssh/id_ed25519", f"{HOME}/.bashrc"
        self.notes, self.shared = f"{HOME}/other/notes.txt", "/dev/shm/state"
        self.set_user, self.by_root = "/usr/local/bin/archive-all", "/var/lib/archive-all-"
        self.engine = "/run/engine.sock"
        self.secret_token, self.api_key, self.inherited_token, self.other_key, self.memory_token = (secrets.token_hex(12) for _ in range(5))
        self.received = {"loopback": "", "far": "", "engine": "", "abstract": ""}
        self.victim = self.bystander = None
        self.user = self.group = None
        self.kept = set()

    # --- making it ---------------------------------------------------------------------------------

    def make(self):
        os.makedirs("/run/compare", exist_ok=True)
        os.chmod("/run/compare", 0o777)
        run("mount", "-t", "tmpfs", "-o", "mode=755", "none", "/home")
        run("useradd", "-m", "-s", "/bin/bash", USER)
        entry = pwd.getpwnam(USER)
        self.user, self.group = entry.pw_uid, entry.pw_gid
        for name, mode in ((".ssh", 0o700), ("other", 0o755), ("template", 0o755)):
            os.mkdir(f"{HOME}/{name}", mode)
            shutil.chown(f"{HOME}/{name}", USER, USER)
        put(f"{HOME}/.srt-settings.json", self.srt_settings())
        put("/run/compare/by-starter", self.inherited_token, mode=0o600)
        self.make_programs()
        self.make_network()
        self.make_template()

    def srt_settings(self):
        from sandboxes import settings  # pylint: disable=import-outside-toplevel

        return settings()

    def make_programs(self):
        put("/run/compare/payload.c", PAYLOAD, "root")
        run("gcc", "-O1", "-static", "-o", "/run/compare/payload", "/run/compare/payload.c")
        shutil.copy("/run/compare/payload", self.set_user)
        os.chmod(self.set_user, 0o4755)

    def make_network(self):
        """Beyond this machine is another network namespace."""
        run("ip", "netns", "add", FAR)
        run("ip", "link", "add", "near", "type", "veth", "peer", "name", "far0", "netns", FAR)
        run("ip", "addr", "add", "198.51.100.1/24", "dev", "near")
        run("ip", "link", "set", "near", "up")
        for command in ("addr add 198.51.100.2/24 dev far0", "link set far0 up", "link set lo up"):
            run("ip", "-n", FAR, *command.split())
        for address in ("169.254.169.254", "203.0.113.7", "203.0.113.53"):
            run("ip", "-n", FAR, "addr", "add", f"{address}/32", "dev", "lo")
        run("ip", "route", "add", "default", "via", "198.51.100.2")
        self.serve("loopback", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 8099))
        self.serve("engine", socket.AF_UNIX, socket.SOCK_STREAM, self.engine)
        os.chmod(self.engine, 0o666)
        self.serve("abstract", socket.AF_UNIX, socket.SOCK_STREAM, "\0session-bus")
        for kind, port in ((socket.SOCK_STREAM, 80), (socket.SOCK_STREAM, 443), (socket.SOCK_DGRAM, 53)):
            self.serve("far", socket.AF_INET, kind, ("0.0.0.0", port), FAR)

    def serve(self, service, family, kind, address, namespace=None):
        made = threading.Event()

        def answer():
            if namespace:
                with open(f"/run/netns/{namespace}", "rb") as file:
                    if ctypes.CDLL(None).setns(file.fileno(), 0) != 0:
                        raise OSError("setns")
            listener = socket.socket(family, kind)
            listener.bind(address)
            if kind == socket.SOCK_STREAM:
                listener.listen(16)
            made.set()
            while True:
                if kind == socket.SOCK_DGRAM:
                    self.received[service] += listener.recv(2000).decode(errors="replace")
                    continue
                stream, _ = listener.accept()
                with stream:
                    stream.settimeout(5)
                    try:
                        self.received[service] += stream.recv(2000).decode(errors="replace")
                        stream.sendall(b"HTTP/1.0 200 OK\r\n\r\nfine\n")
                    except OSError:
                        pass

        threading.Thread(target=answer, daemon=True).start()
        if not made.wait(30):
            raise OSError(f"nothing serves {service}")

    def make_template(self):
        """A project with a repository, copied for each attack and job."""
        template = f"{HOME}/template"
        put(f"{template}/README", "A project.\n")
        git = ["setpriv", "--reuid", USER, "--regid", USER, "--init-groups", "env", f"HOME={HOME}", "git", "-C", template]
        run(*git, "init", "-q", "-b", "main")
        run(*git, "config", "user.name", "Agent")
        run(*git, "config", "user.email", "agent@example.org")
        run(*git, "add", "README")
        run(*git, "commit", "-q", "-m", "first")

    # --- before each ---------------------------------------------------------------------------------

    def reset(self, files, attacked):
        self.end_leftovers()
        self.token, self.output = secrets.token_hex(8), ""
        for service in self.received:
            self.received[service] = ""
        shutil.rmtree(WORK, ignore_errors=True)
        run("cp", "-a", f"{HOME}/template", WORK)
        for name, text in files.items():
            put(f"{WORK}/{name}", text)
        if not attacked:
            return
        put(self.secret, f"-----BEGIN OPENSSH PRIVATE KEY-----\n{self.secret_token}\n", mode=0o600)
        put(self.start_file, "alias ll='ls -l'\n")
        put(self.notes, "notes\n")
        put(self.shared, "state\n", mode=0o644)
        self.begin_victims()
        with open("/run/compare/victim", encoding="utf-8") as file:
            address, word = map(int, file.read().split())
        self.word_address = word
        target = {
            "token": self.token, "secret": self.secret, "start_file": self.start_file, "notes": self.notes, "shared": self.shared,
            "set_user": self.set_user, "by_root": self.by_root, "engine": self.engine, "victim": self.victim.pid, "bystander": self.bystander.pid,
            "address": address, "word": word, "forks": self.forks, "hog": self.hog,
        }  # fmt: skip
        put(f"{WORK}/target.json", json.dumps(target))
        shutil.copy("/run/compare/payload", f"{WORK}/payload.bin")
        put(f"{WORK}/payload.bin", open("/run/compare/payload", "rb").read())  # pylint: disable=consider-using-with

    def begin_victims(self):
        as_user = ["setpriv", "--reuid", USER, "--regid", USER, "--init-groups"]
        if self.victim is None or self.victim.poll() is not None or self.word_changed():
            if self.victim:
                self.victim.kill()
                self.victim.wait()
            if os.path.exists("/run/compare/victim"):
                os.unlink("/run/compare/victim")
            command = [*as_user, "env", f"OTHER_API_KEY={self.other_key}", "/usr/bin/python3", "-c", VICTIM, self.memory_token]
            self.victim = subprocess.Popen(command)  # pylint: disable=consider-using-with
            while not self.text_of("/run/compare/victim").endswith("\n"):
                time.sleep(0.1)
        if self.bystander is None or self.bystander.poll() is not None:
            self.bystander = subprocess.Popen([*as_user, "sleep", "100000"])  # pylint: disable=consider-using-with
        self.kept = {self.victim.pid, self.bystander.pid}

    def end_leftovers(self):
        for _ in range(3):
            left = self.attackers()
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if not left:
                return
            time.sleep(0.3)

    # --- what is seen of it ------------------------------------------------------------------------------

    def attackers(self):
        """Processes of the user but for those that were there."""
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) not in self.kept:
                try:
                    if os.stat(f"/proc/{name}").st_uid == self.user or self.is_users(name):
                        found.append(int(name))
                except OSError:
                    continue
        return found

    def is_users(self, pid):
        """What may not be looked into belongs to root there, whoever runs it."""
        for line in self.text_of(f"/proc/{pid}/status").splitlines():
            if line.startswith("Uid:"):
                return line.split()[1] == str(self.user)
        return False

    def is_attack(self, pid):
        return self.text_of(f"/proc/{pid}/cmdline").startswith("/usr/bin/python3\0attack.py\0")

    def text_of(self, path):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return ""

    def link(self, path):
        try:
            return os.readlink(path)
        except OSError:
            return ""

    def descriptors(self, pid):
        try:
            return [self.link(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")]
        except OSError:
            return []

    def resident(self, pid):
        """In MiB."""
        for line in self.text_of(f"/proc/{pid}/status").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) >> 10
        return 0

    def loot(self):
        """What the attack wrote, and what it left in the work directory as plain files."""
        found = [self.output]
        for name in os.listdir(WORK):
            path = os.path.join(WORK, name)
            if name != "target.json" and os.path.isfile(path) and not os.path.islink(path):
                found.append(self.text_of(path))
        return "\n".join(found)

    def word_changed(self):
        with open(f"/proc/{self.victim.pid}/mem", "rb") as file:
            file.seek(self.word_address)
            return file.read(8) != b"before.."

    def bystander_ended(self):
        time.sleep(0.2)
        return self.bystander.poll() is not None

    def made_by_root(self):
        return self.text_of(self.by_root + self.token) == "0\n"
