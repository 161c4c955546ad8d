# SPDX-License-Identifier: Apache-2.0
"""A small test suite as projects have them: imports, temporary files, subprocesses."""

import csv
import io
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest


class Files(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.TemporaryDirectory(dir=".")
        self.addCleanup(self.top.cleanup)
        self.path = pathlib.Path(self.top.name)

    def test_many_files(self):
        for number in range(100):
            (self.path / f"file-{number}.json").write_text(json.dumps({"number": number}), encoding="utf-8")
        found = [json.loads(path.read_text(encoding="utf-8"))["number"] for path in self.path.glob("*.json")]
        self.assertEqual(sorted(found), list(range(100)))

    def test_rename(self):
        (self.path / "a").write_text("a", encoding="utf-8")
        for _ in range(20):
            os.rename(self.path / "a", self.path / "b")
            os.rename(self.path / "b", self.path / "a")
        self.assertTrue((self.path / "a").exists())

    def test_database(self):
        with sqlite3.connect(self.path / "db") as connection:
            connection.execute("create table t (n integer)")
            connection.executemany("insert into t values (?)", [(n,) for n in range(1000)])
            self.assertEqual(connection.execute("select sum(n) from t").fetchone(), (499500,))


class Programs(unittest.TestCase):
    def test_subprocesses(self):
        for word in ("a", "b", "c"):
            out = subprocess.run(["/bin/echo", word], capture_output=True, check=True, text=True).stdout
            self.assertEqual(out, f"{word}\n")

    def test_interpreter(self):
        done = subprocess.run([sys.executable, "-S", "-c", "print(6 * 7)"], capture_output=True, check=True)
        self.assertEqual(done.stdout, b"42\n")


class Text(unittest.TestCase):
    def test_csv(self):
        text = io.StringIO()
        csv.writer(text).writerows([n, n * n] for n in range(2000))
        rows = list(csv.reader(io.StringIO(text.getvalue())))
        self.assertEqual(rows[1999], ["1999", str(1999 * 1999)])


if __name__ == "__main__":
    unittest.main()
