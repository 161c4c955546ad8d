# SPDX-License-Identifier: Apache-2.0
"""What the parts that drive executors of other people share: one entry of cordon.yaml at a time."""

import os
import subprocess
import sys

from adopt_support import Daemon
from support import POLICIES, Suite, wait_until

SIMPLE = """version: 1
name: simple
include: [runtime/linux, runtime/python3, runtime/shell]
files:
  - {allow: [read, write, create, delete], paths: ["${workdir}/**"]}
exec:
  - {allow: [run, map], paths: ["/usr/bin/*", "${workdir}/*"]}
environment: {keep: [PATH, HOME, LANG, "LC_*"]}
"""


class Executors(Suite):
    """Checks of one part, with a daemon. `packages`: what must be there, paths and names; `fetched`: of fetch-executors."""

    def __init__(self, name, packages, fetched=None):
        super().__init__(name)
        self.under = self.directory("work")
        os.chmod(self.under, 0o755)
        # In a build with sanitizers it is a link, through which no directory of an executor may lead.
        self.installed = os.path.realpath(os.path.join(self.build, "executors"))
        missing = [package for path, package in packages.items() if not os.path.exists(path)]
        if missing:
            sys.exit(f"{name}: packages are missing: {' '.join(sorted(set(missing)))}; run packaging/setup/install-packages test-all")
        if fetched and not os.path.exists(os.path.join(self.installed, f"{fetched}.complete")):
            sys.exit(f"{name}: {self.installed} lacks something; run packaging/setup/fetch-executors {self.installed} {fetched}")
        self.daemon = Daemon(self.build, self.top, "version: 1\n")

    def policy(self, name, text):
        path = self.path(f"{name}.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def shipped(self, name, more=""):
        """A policy that comes with cordon, and rules for programs besides."""
        with open(os.path.join(POLICIES, f"{name}.yaml"), encoding="utf-8") as file:
            text = file.read()
        return self.policy(name, text.replace("\nexec:\n", f"\nexec:\n{more}", 1))

    def enforce(self, **entry):
        lines = "".join(f"    {key}: {value}\n" for key, value in entry.items() if key != "name")
        self.daemon.write(f"version: 1\nexecutors:\n  - name: {entry['name']}\n{lines}")
        said = self.daemon.reload()
        if "1 executors" not in said:
            raise RuntimeError(said)
        return len(self.daemon.records())

    def forget(self):
        self.daemon.write("version: 1\n")
        self.daemon.reload()

    def work(self):
        self.made += 1
        return self.directory("work", f"w{self.made}")

    def ended(self, position, count):
        wait_until(lambda: len(self.daemon.of("execution-end", position)) >= count, 60)
        return self.daemon.of("execution-start", position), self.daemon.of("execution-end", position)

    def try_all(self, *checks):
        try:
            self.daemon.start()
            self.make(*checks, daemon=self.daemon, settle=False)
        finally:
            self.daemon.stop()
            if self.failed:
                print(self.daemon.words()[-3000:])
        self.main()


def run(command, **options):
    options.setdefault("timeout", 900)
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)
