# SPDX-License-Identifier: Apache-2.0
"""Arguments, results and errors of run() and run_async()."""

import asyncio
import glob
import os
import tempfile

import cordon_sandbox as cordon
from fake import DENIAL, WithFake


class Run(WithFake):
    def left(self):
        return glob.glob(os.path.join(tempfile.gettempdir(), "python-cordon-*"))

    def test_arguments(self):
        result = cordon.run(
            ["echo", "--policy", "x"], policy="tight", workdir=self.work, timeout=1.5, max_memory=1 << 20, max_procs=3, binds={"venv": "/v"}, agent="a"
        )
        words = self.arguments()
        self.assertEqual(words[words.index("--") + 1 :], ["echo", "--policy", "x"])
        self.assertEqual((result.stdout, result.status, result.ok), ("--policy x\n", 0, True))
        for option, value in (("--policy", "tight"), ("--workdir", self.work), ("--timeout", "1500ms"), ("--memory", "1048576B")):
            self.assertEqual(self.option(option), value)
        for option, value in (("--pids", "3"), ("--bind", "venv=/v"), ("--agent", "a"), ("--stdin", "null")):
            self.assertEqual(self.option(option), value)

    def test_policy_and_report_are_the_callers_alone(self):
        code = "import os, sys; print(os.environ['FAKE_POLICY']); sys.stdout.flush()"
        result = cordon.run(["/usr/bin/python3", "-c", code], policy=cordon.Policy("mine").limits(pids=1), workdir=self.work)
        self.assertIn('"name": "mine"', result.stdout)
        folder = os.path.dirname(self.option("--report"))
        self.assertEqual(os.path.basename(self.option("--policy")), "mine.yaml")
        self.assertFalse(os.path.exists(folder))

    def test_streams(self):
        result = cordon.run(["sh", "-c", "cat; echo err >&2; exit 3"], workdir=self.work, input="in\n" * 100000)
        self.assertEqual((result.stdout, result.stderr, result.status, result.ok), ("in\n" * 100000, "err\n", 3, False))
        result = cordon.run(["head", "-c", "1000000", "/dev/zero"], workdir=self.work, max_output=10)
        self.assertEqual((len(result.stdout), result.truncated), (10, True))

    def test_denials(self):
        self.says(FAKE_REPORT={"denials": [DENIAL], "denials_total": 4})
        result = cordon.run(["true"], workdir=self.work)
        self.assertEqual((result.denials[0].object, result.denials[0].rights, result.denials_total), ("/etc/shadow", ("read",), 4))
        self.assertEqual(result.denials[0].rule, "credentials.yaml:7: deny /etc/shadow")
        for words in ("read of /etc/shadow was refused (4 times)", "Ask the person you work for.", "a rule denies it"):
            self.assertIn(words, result.explain())
        self.assertEqual(result.why()["asked"], result.execution)

    def test_timeout(self):
        self.says(FAKE_CAUSE="timeout")
        result = cordon.run(["true"], workdir=self.work)
        self.assertEqual((result.status, result.cause, result.ok), (124, "timeout", False))

    def test_limits(self):
        self.says(FAKE_LIMITS="memory pids")
        result = cordon.run(["false"], workdir=self.work)
        self.assertEqual((result.status, result.cause, result.ok), (1, "memory", False))
        result = cordon.run(["true"], workdir=self.work)
        self.assertEqual((result.status, result.cause, result.ok), (0, "exited", True))

    def test_nothing_ran(self):
        before = self.left()
        with self.assertRaises(cordon.CordonError) as caught:
            cordon.run(["true"], cordon=os.path.join(self.folder, "none"))
        self.assertIn("No such file", str(caught.exception))
        self.says(FAKE_ERROR="no such policy")
        with self.assertRaises(cordon.CordonError) as caught:
            cordon.run(["true"], workdir=self.work)
        self.assertEqual(str(caught.exception), "cordon: no such policy")
        with self.assertRaises(ValueError):
            cordon.run([])
        self.assertEqual(self.left(), before)

    def test_cancel(self):
        # The daemon ends what loses its `cordon run`. Nobody does here: it ends with its input, when that is given.
        execution = cordon.start(["cat"], workdir=self.work, input="last")
        execution.cancel()
        self.assertEqual(execution._process.wait(), -9)  # pylint: disable=protected-access
        result = execution.wait()
        self.assertEqual((result.cause, result.status, result.ok), ("cancelled", 137, False))

    def test_async(self):
        async def both():
            return await asyncio.gather(*(cordon.run_async(["echo", word], workdir=self.work) for word in ("a", "b")))

        self.assertEqual([result.stdout for result in asyncio.run(both())], ["a\n", "b\n"])
        with self.assertRaises(cordon.CordonError):
            asyncio.run(cordon.run_async(["true"], cordon="/nonexistent"))
