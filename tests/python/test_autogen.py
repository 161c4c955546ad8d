# SPDX-License-Identifier: Apache-2.0
"""AutoGen's interface: what its executor is asked, and answers."""

import asyncio
import hashlib
import os
import sys
import warnings

from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock, CodeExecutor, with_requirements

from cordon_sandbox.autogen import CordonCommandLineCodeExecutor
from fake import DENIAL, WithFake

warnings.simplefilter("ignore")


def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


def execute(executor, *blocks, token=None):
    return asyncio.run(executor.execute_code_blocks([CodeBlock(language=l, code=c) for l, c in blocks], token or CancellationToken()))


class AutoGen(WithFake):
    def executor(self, **parameters):
        return CordonCommandLineCodeExecutor(work_dir=self.work, **parameters)

    def test_blocks(self):
        executor = self.executor(timeout=7)
        self.assertIsInstance(executor, CodeExecutor)
        code = "print('python')"
        result = execute(executor, ("python", code), ("bash", "echo shell; exit 3"), ("sh", "echo never"))
        self.assertEqual((result.exit_code, result.output), (3, "python\nshell\n"))
        name = f"tmp_code_{hashlib.sha256(code.encode()).hexdigest()}.py"
        self.assertEqual(result.code_file, os.path.join(self.work, name))
        self.assertEqual(os.listdir(self.work), [])
        self.assertEqual((self.option("--policy"), self.option("--timeout"), self.option("--language")), ("autogen-local", "7000ms", "shell"))
        self.assertEqual(self.option("--bind"), f"venv={os.path.realpath(sys.prefix)}")

    def test_unknown_options(self):
        with self.assertRaises(TypeError) as caught:
            self.executor(options={"polcy": "tight"})
        self.assertIn("has no option 'polcy'; did you mean 'policy'?", str(caught.exception))

    def test_names_and_languages(self):
        result = execute(self.executor(cleanup_temp_files=False), ("python", "# filename: mine.py\nprint(__file__)"))
        self.assertEqual(result.code_file, os.path.join(self.work, "mine.py"))
        self.assertEqual(execute(self.executor(), ("python", "# filename: /etc/x.py\n")).output, "Filename is not in the workspace")
        self.assertEqual(execute(self.executor(), ("cobol", "STOP RUN.")).exit_code, 1)

    def test_no_link_leads_it_away(self):
        """A block may leave a link under the name of the next one's file."""
        code, outside = "print('second')", os.path.join(self.folder, "outside")
        for name in (f"tmp_code_{hashlib.sha256(code.encode()).hexdigest()}.py", "functions.py"):
            os.symlink(outside, os.path.join(self.work, name))

        executor = self.executor(functions=[with_requirements([], [])(add)])
        self.assertEqual(execute(executor, ("python", code)).output, "second\n")
        self.assertFalse(os.path.exists(outside))

    def test_pip_is_not_run_unconfined(self):
        with self.assertRaises(ValueError) as caught:
            execute(self.executor(functions=[with_requirements(["polars"], [])(add)]), ("python", "1"))
        self.assertIn("polars", str(caught.exception))

    def test_ends(self):
        self.says(FAKE_CAUSE="timeout", FAKE_REPORT={"denials": [DENIAL]})
        executor = self.executor()
        result = execute(executor, ("sh", "true"), ("sh", "true"))
        self.assertEqual(result.exit_code, 124)
        self.assertIn("Timeout", result.output)
        self.assertIn("read of /etc/shadow was denied", result.output)
        self.assertEqual(len(executor.last_results), 1)

    def test_configuration(self):
        executor = CordonCommandLineCodeExecutor.load_component(self.executor(timeout=9, options={"policy": "tight"}).dump_component())
        self.assertIsInstance(executor, CordonCommandLineCodeExecutor)
        self.assertEqual(execute(executor, ("sh", "echo yes")).output, "yes\n")
        self.assertEqual((self.option("--policy"), self.option("--timeout")), ("tight", "9000ms"))
