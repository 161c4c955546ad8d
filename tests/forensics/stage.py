#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the incident of docs/forensics.md on a kernel that enforces.   stage.py BUILD LOG

An agent summarises support tickets. The text of one tells it to collect keys and send them away, which it tries. The
log of all this is left in LOG, with the policies that were in force."""

import http.server
import os
import shutil
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
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


def main():
    build, log = (os.path.abspath(path) for path in sys.argv[1:3])
    for path, text in SECRETS.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    os.makedirs(os.path.dirname(POLICY), exist_ok=True)
    shutil.copy(HERE + "/policy.yaml", POLICY)
    shutil.copytree(HERE + "/../../policies/runtime", os.path.dirname(POLICY) + "/runtime", dirs_exist_ok=True)
    os.makedirs(WORK + "/.git/hooks")
    with open(WORK + "/tickets.csv", "w", encoding="ascii") as file:
        file.write("product,text\nrouter,slow\nrouter,broken\nphone,lost\n")
    for name in ("summarise.py", "injected.py"):
        shutil.copy(f"{HERE}/{name}", WORK)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 8080), Tickets)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    coder = ("support-2026-11-22", "autogen:coder")
    cordon(build, log, *coder, (), "python3", "summarise.py")
    cordon(build, log, *coder, (), "python3", "injected.py")
    cordon(build, log, *coder, (), "bash", "-c", "cp /etc/shadow . || ls -l summary.json")
    cordon(build, log, "weekly-numbers", "autogen:analyst", ("--observe",), "python3", "-c", "open('/etc/shadow')")
    cordon(build, log, "weekly-numbers", "autogen:analyst", ("--timeout", "1s"), "sleep", "20")
    # A name that tries to act on whoever reads about it.
    cordon(build, log, "hostile", "=1+1<b>", (), "python3", "-c", f"open({HOSTILE!r}, 'w')")


main()
