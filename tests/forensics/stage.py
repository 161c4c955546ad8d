#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the incident of docs/forensics.md on a kernel that enforces.   stage.py BUILD LOG

An agent summarises support tickets. The text of one tells it to collect keys and send them away, which it tries. The
log of all this is left in LOG, with the policies that were in force."""

import http.server
import os
import pwd
import shutil
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))
import dns_server  # pylint: disable=wrong-import-position

USER = "nobody"
NAME_SERVER, HELPDESK = "127.0.5.3", "198.51.100.7"
WORK = "/srv/support/tickets"
POLICY = "/etc/cordon/policies/support-agent.yaml"
SECRETS = {
    "/root/.ssh/id_rsa": "a private key\n",
    "/root/.aws/credentials": "aws_secret_access_key = none\n",
}
HOSTILE = "/srv/\x1b]0;owned\x07\r\n\u202e<script>document.title='owned'</script>\"><img src=x onerror=alert(1)>,=1+1"
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "AWS_SECRET_ACCESS_KEY": "none",
    "OPENAI_API_KEY": "none",
    "SSH_AUTH_SOCK": "/run/agent.sock",
}


class Tickets(http.server.BaseHTTPRequestHandler):
    """The ticket system that the policy allows."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"ok\n")

    def log_message(self, format, *args):
        pass


def cordon(build, log, session, agent, options, *command):
    start = [build + "/cordon", "run", "--policy", POLICY, "--workdir", WORK, "--log", log]
    start += ["--session", session, "--agent", agent, *options, "--", *command]
    return subprocess.run(start, env=ENVIRONMENT, stdin=subprocess.DEVNULL, check=False).returncode


class Helpdesk(dict):
    """A zone in which every name is known: whoever asks for one tells its owner something."""

    def get(self, name, _=None):
        return [(name, dns_server.A, 300, HELPDESK)]


class Set:
    """What the play needs on the host; nothing that was there is touched, and what was made goes."""

    def __init__(self):
        self.made = []

    def directory(self, path):
        if os.path.isdir(path):
            return
        self.directory(os.path.dirname(path))
        os.mkdir(path)
        self.made.append((os.rmdir, path))

    def file(self, path, text):
        self.directory(os.path.dirname(path))
        if not os.path.exists(path):
            with open(path, "x", encoding="utf-8") as file:
                file.write(text)
            self.made.append((os.unlink, path))

    def give(self, path, user):
        os.chown(path, pwd.getpwnam(user).pw_uid, -1)
        os.chmod(path, 0o600)

    def mount(self, source, path):
        subprocess.run(["mount", "--bind", source, path], check=True)
        self.made.append((lambda path: subprocess.run(["umount", path], check=False), path))

    def copy(self, source, path):
        with open(source, encoding="utf-8") as file:
            self.file(path, file.read())

    def clear(self):
        shutil.rmtree(WORK)
        for remove, path in reversed(self.made):
            if os.path.lexists(path):
                remove(path)


def build_set(made):
    for path, text in SECRETS.items():
        made.file(path, text)
    made.copy(HERE + "/policy.yaml", POLICY)
    runtime = HERE + "/../../policies/runtime"
    for name in os.listdir(runtime):
        made.copy(f"{runtime}/{name}", f"{os.path.dirname(POLICY)}/runtime/{name}")
    made.directory(WORK + "/.git/hooks")
    made.file(WORK + "/tickets.csv", "product,text\nrouter,slow\nrouter,broken\nphone,lost\n")
    made.file("/srv/support/home/.netrc", "machine helpdesk.test password none\n")
    made.give("/srv/support/home/.netrc", USER)
    made.file("/srv/support/ops/.aws/credentials", "aws_secret_access_key = none\n")
    os.chmod("/srv/support/ops", 0o700)
    for number in range(60):
        made.file(f"/srv/support/archive/{number}.txt", "closed\n")
    made.file("/srv/support/resolv.conf", f"nameserver {NAME_SERVER}\n")
    made.mount("/srv/support/resolv.conf", "/etc/resolv.conf")
    for name in ("summarise.py", "injected.py", "hidden.py"):
        made.copy(f"{HERE}/{name}", f"{WORK}/{name}")


def play(build, log):
    coder = ("support-2026-11-22", "autogen:coder")
    cordon(build, log, *coder, (), "python3", "summarise.py")
    cordon(build, log, *coder, (), "python3", "injected.py")
    cordon(build, log, *coder, (), "bash", "-c", "cp /etc/shadow . || ls -l summary.json")
    cordon(build, log, "weekly-numbers", "autogen:analyst", ("--observe",), "python3", "-c", "open('/etc/shadow')")
    cordon(build, log, "weekly-numbers", "autogen:analyst", ("--timeout", "1s"), "sleep", "20")
    cordon(build, log, *coder, ("--user", USER), "python3", "hidden.py")
    # A name that tries to act on whoever reads about it.
    cordon(build, log, "hostile", "=1+1<b>", (), "python3", "-c", f"open({HOSTILE!r}, 'w')")


def stage(build, log):
    made = Set()
    try:
        build_set(made)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 8080), Tickets)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        dns_server.Server(NAME_SERVER, Helpdesk())
        play(build, log)
        server.shutdown()
        server.server_close()
    finally:
        made.clear()


if __name__ == "__main__":
    stage(*(os.path.abspath(path) for path in sys.argv[1:3]))
