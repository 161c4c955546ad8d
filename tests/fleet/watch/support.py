# SPDX-License-Identifier: Apache-2.0
"""Programs that a case starts and that end with it, free ports, HTTP, and checks."""

import contextlib
import http.client
import http.server
import json
import os
import socket
import subprocess
import threading
import time
import urllib.parse
import urllib.request

CASES = []


class Failed(Exception):
    """A check that did not hold; the text says which."""


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
    """What the condition returns as soon as it is true; an OSError is not yet."""
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(OSError, http.client.HTTPException):
            value = condition()
            if value:
                return value
        check(time.monotonic() < end, f"{what}: not within {seconds} s")
        time.sleep(0.05)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


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
                        process.wait(20)
                    except subprocess.TimeoutExpired:
                        process.kill()


def get(port, path="/metrics", method="GET", body=None):
    """(status, headers, text)"""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with contextlib.closing(connection):
        connection.request(method, path, body)
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()


def get_json(port, path, **query):
    url = f"http://127.0.0.1:{port}{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
    with urllib.request.urlopen(url, timeout=10) as response:
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
