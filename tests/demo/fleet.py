# SPDX-License-Identifier: Apache-2.0
"""The story of a fleet, as root on a machine that can enforce and is thrown away:  fleet.py BUILD

web-1 is that machine, with cordon's daemon; on it an agent is made to look for keys. web-2 and web-3 have logs, names and
machine ids of their own, and records of ordinary work. Each has a shipper; all ship to one server, from which one store takes.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(PROJECT, "tests", "fleet"), os.path.join(PROJECT, "tests", "common")]
sys.dont_write_bytecode = True
import nats  # noqa: E402 pylint: disable=wrong-import-position
from patience import comes, patience  # noqa: E402 pylint: disable=wrong-import-position
from ports import reserve_port  # noqa: E402 pylint: disable=wrong-import-position

# On an idle machine: how long the daemon may take to start, and until a silent host is listed as such.
SECONDS = 180
NAMED_SECONDS = 240
INJECTED = "import sys\nfor path in ('/root/.ssh/id_rsa', '/root/.aws/credentials', '/etc/shadow'):\n" \
           "    try:\n        open(path).read()\n    except OSError as error:\n        print(error)\n"
broken = []


def say(text=""):
    print(text, flush=True)


def heading(number, title):
    say()
    say(f"{number}. {title}")


def promise(what, kept, details=""):
    """Prints whether a promise was kept, and records it if not."""
    say(f"   {'as promised' if kept else 'NOT AS PROMISED'}: {what}")
    if not kept:
        broken.append(what)
        for line in str(details).splitlines()[-20:]:
            say(f"   | {line}")


class Fleet:
    def __init__(self, build):
        self.build, self.top = os.path.abspath(build), tempfile.mkdtemp(prefix="cordon-fleet-demo-")
        self.store = f"{self.top}/store"
        self.running = {}
        self.server = nats.Server(self.top)
        self.start("store", f"{self.build}/cordon-fleet", "store", "--store", self.store, "--nats", self.server.url)

    def log(self, host):
        return f"{self.top}/{host}/log"

    def start(self, name, *command, **how):
        with open(f"{self.top}/{name}.said", "ab") as said:
            self.running[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, **how)

    def said(self, name):
        with open(f"{self.top}/{name}.said", encoding="utf-8", errors="replace") as said:
            return said.read()

    def ship(self, host):
        """Once there is a log, as its unit would start it again and again."""
        comes(lambda: os.path.exists(f"{self.log(host)}/current.jsonl"), 60)
        os.makedirs(f"{self.top}/{host}/state")
        self.start(f"{host}-ship", f"{self.build}/lib/cordon/cordon-ship", "--log", self.log(host), "--state", f"{self.top}/{host}/state",
                   "--server", self.server.url, "--presence", "2",
                   # It gives up root's rights, and its unit has the log's group.
                   extra_groups=[os.stat(self.log(host)).st_gid])

    def fleet(self, *words):
        """Runs a subcommand of cordon-fleet on the store. Returns its output."""
        command = [f"{self.build}/cordon-fleet", words[0], "--store", self.store, *words[1:]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    def fleet_until(self, good, seconds, *words):
        """Repeats a subcommand until its output is good(), because records may be on their way. Shows and returns the last output, and after how many seconds it came."""
        begun = time.monotonic()
        output = self.fleet(*words)
        while not good(output) and time.monotonic() - begun < patience(seconds):
            time.sleep(0.3)
            output = self.fleet(*words)
        say(f"   $ cordon-fleet {shlex.join(words)}")
        for line in output.splitlines():
            say(f"   {line}")
        return output, time.monotonic() - begun

    def hosts(self):
        """The hosts by name. A host whose name has not arrived yet is listed by its id."""
        lines = self.fleet("hosts", "--json").splitlines()[:-1]
        return {host["name"] or host["id"]: host for host in map(json.loads, lines)}

    def whole(self):
        hosts = self.hosts()
        return sorted(hosts) == ["web-1", "web-2", "web-3"] and all(host["state"] == "complete" for host in hosts.values())

    def cordon(self, *words, **how):
        return subprocess.run([f"{self.build}/cordon", *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **how)


def real_host(fleet):
    """This machine, by the name web-1, with the daemon as its unit has it."""
    subprocess.run(["hostname", "web-1"], check=True)
    for path, text in (("/root/.ssh/id_rsa", "a key\n"), ("/root/.aws/credentials", "another\n"), (f"{fleet.top}/fleet.yaml", "version: 1\ntenant: acme\n")):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    os.makedirs(f"{fleet.top}/web-1")
    fleet.start("web-1", f"{fleet.build}/cordon", "daemon", "--log", fleet.log("web-1"), "--policies", f"{PROJECT}/policies", "--heartbeat", "5",
                "--config", "/nonexistent", "--fleet", f"{fleet.top}/fleet.yaml", "--ship-state", f"{fleet.top}/web-1/state/state.json")
    there = comes(lambda: os.path.exists(f"{fleet.log('web-1')}/current.jsonl"), SECONDS)
    promise("web-1's daemon is there", there, fleet.said("web-1"))
    fleet.ship("web-1")


def other_host(fleet, number):
    """One with a name and a machine id of its own, in namespaces; its log grows by ordinary records."""
    name = f"web-{number}"
    os.makedirs(f"{fleet.top}/{name}")
    with open(f"{fleet.top}/{name}/machine-id", "w", encoding="ascii") as file:
        file.write(os.urandom(16).hex() + "\n")
    script = (f"hostname {name} && mount --bind {fleet.top}/{name}/machine-id /etc/machine-id && "
              f"exec {fleet.build}/tests/fleet/write_log {fleet.log(name)} 1000000 20")
    fleet.start(name, "unshare", "--mount", "--uts", "sh", "-c", script)
    fleet.ship(name)


def prometheus(fleet):
    """Scrapes web-1, with the rules that are shipped. Its port."""
    watch, port = reserve_port(), reserve_port()
    fleet.start("watch", f"{fleet.build}/cordon", "watch", "--listen", f"127.0.0.1:{watch}")
    with open(f"{PROJECT}/packaging/fleet/prometheus.yaml", encoding="utf-8") as file:
        text = file.read().replace("127.0.0.1:9783", f"127.0.0.1:{watch}").replace("15s", "2s").replace("scrape_timeout: 10s", "scrape_timeout: 2s")
    text = text.replace("- cordon-alerts.yaml", f"- {PROJECT}/packaging/fleet/cordon-alerts.yaml")
    with open(f"{fleet.top}/prometheus.yaml", "w", encoding="utf-8") as file:
        file.write(text)
    fleet.start("prometheus", "prometheus", f"--config.file={fleet.top}/prometheus.yaml", f"--storage.tsdb.path={fleet.top}/series",
                f"--web.listen-address=127.0.0.1:{port}")
    return port


def value_of(port, query):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?query={query}", timeout=10) as answer:
            found = json.load(answer)["data"]["result"]
        return float(found[0]["value"][1]) if found else None
    except (OSError, ValueError):
        return None


def story(fleet):
    heading(1, "Three hosts, a server, a store, and Prometheus")
    real_host(fleet)
    for number in (2, 3):
        other_host(fleet, number)
    port = prometheus(fleet)
    whole = comes(fleet.whole, SECONDS)
    hosts, _ = fleet.fleet_until(lambda output: "3 of 3 hosts complete" in output, SECONDS, "hosts")
    said = "".join(f"{name}: {fleet.said(name)}\n" for name in fleet.running if name != "prometheus")
    promise("the store has all records of the three hosts", whole and "3 of 3 hosts complete" in hosts, said)

    heading(2, "On one of them an agent is made to look for keys")
    done = fleet.cordon("run", "--policy", "python-sandbox", "--log", fleet.log("web-1"), "--agent", "support", "--session", "ticket-7",
                        "--workdir", fleet.top + "/job", "--", "python3", "-c", INJECTED, env={"PATH": "/usr/bin:/bin", "HOME": "/root"})
    promise("it gets none of them", done.stdout.count("ermission denied") == 3, done.stdout + done.stderr)

    def complete(output):
        return "web-1" in output and "id_rsa" in output and "3 of 3 hosts complete" in output.splitlines()[-1]

    found, took = fleet.fleet_until(complete, 60, "ask", "--verdict", "denied", "--path", "**/.ssh/**", "--since", "1h")
    promise(f"one query over all hosts finds the denied access {took:.1f} s later, and reports that it is complete", complete(found), found)
    folder = next((f"{fleet.store}/hosts/{host['id']}" for name, host in fleet.hosts().items() if name == "web-1"), "")
    copies = [f"{folder}/{log}" for log in os.listdir(folder)] if folder else []
    shown = fleet.cordon("show", "last", "--log", copies[0]).stdout if copies else ""
    promise("`cordon show` shows the execution from the store's copy, which verifies", "id_rsa" in shown and
            fleet.cordon("log", "verify", "--log", copies[0]).returncode == 0, shown)
    # The log holds the policy's tables, which are shipped a little later than records. web-2 and web-3 have no policy.
    none = "0 could, 1 could not, 0 not known"
    could, _ = fleet.fleet_until(lambda output: none in output, 60, "could", "read", "/root/.ssh/id_rsa", "--host", "web-1", "--all")
    promise("no policy in use on that host allows anything to read the key", none in could, could)
    counted = comes(lambda: (value_of(port, "cordon_denials_total") or 0) >= 3, 60)
    promise(f"Prometheus has counted the denied accesses: {value_of(port, 'cordon_denials_total')}", counted, fleet.said("prometheus")[-1500:])

    heading(3, "On another one the daemon is killed")
    fleet.running["web-2"].kill()
    hosts, took = fleet.fleet_until(lambda output: "daemon killed" in output and "web-2 silent since" in output, NAMED_SECONDS, "hosts")
    promise(f"it is listed with the reason {took:.1f} s later", "web-2 silent since" in hosts and "daemon killed" in hosts, hosts)
    denied, _ = fleet.fleet_until(lambda output: True, SECONDS, "ask", "--verdict", "denied", "--lines", "1")
    promise("every other query reports it, too", "web-2 silent since" in denied, denied)
    others = comes(lambda: all(fleet.hosts().get(name, {}).get("state") == "complete" for name in ("web-1", "web-3")), 60)
    promise("the two others are complete", others, fleet.hosts())


def main():
    if "CORDON_VM" not in os.environ:
        sys.exit("fleet.py changes this machine's name and files: run tests/demo/fleet")
    fleet = Fleet(sys.argv[1])
    os.makedirs(fleet.top + "/job")
    os.chmod(fleet.top, 0o755)
    try:
        story(fleet)
    finally:
        for process in fleet.running.values():
            process.terminate()
        fleet.server.close()
        shutil.rmtree(fleet.top, ignore_errors=True)
    for what in broken:
        say(f"NOT AS PROMISED: {what}")
    say(f"# fleet demo: {len(broken)} of its promises broken")
    return 1 if broken else 0


sys.exit(main())
