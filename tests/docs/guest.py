#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Does what pages have their readers do, as root on a machine with systemd that is thrown away:
guest.py [--tree DIR | --packages DIR] [--agents DIR] [--update FILE] PAGE..."""

import argparse
import glob
import json
import os
import pwd
import subprocess
import sys
import time

import agents
import compare
import pages
from session import Session, SessionError

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.dirname(os.path.dirname(HERE))
# The reader, who is called so in all pages.
USER = "alice"
START = "systemctl enable --now cordon"
PACKAGE = "apt install ./"
# Its results depend on records that are on their way.
EVENTUALLY = "cordon-fleet "
# One command may load enforcement on an emulated processor beside others.
SECONDS = 400
counts = {True: 0, False: 0}


def check(name, problems):
    counts[not problems] += 1
    print(f"{'not ok' if problems else 'ok'} - {name}", flush=True)
    for line in problems:
        print(f"  | {line}", flush=True)


def elsewhere(packages):
    """Commands that another test runs: {command: test}. With the packages at hand, these are installed here."""
    found = {}
    with open(os.path.join(HERE, "elsewhere"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                command, _, test = line.rstrip("\n").partition("\t")
                if not (packages and command.startswith(PACKAGE)):
                    found[command] = test.strip()
    return found


def root(*command):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def wait_for_systemd():
    end = time.monotonic() + SECONDS
    while not os.path.exists("/run/systemd/private"):
        if time.monotonic() > end:
            sys.exit("tests/docs/guest.py: systemd does not come up")
        time.sleep(0.2)
    subprocess.run(["systemctl", "is-system-running", "--wait"], stdout=subprocess.DEVNULL, check=False)


def prepare(options):
    wait_for_systemd()
    if options.tree:
        root("cp", "-a", options.tree + "/.", "/")
        # As the Debian package of the Python package has it.
        root("cp", "-a", f"{PROJECT}/python/cordon_sandbox", "/usr/lib/python3/dist-packages/")
        root("systemd-sysusers", "cordon.conf")
        root("systemd-tmpfiles", "--create", "cordon.conf")
        root("systemctl", "daemon-reload")
    if options.packages:
        root("cp", "-r", options.packages + "/.", "/root")
    root("useradd", "--create-home", "--shell", "/bin/bash", USER)
    home = pwd.getpwnam(USER).pw_dir
    os.chmod(home, 0o700)
    os.mkdir(f"{home}/.ssh", 0o700)
    with open(f"{home}/.ssh/id_ed25519", "w", encoding="utf-8") as file:
        file.write("a private key\n")
    root("chown", "-R", f"{USER}:", f"{home}/.ssh")
    if options.agents:
        agents.install(options.agents, USER)


class Reader:
    """One person before one page, who is root in one window."""

    def __init__(self, skipped, updates):
        self.skipped, self.updates, self.shells = skipped, updates, {}

    def shell(self, user):
        if user not in self.shells:
            self.shells[user] = Session(USER, SECONDS, agents.ENVIRONMENT) if user == "user" else Session("root", SECONDS)
        return self.shells[user]

    def close(self):
        for shell in self.shells.values():
            shell.close()

    def write(self, file):
        path = os.path.expanduser(file.path) if not file.path.startswith("~") else pwd.getpwnam(USER).pw_dir + file.path[1:]
        root("install", "-d", "-o", USER, os.path.dirname(path)) if file.path.startswith("~") else os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(file.content)
        if file.path.startswith("~"):
            root("chown", USER + ":", path)

    def result(self, command):
        end = time.monotonic() + SECONDS / 4
        while True:
            status, came = self.shell(command.user).run(command.text)
            if not command.text.startswith(EVENTUALLY) or compare.same(command.shown, came) or time.monotonic() > end:
                return status, came
            time.sleep(1)

    def type(self, command):
        name = f"{command.page}:{command.line}: {command.text.partition(chr(10))[0]}"
        if command.text in self.skipped:
            print(f"(run by {self.skipped[command.text]}: {name})")
            return
        try:
            status, came = self.result(command)
        except SessionError as error:
            # What comes later would be compared with this command's.
            self.shells.pop(command.user).close()
            check(name, str(error).splitlines())
            return
        problems = []
        if not compare.same(command.shown, came):
            problems = compare.difference(command.shown, came)
            self.updates.append((command.page, command.first, command.last, compare.readable(came)))
        if status and not command.status_follows:
            problems.append(f"status {status}; a page that shows a failure goes on with 'echo $?'")
        check(name, problems)


def do_page(page, skipped, updates):
    with open(os.path.join(PROJECT, page), encoding="utf-8") as file:
        steps = pages.steps(page, file.read())
    check(f"{page} has examples", [] if steps else ["none"])
    if START not in [step.text for step in steps if isinstance(step, pages.Command)]:
        for package in sorted(glob.glob("/root/cordon_*.deb")):
            root("dpkg", "-i", package)
        root(*START.split())
        root("usermod", "--append", "--groups", "cordon,cordon-log", USER)
    reader = Reader(skipped, updates)
    for step in steps:
        if isinstance(step, pages.File):
            reader.write(step)
        else:
            reader.type(step)
    reader.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", help="a tree to be copied to / first, as `make install DESTDIR=` makes it")
    parser.add_argument("--packages", help="a folder with the packages that pages install, to be copied to /root")
    parser.add_argument("--agents", help="a folder that fetch-agents made")
    parser.add_argument("--update", help="write there what pages should show instead")
    parser.add_argument("pages", nargs="+")
    options = parser.parse_args()
    updates = []
    prepare(options)
    skipped = elsewhere(options.packages)
    for page in options.pages:
        try:
            do_page(page, skipped, updates)
        except pages.PageError as error:
            check(page, [str(error)])
    if options.update:
        with open(options.update, "w", encoding="utf-8") as out:
            json.dump(updates, out)
    print(f"# docs: {counts[True]} passed, {counts[False]} failed")
    return counts[False] > 0


if __name__ == "__main__":
    sys.exit(main())
