# SPDX-License-Identifier: Apache-2.0
"""A Python that keeps its names."""

import time

import cordon_sandbox as cordon
from fake import DENIAL, WithFake


class Session(WithFake):
    def test_names_stay(self):
        with cordon.PythonSession(workdir=self.work) as session:
            self.assertIsNone(session.execute("x = 6\nprint('six')").value)
            self.assertEqual(self.option("--policy"), "python-sandbox")
            answer = session.execute("print('out'); x * 7")
            self.assertEqual((answer.logs, answer.value, answer.error), ("out\n", "42", None))

    def test_errors(self):
        with cordon.PythonSession(workdir=self.work) as session:
            for code, kind in (("1 / 0", "ZeroDivisionError"), ("a b", "SyntaxError"), ("import sys; sys.exit(3)", "SystemExit"), ("input()", "EOFError")):
                self.assertEqual(session.execute(code).error_type, kind, code)
            self.assertIn("ZeroDivisionError", session.execute("1 / 0").traceback)

    def test_ends(self):
        self.says(FAKE_REPORT={"denials": [DENIAL], "denials_total": 4})
        session = cordon.PythonSession(workdir=self.work)
        session.execute("1")
        self.assertEqual(session.close().denials[0].object, "/etc/shadow")
        with self.assertRaises(cordon.CordonError):
            session.execute("1")

    def test_code_that_ends_it(self):
        session = cordon.PythonSession(workdir=self.work)
        with self.assertRaises(cordon.CordonError):
            session.execute("import os; os._exit(3)")
        self.assertEqual(session.close().status, 3)

    def late(self, code, expected):
        """It ends, and soon, whatever the code writes where answers are."""
        session = cordon.PythonSession(workdir=self.work, max_output=1 << 20)
        begin = time.monotonic()
        with self.assertRaises(expected):
            session.execute(code, timeout=1)
        self.assertLess(time.monotonic() - begin, 30)
        with self.assertRaises(cordon.CordonError):
            session.execute("1")

    def test_timeout(self):
        self.late("import time; time.sleep(60)", TimeoutError)

    def test_answer_without_end(self):
        self.late("import os, time, __main__\nfor i in range(64): os.write(__main__.answers.fileno(), b'x' * 65536)\ntime.sleep(60)", cordon.CordonError)

    def test_answer_that_drips(self):
        self.late("import os, time, __main__\nwhile True: os.write(__main__.answers.fileno(), b'x'); time.sleep(0.05)", TimeoutError)

    def test_answers_closed(self):
        self.late("import os, time, __main__\n__main__.answers.close()\ntime.sleep(60)", (cordon.CordonError, TimeoutError))

    def test_deep_answer(self):
        self.late("import os, time, __main__\nos.write(__main__.answers.fileno(), b'[' * 60000 + b'\\n')\ntime.sleep(60)", cordon.CordonError)

    def test_code_that_is_not_read(self):
        session = cordon.PythonSession(workdir=self.work)
        session.execute("import threading, time, __main__\nthreading.Thread(target=lambda: time.sleep(60), daemon=True).start()\nimport os\nos.dup2(os.open(os.devnull, os.O_RDONLY), __main__.requests.fileno())")
        with self.assertRaises((TimeoutError, cordon.CordonError)):
            session.execute("x = '" + "y" * (1 << 20) + "'", timeout=1)
        session.cancel()

    def test_never_began(self):
        self.says(FAKE_ERROR="no such policy")
        session = cordon.PythonSession(workdir=self.work)
        with self.assertRaises(cordon.CordonError) as caught:
            session.execute("1")
        self.assertIn("no such policy", str(caught.exception))
