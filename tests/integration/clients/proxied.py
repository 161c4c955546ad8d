# SPDX-License-Identifier: Apache-2.0
"""Asks a proxy, as a program that an agent wrote would: each attempt an object of a JSON list, an answer to each in the list that is printed.

    {"url", "method", "headers"}   by the proxy that the environment names, through a tunnel where it is https; "target": what it asks for there
    {"raw"}                        these bytes to the proxy
    {"connect": [host, port]}      without it
    {"read": path}                 no connection: a file
    {"pause": path}                waits until that file is there

"port": the own port of the connection."""

import http.client
import json
import os
import socket
import ssl
import sys
import time
from urllib.parse import urlsplit

PATIENCE_SECONDS = 120


def connection_for(attempt, own):
    proxy = urlsplit(os.environ["http_proxy"])
    url = urlsplit(attempt["url"])
    if url.scheme == "http":
        return http.client.HTTPConnection(proxy.hostname, proxy.port, timeout=PATIENCE_SECONDS, source_address=own), attempt["url"]
    context = ssl.create_default_context()
    connection = http.client.HTTPSConnection(proxy.hostname, proxy.port, timeout=PATIENCE_SECONDS, source_address=own, context=context)
    connection.set_tunnel(url.hostname, url.port or 443)
    return connection, (url.path or "/") + (f"?{url.query}" if url.query else "")


def by_url(attempt, own):
    connection, target = connection_for(attempt, own)
    connection.putrequest(attempt.get("method", "GET"), attempt.get("target", target), skip_host="Host" in attempt.get("headers", {}), skip_accept_encoding=True)
    for name, value in {"Connection": "close", **attempt.get("headers", {})}.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    return {"status": answer.status, "headers": str(answer.headers), "body": answer.read().decode(errors="replace")}


def by_bytes(attempt, own):
    proxy = urlsplit(os.environ["http_proxy"])
    with socket.create_connection((proxy.hostname, proxy.port), PATIENCE_SECONDS, source_address=own) as connection:
        connection.sendall(attempt["raw"].encode())
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return {"status": answer.status, "headers": str(answer.headers), "body": answer.read().decode(errors="replace")}


def make(attempt):
    own = ("127.0.0.1", attempt["port"]) if "port" in attempt else None
    if "pause" in attempt:
        while not os.path.exists(attempt["pause"]):
            time.sleep(0.05)
        return {}
    if "connect" in attempt:
        with socket.create_connection(attempt["connect"], PATIENCE_SECONDS):
            return {"status": "connected"}
    if "read" in attempt:
        with open(attempt["read"], encoding="utf-8") as file:
            return {"status": "read", "body": file.read()}
    return by_url(attempt, own) if "url" in attempt else by_bytes(attempt, own)


def answer_to(attempt):
    try:
        return make(attempt)
    except ssl.SSLError as error:
        return {"errno": None, "error": str(error)}
    except (OSError, http.client.HTTPException) as error:
        return {"errno": getattr(error, "errno", None), "error": str(error)}


print(json.dumps([answer_to(attempt) for attempt in json.loads(sys.argv[1])]))
