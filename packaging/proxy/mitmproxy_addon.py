# SPDX-License-Identifier: Apache-2.0
"""mitmproxy's add-on: which execution may ask for which URL, and credentials that its code never sees.

    mitmdump --listen-host 127.0.0.1 --listen-port 3128 -s /usr/share/cordon/proxy/mitmproxy_addon.py \\
        --set cordon_rules=/etc/cordon/proxy.json

Refused is what no rule allows, what is no execution's, and whatever fails while that is decided.
"""

import asyncio
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from socket import SOL_SOCKET
from typing import Optional
from urllib.parse import unquote, urlsplit

from mitmproxy import ctx, exceptions, http

from whose import Unknown, check_keys, meets, owner

PORTS = {"http": 80, "https": 443}
# What is encoded more often than that is refused, since to decode it could be made to take for ever.
ENCODED_TIMES = 3
# The daemon answers 16 at a time.
QUESTIONS_AT_A_TIME = 8
RULE_KEYS = {"execution", "methods", "url", "set"}
SECRET_KEYS = {"file", "prefix"}
SO_COOKIE = 57  # asm-generic/socket.h; Python has no name for it


@dataclass
class Rule:
    """What executions that meet the conditions may ask for, and the headers that it is sent with."""

    execution: dict
    methods: list
    scheme: str
    host: str
    port: int
    path: str  # one that ends in / stands for all below it
    headers: dict = field(default_factory=dict)  # of each the file with its value, and what comes before that

    def leads_to(self, host, port):
        return (self.host, self.port) == (host, port)

    def allows(self, request):
        path = request.path.partition("?")[0]
        below = self.path.endswith("/") and path.startswith(self.path)
        return (
            self.leads_to(request.host.lower(), request.port)
            and self.scheme == request.scheme
            and request.method in self.methods
            and (below or path == self.path)
        )

    def secrets(self):
        """{header: (value to be sent, the secret in it)}; OSError, ValueError."""
        found = {}
        for name, secret in self.headers.items():
            with open(secret["file"], encoding="ascii") as file:
                text = file.read().strip()
            if not text:
                raise ValueError(f"{secret['file']} is empty")
            found[name] = (secret.get("prefix", "") + text, text)
        return found


def parse_rule(value):
    """ValueError: what is wrong with it."""
    if not isinstance(value, dict) or not {"execution", "url"} <= set(value) <= RULE_KEYS:
        raise ValueError(f"a rule has execution and url, may have methods and set, and nothing else: {json.dumps(value)}")
    check_keys(value["execution"])
    url = urlsplit(value["url"])
    if url.scheme not in PORTS or not url.hostname or not url.path or url.query or url.fragment or url.username:
        raise ValueError(f"{value['url']}: a rule's url has scheme, host and path, such as https://api.example.org/v1/")
    headers = value.get("set", {})
    for name, secret in headers.items():
        if not isinstance(secret, dict) or "file" not in secret or not set(secret) <= SECRET_KEYS:
            raise ValueError(f"{name}: a header that is set has the file with its value, and may have a prefix")
    methods = value.get("methods", ["GET", "HEAD"])
    return Rule(value["execution"], methods, url.scheme, url.hostname, url.port or PORTS[url.scheme], url.path, headers)


def read_rules(path):
    """OSError, ValueError."""
    with open(path, encoding="utf-8") as file:
        rules = json.load(file)
    if not isinstance(rules, list):
        raise ValueError("a list of rules is expected")
    return [parse_rule(rule) for rule in rules]


def is_detour(path):
    """Does a path have a part that some server takes for the directory above, however it is written?"""
    path = path.partition("?")[0]
    for _ in range(ENCODED_TIMES):
        path = unquote(path)
    return unquote(path) != path or "#" in path or any(part.partition(";")[0] in (".", "..") for part in re.split(r"[/\\]", path))


def asked_for(request):
    return f"{request.method} {request.scheme}://{request.host}:{request.port}{request.path.partition('?')[0]}"


def refusal(why, status=403):
    return http.Response.make(status, f"cordon: {why}\n", {"Content-Type": "text/plain; charset=utf-8"})


def find_wrong(request):
    """What is wrong with a request whatever the rules say, or None."""
    if is_detour(request.path):
        return "its path leads through .. or ., or is encoded over and over"
    stated = request.host_header
    if stated and stated.lower() not in (request.host.lower(), f"{request.host.lower()}:{request.port}"):
        return "its header Host names another host than its URL"
    if "upgrade" in request.headers:
        return "it asks for another protocol"
    return None


def cookie_of(client):
    """The kernel's number of the socket that the client's connection was accepted on: the address alone may be another's by now."""
    server = ctx.master.addons.get("proxyserver")
    # Its name depends on the release. Without it, the address has to do.
    handlers = getattr(server, "connections", getattr(server, "_connections", None))
    if handlers is None:
        return None
    for handler in list(handlers.values()):
        transport = handler.transports.get(client)
        if transport and transport.writer:
            socket = transport.writer.get_extra_info("socket")
            return int.from_bytes(socket.getsockopt(SOL_SOCKET, SO_COOKIE, 8), sys.byteorder)
    raise Unknown("its connection is gone")


class Mediator:
    """Asks for each request whose it is."""

    def __init__(self):
        self.rules = []
        self.asking = ThreadPoolExecutor(QUESTIONS_AT_A_TIME)
        self.sent = {}  # secrets by flow, for which what comes back is looked through

    def load(self, loader):
        loader.add_option("cordon_rules", str, "/etc/cordon/proxy.json", "Which execution may ask for which URL (docs/proxies.md).")

    def configure(self, updated):
        if ctx.options.mode != "regular":
            raise exceptions.OptionsError("whose a connection is can be told in regular mode only")
        if "cordon_rules" in updated:
            try:
                self.rules = read_rules(ctx.options.cordon_rules)
            except (OSError, ValueError, TypeError, AttributeError) as error:
                self.rules = []
                raise exceptions.OptionsError(f"{ctx.options.cordon_rules}: {error}") from error

    def running(self):
        # What is no HTTP, no rule can speak of; and a page of its own nobody needs.
        ctx.options.update(rawtcp=False, websocket=False, onboarding=False)

    def done(self):
        # Taken out while the proxy runs, as when this file is replaced: it would let everything through until another is in its place.
        if not ctx.master.should_exit.is_set():
            os._exit(1)

    async def who(self, flow) -> Optional[dict]:
        client = flow.client_conn
        cookie = cookie_of(client)
        return await asyncio.get_running_loop().run_in_executor(self.asking, owner, client.peername, client.sockname, cookie)

    async def http_connect(self, flow):
        """A tunnel, for requests that are looked at one by one: only to where a rule leads."""
        host, port = flow.request.host.lower(), flow.request.port
        # What fails below leaves this.
        flow.response = refusal("this could not be decided")
        try:
            execution = await self.who(flow)
        except Unknown as error:
            flow.response = refusal(str(error))
            return
        if any(rule.leads_to(host, port) and meets(execution, rule.execution) for rule in self.rules):
            flow.response = None
        else:
            flow.response = refusal(f"no rule leads {whose(execution)} to {host}:{port}")

    async def requestheaders(self, flow):
        request = flow.request
        flow.response = refusal("this could not be decided")
        try:
            execution = await self.who(flow)
            wrong = find_wrong(request)
            rule = next((rule for rule in self.rules if meets(execution, rule.execution) and rule.allows(request)), None)
            secrets = rule.secrets() if rule and not wrong else {}
        except (Unknown, OSError, ValueError) as error:
            flow.response = refusal(str(error) if isinstance(error, Unknown) else "its credential cannot be read")
            ctx.log.error(f"cordon: {error}")
            return
        if wrong or not rule:
            why = wrong or f"no rule lets {whose(execution)} do that"
            ctx.log.warn(f"cordon: refused {asked_for(request)}: {why}")
            flow.response = refusal(f"{asked_for(request)}: {why}")
            return
        for name, (value, _) in secrets.items():
            request.headers[name] = value
        if secrets:
            self.sent[flow.id] = [secret.encode() for _, secret in secrets.values()]
            # What is packed in a way that cannot be undone here could not be looked through.
            request.headers["Accept-Encoding"] = "identity"
        ctx.log.info(f"cordon: {whose(execution)}: {asked_for(request)}")
        flow.response = None

    def response(self, flow):
        """A server that says back what it was sent would tell the code."""
        secrets = self.sent.pop(flow.id, None)
        if not secrets:
            return
        answer, flow.response = flow.response, refusal("this could not be looked through", 502)
        parts = [answer.raw_content or b"", answer.get_content(strict=False) or b"", answer.reason.encode()]
        parts += [part for headers in (answer.headers, answer.trailers or http.Headers()) for pair in headers.fields for part in pair]
        if any(secret in part for secret in secrets for part in parts):
            ctx.log.warn(f"cordon: {asked_for(flow.request)}: its answer holds the credential")
            flow.response = refusal("the answer holds the credential that it was asked with", 502)
        else:
            flow.response = answer

    def error(self, flow):
        self.sent.pop(flow.id, None)

    def tcp_start(self, flow):
        flow.kill()


def whose(execution):
    if execution is None:
        return "what is no execution"
    return f"execution {execution['id'][:13]} under {execution['policy']}"


addons = [Mediator()]
