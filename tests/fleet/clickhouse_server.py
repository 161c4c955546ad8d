# SPDX-License-Identifier: Apache-2.0
"""ClickHouse by HTTP: the real engine in this process (chdb), behind as much of its interface as cordon uses: query and settings in the
address, parameters as param_NAME, who asks in headers, and errors as a status and X-ClickHouse-Exception-Code.

    clickhouse_server.py DIRECTORY PORT [--tls CERT KEY CA] [--password FILE] [--schema FILE]

What FILE.moods beside DIRECTORY has, a word a line, it does with the next inserts instead, one after the other: "busy" (503 and
Retry-After: 1), "deaf" (takes the rows and never says so), "half" (dies in the midst). Each request is a line in DIRECTORY.requests.
"""

import argparse
import http.server
import os
import re
import ssl
import threading
import urllib.parse

from chdb.session import Session

STATUS = {"60": 404, "81": 404, "516": 403, "497": 403, "241": 500, "252": 500}
IGNORED = {"query", "database", "wait_end_of_query"}
lock = threading.Lock()


def literal(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except ConnectionError:  # Whoever asked was killed.
            pass

    def answer(self, status, body, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, code, text):
        self.answer(status, text.encode(), X_ClickHouse_Exception_Code=code)

    def may_ask(self):
        if not options.password:
            return True
        with open(options.password, encoding="utf-8") as file:
            wanted = dict(line.rstrip("\n").split(":", 1) for line in file)
        user = self.headers.get("X-ClickHouse-User", "default")
        return wanted.get(user) == self.headers.get("X-ClickHouse-Key", "")

    def do_POST(self):
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query, keep_blank_values=True))
        body = self.rfile.read(int(self.headers["Content-Length"]))
        sql = body if "query" not in asked else asked["query"].encode() + b"\n" + body
        with open(options.directory + ".requests", "a", encoding="utf-8") as file:
            file.write(f"{'insert' if 'query' in asked else 'ask'} {len(body)} {asked.get('insert_deduplication_token', '-')}\n")
        if not self.may_ask():
            self.refuse(403, "516", "Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)")
            return
        mood = next_mood() if "query" in asked else ""
        if mood == "busy":
            self.answer(503, b"Code: 202. DB::Exception: Too many simultaneous queries. (TOO_MANY_SIMULTANEOUS_QUERIES)", Retry_After="1",
                        X_ClickHouse_Exception_Code="202")
            return
        try:
            with lock:
                answer = run(asked, sql)
        except Exception as error:  # pylint: disable=broad-except
            code = (re.findall(r"Code: (\d+)", str(error)) or ["0"])[0]
            self.refuse(STATUS.get(code, 500), code, str(error).split("\n", maxsplit=1)[0])
            return
        if mood == "deaf":
            self.close_connection = True
        elif mood == "half":
            os._exit(1)
        else:
            self.answer(200, answer)


def run(asked, sql):
    session.query(f"USE {asked.get('database', 'default')}")
    for name, value in asked.items():
        if name not in IGNORED:
            session.query(f"SET {name} = {literal(value)}")
    return session.query(sql, "TabSeparated").bytes() or b""


def next_mood():
    try:
        with open(options.directory + ".moods", "r+", encoding="utf-8") as file:
            moods = file.read().split()
            file.seek(0)
            file.truncate()
            file.write("\n".join(moods[1:]))
            return moods[0] if moods else ""
    except FileNotFoundError:
        return ""


parser = argparse.ArgumentParser()
parser.add_argument("directory")
parser.add_argument("port", type=int)
parser.add_argument("--tls", nargs=3)
parser.add_argument("--password")
parser.add_argument("--schema")
options = parser.parse_args()
session = Session(options.directory)
if options.schema:
    session.query("CREATE DATABASE IF NOT EXISTS cordon")
    session.query("USE cordon")
    with open(options.schema, encoding="utf-8") as schema:
        text = re.sub(r"--[^\n]*", "", schema.read())
    for statement in text.split(";"):
        if statement.strip():
            session.query(statement)
server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
if options.tls:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.tls[0], options.tls[1])
    context.load_verify_locations(options.tls[2])
    context.verify_mode = ssl.CERT_REQUIRED
    server.socket = context.wrap_socket(server.socket, server_side=True)
print("ready", flush=True)
server.serve_forever()
