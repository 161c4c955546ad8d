# SPDX-License-Identifier: Apache-2.0
"""Policies that programs make, compiled by cordon itself."""

import json
import os
import subprocess
import tempfile
import unittest

import cordon_sandbox as cordon

PROGRAM = os.path.join(os.environ["CORDON_TEST_BUILD"], "cordon")


class Policies(unittest.TestCase):
    def explain(self, policy, *question, **binds):
        """(May it, by `cordon policy explain`?)"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "policy.yaml")
            policy.write(path)
            done = subprocess.run(
                [PROGRAM, "policy", "explain", *[f"--bind={n}={v}" for n, v in binds.items()], path, *question],
                capture_output=True,
                text=True,
                check=False,
            )
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.returncode == 0

    def test_compiles_to_the_digest_of_its_yaml(self):
        policy = cordon.Policy("job", include=["runtime/linux"])
        policy.allow_files("read", ["/srv/data/**"]).deny_files("all", "**/.ssh", message="No.", severity="high")
        policy.allow_exec(["run", "map"], "/usr/bin/cat").limits(wall=60, memory="512M", pids=4)
        policy.allow_network("connect", ["192.0.2.0/24", "example.org"], ports=[443, "8000-8100"])
        answer = policy.check(cordon=PROGRAM)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "job.yaml")
            with open(path, "w", encoding="ascii") as file:
                file.write(
                    "version: 1\nname: job\ninclude: [runtime/linux]\nlimits: {wall: 60s, memory: 512M, pids: 4}\n"
                    "files:\n  - {allow: [read], paths: [/srv/data/**]}\n"
                    '  - {deny: [all], paths: ["**/.ssh"], message: "No.", severity: high}\n'
                    "exec:\n  - {allow: [run, map], paths: [/usr/bin/cat]}\n"
                    "network:\n  - {allow: [connect], to: [192.0.2.0/24, example.org], ports: [443, 8000-8100]}\n"
                )
            done = subprocess.run([PROGRAM, "policy", "diff", "--json", path, path], capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            text = subprocess.run([PROGRAM, "policy", "check", "--json", path], capture_output=True, check=True).stdout
        self.assertEqual((answer["name"], answer["rules"], answer["states"]), tuple(json.loads(text)[k] for k in ("name", "rules", "states")))

    def test_what_is_wrong_is_said(self):
        with self.assertRaises(cordon.PolicyError) as caught:
            cordon.Policy("job").allow_files("raed", "/srv/**").check(cordon=PROGRAM)
        self.assertIn('unknown right "raed"', str(caught.exception))
        self.assertEqual(caught.exception.diagnostics[0]["fix"], 'did you mean "read"?')
        self.assertRegex(str(caught.exception), r"policy\.yaml:[0-9]+:[0-9]+: .*; hint: did you mean \"read\"\?")

    def test_lists(self):
        with tempfile.TemporaryDirectory() as folder:
            real, link = os.path.join(os.path.realpath(folder), "a*b"), os.path.join(folder, "link")
            os.mkdir(real)
            os.symlink(real, link)
            policy = cordon.sandbox(
                fs_read=[link], fs_write=["/var/lib/job"], net_allow=["192.0.2.1:443,8000-8100"], max_memory=1 << 28, max_procs=10, timeout=1.5
            )
            policy.check(cordon=PROGRAM)
            limits = json.loads(policy.text())["limits"]
            self.assertEqual(limits, {"wall": "1500ms", "memory": "268435456B", "pids": 10})
            for may, question in (
                (True, ("read", f"{real}/file")),
                (False, ("write", f"{real}/file")),
                (False, ("read", real.replace("*", "x") + "/file")),
                (True, ("write", "/var/lib/job/file")),
                (False, ("read", "/etc/shadow")),
                (True, ("connect", "192.0.2.1:443")),
                (True, ("connect", "192.0.2.1:8010")),
                (False, ("connect", "192.0.2.1:80")),
                (False, ("connect", "192.0.2.2:443")),
            ):
                self.assertEqual(self.explain(policy, *question), may, question)

    def test_destinations(self):
        network = [
            json.loads(cordon.sandbox(net_allow=[text]).text())["network"][0]
            for text in ("example.org", ":53", "udp://[2001:db8::1]:53", "2001:db8::2", "10.0.0.0/8:80")
        ]
        self.assertEqual(
            network,
            [
                {"allow": ["connect"], "to": ["example.org"]},
                {"allow": ["connect"], "to": "any", "ports": [53]},
                {"allow": ["connect"], "to": ["2001:db8::1"], "ports": [53], "protocols": ["udp"]},
                {"allow": ["connect"], "to": ["2001:db8::2"]},
                {"allow": ["connect"], "to": ["10.0.0.0/8"], "ports": [80]},
            ],
        )
        for wrong in ("", ":", "a b:c", "host:port"):
            with self.assertRaises(ValueError, msg=wrong):
                cordon.sandbox(net_allow=[wrong])
