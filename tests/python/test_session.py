# SPDX-License-Identifier: Apache-2.0
"""A Python that keeps its names."""

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

    def test_never_began(self):
        self.says(FAKE_ERROR="no such policy")
        session = cordon.PythonSession(workdir=self.work)
        with self.assertRaises(cordon.CordonError) as caught:
            session.execute("1")
        self.assertIn("no such policy", str(caught.exception))
