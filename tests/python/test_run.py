# SPDX-License-Identifier: Apache-2.0
"""Arguments, results and errors of run() and run_async()."""

import asyncio
import datetime
import glob
import os
import pathlib
import pydoc
import tempfile
import time

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

    def test_bytes(self):
        result = cordon.run(["printf", r"a\377\0"], workdir=self.work)
        self.assertEqual((result.stdout_bytes, result.stderr_bytes, result.stdout), (b"a\xff\0", b"", "a\ufffd\0"))

    def test_paths_and_durations(self):
        job = pathlib.Path(self.work, "job")
        job.write_text("#!/bin/sh\necho fine\n", encoding="ascii")
        job.chmod(0o755)
        timeout = datetime.timedelta(minutes=1, milliseconds=5)
        result = cordon.run([job], policy=pathlib.Path("/dev/null"), workdir=pathlib.Path(self.work), timeout=timeout)
        self.assertEqual((result.stdout, self.option("--timeout"), self.option("--policy")), ("fine\n", "60005ms", "/dev/null"))
        for wrong in (datetime.timedelta(0), datetime.timedelta(seconds=-1)):
            with self.assertRaises(ValueError):
                cordon.run(["true"], workdir=self.work, timeout=wrong)

    def test_output_as_it_comes(self):
        pieces, errors = [], []
        with cordon.start(["sh", "-c", "echo one; echo e >&2; read x; echo two"], workdir=self.work, input="", on_stdout=pieces.append, on_stderr=errors.append) as execution:
            self.assertGreater(execution.pid, 0)
            result = execution.wait()
        self.assertEqual((b"".join(pieces), b"".join(errors), result.stdout), (b"one\ntwo\n", b"e\n", "one\ntwo\n"))

        def fail(_):
            raise KeyError("of the caller")

        with self.assertRaisesRegex(KeyError, "of the caller"):
            cordon.run(["echo", "x"], workdir=self.work, on_stdout=fail)
        self.assertEqual(self.left(), [])

    def test_wait_with_a_timeout(self):
        # More input than a pipe holds: nobody reads it, and wait() ends in time all the same.
        with cordon.start(["sh", "-c", "while [ ! -e go ]; do sleep 0.05; done; echo done"], workdir=self.work, input=b"x" * (1 << 20)) as execution:
            since = time.monotonic()
            with self.assertRaises(TimeoutError):
                execution.wait(0.2)
            self.assertLess(time.monotonic() - since, 60)
            pathlib.Path(self.work, "go").touch()
            self.assertEqual(execution.wait(60).stdout, "done\n")
            self.assertEqual(execution.wait(0).stdout, "done\n")

    def test_check(self):
        self.says(FAKE_REPORT={"denials": [DENIAL], "denials_total": 4})
        self.assertTrue(cordon.run(["true"], workdir=self.work, check=True).ok)
        with self.assertRaises(cordon.FailedError) as caught:
            cordon.run(["false"], workdir=self.work, check=True)
        self.assertEqual(caught.exception.result.status, 1)
        for words in ("status 1", "/etc/shadow"):
            self.assertIn(words, str(caught.exception))
        self.assertNotIsInstance(caught.exception, cordon.CordonError)

    def test_proposal(self):
        denial = {**DENIAL, "how_to_ask": "files: literal", "why_not": None}
        proposal = {"policy": "build-c", "amendment": "version: 1\namends: x\n", "denied": [], "notes": [], "denials": 1, "settled": 1}
        self.says(FAKE_REPORT={"denials": [denial], "denials_total": 4, "proposal": proposal})
        result = cordon.run(["true"], workdir=self.work)
        self.assertEqual(result.proposal["policy"], "build-c")
        for words in ("The policy build-c allows all of this.", "    amends: x"):
            self.assertIn(words, result.explain())
        self.assertNotIn("literal", result.explain())

    def test_help_lists_options(self):
        for function in (cordon.run, cordon.start, cordon.run_async):
            text = pydoc.render_doc(function, renderer=pydoc.plaintext)
            for name in cordon.options.Options.__annotations__:
                self.assertIn(f"{name}: ", text)

    def test_denials(self):
        self.says(FAKE_REPORT={"denials": [DENIAL], "denials_total": 4})
        result = cordon.run(["true"], workdir=self.work)
        self.assertEqual((result.denials[0].object, result.denials[0].rights, result.denials_total), ("/etc/shadow", ("read",), 4))
        self.assertEqual(result.denials[0].rule, "credentials.yaml:7: deny /etc/shadow")
        for words in ("read of /etc/shadow was denied (4 times)", "Ask the person you work for.", "a rule denies it"):
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
