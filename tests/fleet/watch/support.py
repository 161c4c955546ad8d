# SPDX-License-Identifier: Apache-2.0
"""Programs that a case starts and that end with it, HTTP, and checks."""

import contextlib
import http.client
import http.server
import json
import os
import subprocess
import sys
import threading
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "common"))

import patience as waiting  # noqa: E402  pylint: disable=wrong-import-position
from patience import Failed, patience  # noqa: E402  pylint: disable=wrong-import-position

CASES = []


def case(title):
    def register(function):
        CASES.append((title, function))
        return function

    return register


def check(held, text):
    if not held:
        raise Failed(text)


def equal(found, wanted, what):
    check(found == wanted, f"{what}: {found!r}, not {wanted!r}")


def wait_for(condition, seconds, what):
    """Returns what the condition returns as soon as it is true; a server that cannot be reached yet is no failure."""
    return waiting.wait_for(condition, seconds, what, catch=(OSError, http.client.HTTPException))


@contextlib.contextmanager
def program(*argv, **how):
    """Runs beside the case, and is told to end when that is over; what it said is in .said()."""
    with open(how.pop("log"), "w+", encoding="utf-8") as log:
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **how) as process:
            process.said = lambda: open(log.name, encoding="utf-8").read()
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.terminate()
                    try:
                        process.wait(patience())
                    except subprocess.TimeoutExpired:
                        process.kill()


def get(port, path="/metrics", method="GET", body=None):
    """(status, headers, text)"""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patience())
    with contextlib.closing(connection):
        connection.request(method, path, body)
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()


def get_json(port, path, **query):
    url = f"http://127.0.0.1:{port}{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
    with urllib.request.urlopen(url, timeout=patience()) as response:
        return json.load(response)


class Webhook:
    """Takes what an Alertmanager sends."""

    def __init__(self):
        self.alerts = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # pylint: disable=invalid-name
                message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.alerts += message["alerts"]
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def samples(text):
    """{series with its labels: number} of an exposition."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    found = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}
    equal(len(found), len(lines), "series that stand there once")
    return found


def run_all(work):
    passed = failed = 0
    for title, function in CASES:
        folder = os.path.join(work, function.__name__)
        os.mkdir(folder)
        try:
            function(folder)
            passed += 1
            print(f"ok - {title}", flush=True)
        except (Failed, OSError, http.client.HTTPException, subprocess.SubprocessError, KeyError, ValueError) as error:
            failed += 1
            print(f"not ok - {title}\n  | {type(error).__name__}: {error}", flush=True)
            for name in sorted(os.listdir(folder)):
                if name.endswith(".txt"):
                    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                        print("".join(f"  | {name}: {line}" for line in file.readlines()[-15:]), end="")
    return passed, failed
