# SPDX-License-Identifier: Apache-2.0
"""The ten jobs: what people have agents do all day. Each is a few files in the work directory, a command, and a file that says afterwards
what it has to say. `policy` is the narrowest shipped one for such a job."""

import io
import zipfile

TABLE = "name,amount\n" + "".join(f"item{number},{number}\n" for number in range(100))
PYTHON = """import csv, json, pathlib
rows = list(csv.DictReader(open("table.csv", encoding="utf-8")))
pathlib.Path("result").write_text(json.dumps({"sum": sum(int(row["amount"]) for row in rows)}))
"""
NODE = """const fs = require('fs');
const rows = fs.readFileSync('table.csv', 'utf8').trim().split('\\n').slice(1);
fs.writeFileSync('result', String(rows.map((row) => Number(row.split(',')[1])).reduce((a, b) => a + b)));
"""
SHELL = """set -e
sorted=$(mktemp)
tail -n +2 table.csv | sort -t, -k2,2nr | head -n 3 >"$sorted"
awk -F, '{ sum += $2 } END { print sum }' "$sorted" >result
rm "$sorted"
"""
SQLITE = """import sqlite3
base = sqlite3.connect("base.sqlite")
base.execute("PRAGMA journal_mode=WAL")
with base:
    base.execute("CREATE TABLE t (name TEXT, amount INTEGER)")
    base.executemany("INSERT INTO t VALUES (?, ?)", ((f"item{n}", n) for n in range(100)))
(total,) = base.execute("SELECT sum(amount) FROM t").fetchone()
base.close()
open("result", "w", encoding="utf-8").write(str(total))
"""
TAR = """set -e
mkdir tree && for i in 1 2 3 4 5; do seq 1000 >tree/$i; done
tar -czf tree.tar.gz tree && mkdir back && tar -C back -xzf tree.tar.gz
diff -r tree back/tree && gzip -t tree.tar.gz && echo same >result
"""
POOL = """import multiprocessing
def square(number):
    return number * number
if __name__ == "__main__":
    with multiprocessing.Pool(3) as pool:
        total = sum(pool.map(square, range(100)))
    open("result", "w", encoding="utf-8").write(str(total))
"""
HTTP = """import http.server, threading, urllib.request
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
text = opener.open(f"http://127.0.0.1:{server.server_port}/table.csv", timeout=20).read().decode()
open("result", "w", encoding="utf-8").write(str(len(text.splitlines())))
"""
MAIN = """#include <stdio.h>
int sum(int);
int main(void) { FILE *f = fopen("result", "w"); fprintf(f, "%d", sum(100)); return fclose(f); }
"""
SUM = "int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }\n"
MAKEFILE = "all: main\n\t./main\nmain: main.o sum.o\n\tgcc -o $@ $^\n%.o: %.c\n\tgcc -O1 -c -o $@ $<\n"
GIT = "set -e; echo more >>README; git add README; git commit -q -m 'more'; git log --format=%s | head -n 1 >result"
PIP = "-m pip install -q --no-index --no-deps --target lib little-1.0-py3-none-any.whl".split()
LITTLE = "def answer():\n    return 42\n"


def wheel():
    info = "little-1.0.dist-info"
    files = {
        "little.py": LITTLE,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: little\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: by-hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


class Job:
    def __init__(self, name, words, policy, command, files, result, where="result"):
        self.name, self.words, self.policy, self.command, self.result, self.where = name, words, policy, command, result, where
        self.files = {"table.csv": TABLE, **files}


JOBS = [
    Job("python", "a Python script reads and writes files", "python-sandbox", ["python3", "job.py"], {"job.py": PYTHON}, '{"sum": 4950}'),
    Job("pip", "`pip install` of a wheel that is there", "pip-install", ["python3", *PIP], {"little-1.0-py3-none-any.whl": wheel()}, LITTLE.strip(), "lib/little.py"),
    Job("git", "`git commit` in the project", "git-work", ["sh", "-c", GIT], {}, "more"),
    Job("make", "gcc and make, and the built program runs", "build-c", ["make", "-s"], {"main.c": MAIN, "sum.c": SUM, "Makefile": MAKEFILE}, "4950"),
    Job("node", "a Node.js script", "node-sandbox", ["node", "job.js"], {"job.js": NODE}, "4950"),
    Job("shell", "a shell pipeline with a temporary file", "shell-sandbox", ["bash", "job.sh"], {"job.sh": SHELL}, "294"),
    Job("sqlite", "an SQLite database with a write-ahead log", "python-sandbox", ["python3", "job.py"], {"job.py": SQLITE}, "4950"),
    Job("tar", "tar and gzip, there and back", "shell-sandbox", ["bash", "job.sh"], {"job.sh": TAR}, "same"),
    Job("pool", "Python's multiprocessing with a pool", "python-sandbox", ["python3", "job.py"], {"job.py": POOL}, "328350"),
    Job("http", "a web server on 127.0.0.1, and its client, both inside", "python-sandbox", ["python3", "job.py"], {"job.py": HTTP}, "101"),
]
assert len(JOBS) == 10
