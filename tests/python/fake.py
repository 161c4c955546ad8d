# SPDX-License-Identifier: Apache-2.0
"""A program in the place of `cordon`, for what passes between the package and it: it notes its arguments and runs the
command, unconfined. What it says of the end is in FAKE_REPORT."""

import json
import os
import tempfile
import unittest

PROGRAM = """#!/usr/bin/python3 -B
import ctypes, json, os, subprocess, sys
words = sys.argv[1:]
with open(os.environ["FAKE_ARGUMENTS"], "w") as file:
    json.dump(words, file)
options = words[1 : words.index("--")] if "--" in words else words
command = words[words.index("--") + 1 :] if "--" in words else []
value = lambda name: options[options.index(name) + 1] if name in options else None
if os.environ.get("FAKE_ERROR"):
    sys.exit("cordon: " + os.environ["FAKE_ERROR"]) if words[0] != "run" else (print("cordon: " + os.environ["FAKE_ERROR"], file=sys.stderr), sys.exit(125))
if words[0] == "why":
    print(json.dumps({"denials": [], "asked": words[1]}))
    sys.exit(0)
if value("--policy") and value("--policy").startswith("/"):
    os.environ["FAKE_POLICY"] = open(value("--policy")).read()
# What it runs ends with it (PR_SET_PDEATHSIG), as with cordon's daemon.
done = subprocess.run(command, cwd=value("--workdir"), stdin=subprocess.DEVNULL if value("--stdin") == "null" else None,
                      preexec_fn=lambda: ctypes.CDLL(None).prctl(1, 9))
outcome = {"cause": os.environ.get("FAKE_CAUSE", "exited"), "limits": os.environ.get("FAKE_LIMITS", "").split()}
report = {"execution": "0190", "policy": {"name": "fake"}, "outcome": outcome, "denials": [], "denials_total": 0}
report.update(json.loads(os.environ.get("FAKE_REPORT", "{}")))
with open(value("--report"), "w") as file:
    json.dump(report, file)
sys.exit(124 if outcome["cause"] == "timeout" else done.returncode if done.returncode >= 0 else 128 - done.returncode)
"""

DENIAL = {
    "what": "read of /etc/shadow was denied",
    "operation": "open",
    "object": "/etc/shadow",
    "rights": ["read"],
    "rule": {"file": "credentials.yaml", "line": 7, "text": "deny /etc/shadow"},
    "message": "Ask the person you work for.",
    "how_to_ask": None,
    "why_not": "a rule denies it",
    "count": 4,
}


class WithFake(unittest.TestCase):
    """`self.fake`: the program; arguments(): what it was last started with."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        self.work = os.path.join(self.folder, "work")
        os.mkdir(self.work)
        self.fake = os.path.join(self.folder, "cordon")
        with open(self.fake, "w", encoding="ascii") as file:
            file.write(PROGRAM)
        os.chmod(self.fake, 0o755)
        self.says(FAKE_ARGUMENTS=os.path.join(self.folder, "arguments"), CORDON=self.fake)

    def says(self, **variables):
        """Until the test has ended."""
        for name, value in variables.items():
            self.addCleanup(os.environ.__setitem__, name, os.environ[name]) if name in os.environ else self.addCleanup(os.environ.pop, name, None)
            os.environ[name] = value if isinstance(value, str) else json.dumps(value)

    def arguments(self):
        with open(os.path.join(self.folder, "arguments"), encoding="utf-8") as file:
            return json.load(file)

    def option(self, name):
        words = self.arguments()
        return words[words.index(name) + 1]
