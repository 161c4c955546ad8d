# SPDX-License-Identifier: Apache-2.0
"""Wrong options and commands: each is reported before anything starts."""

import asyncio
import os
import pathlib

import cordon_sandbox as cordon
from fake import WithFake


def run_async(argv, **options):
    return asyncio.run(cordon.run_async(argv, **options))


class Options(WithFake):
    def assert_nothing_started(self):
        self.assertFalse(os.path.exists(os.path.join(self.folder, "arguments")))

    def rejected(self, error, call, *args, **options):
        with self.assertRaises(error) as caught:
            call(*args, **options)
        self.assert_nothing_started()
        return str(caught.exception)

    def test_unknown_option(self):
        for name, meant in (("polcy", "policy"), ("time_out", "timeout"), ("max_mem", "max_memory"), ("cwd", "workdir"), ("memory", "max_memory")):
            for function in (cordon.run, cordon.start, run_async):
                said = self.rejected(TypeError, function, ["true"], **{name: "x"})
                self.assertEqual(said, f"{function.__name__}() has no option '{name}'; did you mean '{meant}'?")
            said = self.rejected(TypeError, cordon.PythonSession, **{name: "x"})
            self.assertEqual(said, f"PythonSession() has no option '{name}'; did you mean '{meant}'?")
        said = self.rejected(TypeError, cordon.run, ["true"], shell=True)
        self.assertTrue(said.startswith("run() has no option 'shell'; the options are policy, workdir, "), said)

    def test_session_takes_no_input(self):
        said = self.rejected(TypeError, cordon.PythonSession, input="1")
        self.assertTrue(said.startswith("PythonSession() has no option 'input'; "), said)
        said = self.rejected(TypeError, cordon.PythonSession, stdin="1")
        self.assertNotIn("'input'", said)

    def test_every_known_option(self):
        """The check rejects no option that is documented."""
        cordon.run(
            ["true"],
            policy="p", workdir=self.work, input="", env=dict(os.environ), timeout=1, max_memory="1M", max_procs=1, binds={}, user="u", agent="a",
            session="s", executor="e", language="l", observe=True, log="/l", max_output=1, cordon=self.fake,
        )  # fmt: skip
        self.assertIn("--observe", self.arguments())

    def test_command_as_text(self):
        for function in (cordon.run, cordon.start, run_async):
            said = self.rejected(TypeError, function, "echo 'a b'")
            expected = f"{function.__name__}() takes the command as a list of words, not as one str; "
            expected += """write ['echo', 'a b'], or ['/bin/sh', '-c', "echo 'a b'"] for a shell"""
            self.assertEqual(said, expected)
        self.assertIn("write ['/bin/sh', '-c', \"it's\"] for a shell", self.rejected(TypeError, cordon.run, "it's"))
        for wrong in (b"true", pathlib.Path("true"), None, 5, {"true"}):
            self.assertIn(f"not as {type(wrong).__name__}", self.rejected(TypeError, cordon.run, wrong))
        self.assertIn("word 1 of the command is 5;", self.rejected(TypeError, cordon.run, ["sleep", 5]))
        self.rejected(ValueError, cordon.run, [])

    def test_command_of_paths(self):
        self.assertTrue(cordon.run((pathlib.Path("/bin/cat"), pathlib.Path("/dev/null")), workdir=self.work).ok)
        self.assertEqual(self.arguments()[-2:], ["/bin/cat", "/dev/null"])

    def test_limits(self):
        for limit in ("timeout", "max_memory"):
            for wrong in (0, -5, -0.001, float("inf"), float("nan")):
                for function in (cordon.run, cordon.start, run_async):
                    self.assertIn(f"{limit}: {wrong} is out of range", self.rejected(ValueError, function, ["true"], **{limit: wrong}))
                self.rejected(ValueError, cordon.PythonSession, **{limit: wrong})
                self.rejected(ValueError, cordon.sandbox, **{limit: wrong})
        self.assertIn("max_procs: 0", self.rejected(ValueError, cordon.run, ["true"], max_procs=0))
        self.assertIn("max_output: -1", self.rejected(ValueError, cordon.run, ["true"], max_output=-1))
        self.assertIn("wall: [] is neither a number", self.rejected(TypeError, cordon.Policy("p").limits, wall=[]))

    def test_limits_at_the_edge(self):
        self.assertEqual(cordon.run(["echo"], workdir=self.work, timeout=0.0001, max_memory=0.5, max_output=0).stdout, "")
        self.assertEqual((self.option("--timeout"), self.option("--memory")), ("1ms", "1B"))

    def test_session_timeout(self):
        with cordon.PythonSession(workdir=self.work) as session:
            for wrong in (0, -1):
                with self.assertRaises(ValueError):
                    session.execute("1", timeout=wrong)
            self.assertEqual(session.execute("6 * 7", timeout=60).value, "42")
