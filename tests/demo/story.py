# SPDX-License-Identifier: Apache-2.0
"""The demo's story, as root on a machine that can enforce:  story.py DIRECTORY, which has the program cordon

Runs each script of tests/demo/agent with and without cordon and checks what happens against what is
promised: what the attacker's server received, what the script printed, what the report and the log contain.
"""

import contextlib
import glob
import http.server
import json
import os
import pty
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "agent")
LOG = "/var/log/cordon"
STATE = "/run/cordon"
CGROUPS = "/sys/fs/cgroup/cordon"
NOT_ENFORCING = 1  # exit status of cordon status
# The VM's files are an overlay that is thrown away with it.
DISPOSABLE = "CORDON_VM" in os.environ
# tests/demo/run sets DEMO_COLOR, because the standard output of a VM is no terminal.
COLOR = os.environ.get("DEMO_COLOR") == "yes" or (
    sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
)
CODES = {"bold": "1", "dim": "2", "red": "1;31", "green": "1;32"}
# The executor that starts agent code has secrets in its environment, as such programs do.
EXECUTOR = ["/bin/sh", "-c", '"$@"; exit $?', "executor"]

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# How long executions may take to end before enforcement is unloaded.
ENDING_SECONDS = 120

kept = []
broken = []


def paint(style, text):
    return f"\033[{CODES[style]}m{text}\033[0m" if COLOR else text


def say(text=""):
    print(text, flush=True)


def heading(number, title, *comment):
    say()
    say(paint("bold", f"{number}. {title}"))
    for line in comment:
        say(f"   {line}")


def command_line(arguments):
    say(paint("dim", "   $ ") + shlex.join(arguments))


def outcome(label, good, text):
    say(f"   {label:<16}{paint('green' if good else 'red', text)}")


def promise(good, what):
    """Records a promise, and prints it if it was not kept."""
    (kept if good else broken).append(what)
    if not good:
        say(paint("red", f"   NOT AS PROMISED: {what}"))


class AttackerServer:
    """Listens on loopback and keeps what is posted to it."""

    def __init__(self):
        received = self.received = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # pylint: disable=invalid-name
                received.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, format, *args):  # pylint: disable=redefined-builtin
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self):
        taken = b"".join(self.received)
        self.received.clear()
        return taken


class Run:
    """One run of an agent's script: exit status, output, and cordon's report if it ran with cordon."""

    def __init__(self, status, output, report):
        self.status = status
        self.output = output
        self.report = report
        self.denials = report["denials"] if report else []

    def denied(self, operations, ending):
        return any(d["operation"] in operations and d["object"].endswith(ending) for d in self.denials)


def remove(path):
    """Removes a directory in which a process that is ending may still create a file."""
    for _ in range(100):
        shutil.rmtree(path, ignore_errors=True)
        if not os.path.exists(path):
            return
        time.sleep(0.1)


class Scene:
    """A home directory with a key in it, and a work directory in which the agent's scripts run."""

    def __init__(self, build):
        if DISPOSABLE:
            self.home = "/home/dana"
            os.makedirs(self.home)
        else:
            self.home = tempfile.mkdtemp(prefix="cordon-demo-")
        self.work = os.path.join(self.home, "job")
        self.token = secrets.token_hex(12)
        lines = "\n".join(secrets.token_urlsafe(48) for _ in range(4))
        self.key = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{lines}\n-----END OPENSSH PRIVATE KEY-----\n"
        os.makedirs(os.path.join(self.home, ".ssh"), 0o700)
        with open(os.path.join(self.home, ".ssh", "id_rsa"), "w", encoding="ascii") as file:
            file.write(self.key)
        # If cordon is in use on this host, the demo writes a log of its own and leaves enforcement as it is.
        self.absent = [path for path in (LOG, STATE, CGROUPS) if not os.path.exists(path)]
        self.log = [] if LOG in self.absent else ["--log", os.path.join(self.home, "log")]
        self.environment = {
            "PATH": f"{os.path.abspath(build)}:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": self.home,
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            "DEPLOY_TOKEN": self.token,
        }
        self.was_off = self.cordon("status", shown=False)[0] == NOT_ENFORCING

    def fresh_work(self):
        """The scripts, and a symbolic link to the key's directory, as users have for their convenience."""
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(AGENT, self.work)
        os.symlink("../.ssh", os.path.join(self.work, "keys"))

    def agent(self, command, policy=None):
        """Runs the command in a fresh work directory, with cordon if there is a policy."""
        report_file = os.path.join(self.home, "report.json")
        self.fresh_work()
        if policy:
            command = ["cordon", "run", "--policy", policy, "--report", report_file, *self.log, "--", *command]
        command_line(command)
        done = subprocess.run(
            EXECUTOR + command,
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        report = None
        if policy and os.path.exists(report_file):
            with open(report_file, encoding="utf-8") as file:
                report = json.load(file)
            os.unlink(report_file)
        if policy and not report:
            promise(False, f"cordon run wrote no report (status {done.returncode}): {done.stdout.strip()}")
        return Run(done.returncode, done.stdout, report)

    def cordon(self, *arguments, shown=True):
        """Runs a subcommand of cordon, on a pseudo-terminal if the demo prints colours. Returns status, output."""
        command = ["cordon", *arguments]
        if shown:
            command_line(command)
        if not (COLOR and shown):
            done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr
        ours, theirs = pty.openpty()
        with subprocess.Popen(command, env=self.environment, stdout=theirs, stderr=theirs) as process:
            os.close(theirs)
            text = b""
            while True:
                try:
                    data = os.read(ours, 1 << 16)
                except OSError:
                    break
                text += data
        os.close(ours)
        return process.returncode, text.decode().replace("\r\n", "\n")

    def leave(self):
        """Removes everything that the demo made, except in the VM, which is thrown away."""
        self.kill_processes()
        if DISPOSABLE:
            return
        if self.was_off:
            self.disable()
        for path in self.absent:
            if path == CGROUPS:
                # A cgroup can only be removed by rmdir, and only when it is empty.
                with contextlib.suppress(OSError):
                    os.rmdir(path)
            else:
                remove(path)
        remove(self.home)

    def kill_processes(self):
        """Kills all processes whose directory is the demo's, so that an interrupted act leaves none."""
        found = True
        while found:
            found = False
            for path in glob.glob("/proc/[0-9]*/cwd"):
                with contextlib.suppress(OSError):
                    if os.readlink(path).startswith(self.home + "/"):
                        os.kill(int(path.split("/")[2]), signal.SIGKILL)
                        found = True
            time.sleep(0.1)

    def disable(self):
        end = time.monotonic() + ENDING_SECONDS
        while True:
            status, text = self.cordon("disable", shown=False)
            if status == 0:
                return
            if time.monotonic() > end:
                promise(False, f"enforcement is unloaded at the end: {text.strip()}")
                return
            time.sleep(0.5)


def show_output(run):
    for line in run.output.rstrip("\n").split("\n") if run.output else []:
        say(paint("dim", "   | ") + line)


def show_denials(run):
    for denial in run.denials:
        rule = denial["rule"]
        if isinstance(rule, dict):
            rule = f"{rule['file'].rpartition('/policies/')[2]}:{rule['line']}"
        times = f" ({denial['count']} times)" if denial["count"] > 1 else ""
        say(f"   {'':<16}{denial['what']}{times}: {rule}")


def ordinary_work(scene):
    heading(1, "Ordinary work", "A script that an agent wrote reads a table in its work directory and writes a summary.")
    start = time.monotonic()
    run = scene.agent(["python3", "summarise.py"], "python-sandbox")
    took = time.monotonic() - start
    result = os.path.join(scene.work, "revenue.txt")
    text = ""
    if os.path.exists(result):
        with open(result, encoding="utf-8") as file:
            text = file.read()
    show_output(run)
    for line in text.splitlines():
        say(paint("dim", "   revenue.txt | ") + line)
    good = run.status == 0 and run.output == "" and len(text.splitlines()) == 3 and not run.denials
    outcome("with cordon", good, f"exit status {run.status}, {len(run.denials)} accesses denied")
    say(f"   The first run loads enforcement into the kernel: {took:.1f} s. The next ones find it there.")
    promise(good, "the summary is written, nothing is denied")


def posted_key(scene, server, number, title, comment, command, policy, expected):
    """An attack that posts the key. Returns the execution's id."""
    heading(number, title, *comment)
    free = scene.agent([*command, server.url])
    show_output(free)
    loot = server.take()
    stolen = scene.key.strip().encode() in loot
    shown = loot.decode(errors="replace").split("\n")
    outcome("without cordon", not stolen, f"the attacker's server got {len(loot)} bytes: {' '.join(shown[:2])[:56]}...")
    promise(stolen, "without cordon the key is stolen")

    run = scene.agent([*command, server.url], policy)
    show_output(run)
    loot = server.take()
    good = loot == b"" and run.status != 0
    outcome("with cordon", good, f"the attacker's server got {len(loot) or 'no'} bytes; exit status {run.status}")
    show_denials(run)
    promise(good, "with cordon the attacker gets nothing")
    for operations, ending in expected:
        promise(run.denied(operations, ending), f"the denied {operations[0]} of {ending or 'a socket'} is logged")
    return run.report["execution"] if run.report else ""


def printed_secret(scene, title, command, secret, expected):
    """An attack that prints the secret, so that it reaches the agent."""
    say(paint("bold", f"   {title}"))
    free = scene.agent(command)
    loot = [line for line in free.output.splitlines() if secret in line]
    stolen = bool(loot)
    outcome("without cordon", not stolen, f"the code can show it: {loot[0][:40]}..." if stolen else "nothing is read")
    promise(stolen, f"without cordon: {title}")
    run = scene.agent(command, "python-sandbox")
    good = secret not in run.output and run.status != 0
    outcome("with cordon", good, run.output.splitlines()[-1] if run.output else "")
    show_denials(run)
    promise(good, f"with cordon the secret stays secret: {title}")
    promise(run.denied(*expected), f"the denied {expected[0][0]} is logged: {title}")


def process_id(run):
    """The process id that background.sh printed, or 0."""
    text = run.output.strip()
    return int(text) if text.isdigit() else 0


def alive(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii") as file:
            return file.read().strip() == "sleep"
    except OSError:
        return False


def background(scene):
    heading(5, "A process that outlives its script", "The script ends, its child is in a session of its own.")
    free = scene.agent(["bash", "background.sh"])
    left = process_id(free)
    time.sleep(1)
    survives = alive(left)
    outcome("without cordon", not survives, f"a second after the script has ended, process {left} is {'alive' if survives else 'gone'}")
    promise(survives, "without cordon the child survives")
    if survives:
        os.kill(left, signal.SIGKILL)
    run = scene.agent(["bash", "background.sh"], "shell-sandbox")
    left = process_id(run)
    survives = alive(left)
    killed = run.report["outcome"]["killed_tasks"] if run.report else 0
    outcome("with cordon", not survives, f"when cordon run returns, process {left} is {'alive' if survives else 'gone'}; killed at the end: {killed}")
    promise(left > 0 and not survives and killed == 1, "with cordon the child is killed")


def records(scene, attack):
    heading(6, "The record", "Every execution is in the audit log. The attack in Python, line by line and as a story:")
    status, text = scene.cordon("events", *scene.log, "--execution", attack)
    say(indented(text))
    promise(status == 0 and "DENIED" in text, "the log shows the denials")
    say()
    status, text = scene.cordon("show", *scene.log, attack)
    say(indented(text))
    promise(status == 0 and "id_rsa" in text, "the attack can be read as a story")

    heading(7, "The proof", "Records are chained by hash, so that a changed one shows.")
    status, text = scene.cordon("log", "verify", *scene.log)
    say(indented(text))
    promise(status == 0, "the log is intact")
    forged = os.path.join(scene.home, "forged")
    shutil.copytree(scene.log[1] if scene.log else LOG, forged)
    path = os.path.join(forged, "current.jsonl")
    with open(path, encoding="ascii") as file:
        content = file.read()
    with open(path, "w", encoding="ascii") as file:
        file.write(content.replace(".ssh/id_rsa", ".ssh/config", 1))
    say("   In a copy, one path in one record is changed:")
    status, text = scene.cordon("log", "verify", "--log", forged)
    say(indented(text))
    promise(status == 1, "the forgery is found")


def indented(text):
    return "\n".join("   " + line if line else "" for line in text.rstrip("\n").split("\n"))


def tell(scene):
    server = AttackerServer()
    ordinary_work(scene)
    attack = posted_key(
        scene,
        server,
        2,
        "The published attack",
        ("A prompt injection has Python read ~/.ssh/id_rsa and post it with curl. The code runs as root,",
         "so no permission bits are in its way: cordon alone denies."),
        ["python3", "attack.py"],
        "python-sandbox",
        [(("open",), "/.ssh/id_rsa"), (("open", "exec"), "/curl"), (("socket",), "")],
    )
    posted_key(
        scene,
        server,
        3,
        "The same in shell",
        ("Here curl may run, and finds that there is neither key nor network.",),
        ["bash", "attack.sh"],
        "shell-sandbox",
        [(("open",), "/.ssh/id_rsa"), (("socket",), "")],
    )
    heading(4, "Ways around", "The key under another name, and a secret of the program that starts the agent's code.")
    key_line = scene.key.split("\n")[1]
    printed_secret(scene, "A hard link into the work directory", ["python3", "hardlink.py"], key_line, (("link",), "/notes.txt"))
    printed_secret(scene, "A symbolic link to its directory", ["python3", "symlink.py", "docs"], key_line, (("symlink",), "/docs"))
    printed_secret(scene, "A symbolic link that exists", ["python3", "symlink.py", "keys"], key_line, (("open",), "/.ssh/id_rsa"))
    printed_secret(scene, "The parent's environment", ["python3", "environ.py"], scene.token, (("open",), "/environ"))
    background(scene)
    records(scene, attack)


def interrupt(number, frame):
    raise KeyboardInterrupt


def main():
    for number in ENDING_SIGNALS:
        signal.signal(number, interrupt)
    # What the scene makes has to be known before anything can end the demo.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    scene = Scene(sys.argv[1])
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)
        say(f"Linux {os.uname().release}")
        tell(scene)
    except KeyboardInterrupt:
        say()
        promise(False, "the demo was not interrupted")
    finally:
        for number in ENDING_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        scene.leave()
    for what in broken:
        say(paint("red", f"NOT AS PROMISED: {what}"))
    say(f"# demo: {len(kept)} passed, {len(broken)} failed")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
