# SPDX-License-Identifier: Apache-2.0
"""Asking: what a model is told of refusals, what it can ask for, and that nothing is allowed until a person says so."""

import json
import os
import re
import signal
import subprocess

from cases_approve import restart
from mcp_client import Mcp
from service import SMALL, as_user, home, identity, policy
from support import (
    CORDON,
    LOG,
    ROOT,
    WORK,
    account_for_everything,
    action,
    case,
    check,
    cordon,
    equal,
    exists,
    matches,
    read,
    records,
    run,
    start,
    wait_for,
)

OUTSIDE = os.path.join(ROOT, "outside.txt")


def begin(*options):
    restart(*options)
    with open(OUTSIDE, "w", encoding="utf-8") as file:
        file.write("from outside\n")
    path = policy("asked", 'run_by: ["@cordon"]', based_on=SMALL)
    equal(cordon("approve", "--policy", "asked", "--reason", "as it is").status, 0, "approve ahead")
    return path


def server(name, *options):
    if name == "root":
        return Mcp([CORDON, "mcp", "--policy", "asked", "--workdir", WORK, "--log", LOG, *options], cwd=WORK, stderr=subprocess.DEVNULL)
    return Mcp([CORDON, "mcp", "--policy", "asked", *options], cwd=home(name), stderr=subprocess.DEVNULL, **identity(name))


def live():
    return [e for e in json.loads(cordon("ps", "--json").out) if e["state"] == "live"]


def entries(state):
    return [e for e in json.loads(cordon("approvals", "--json").out) if e["state"] == state and (e["use"] or "").startswith("{")]


def digests(path):
    """Of the entries that the command has written there, a line each."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line)["digest"] for line in file if line.endswith("\n")]


def read_outside(client):
    return client.call("run", command=f"echo before; cat {OUTSIDE}")["structuredContent"]


def refused_to(result):
    equal((result["output"], len(result["refusals"])), ("before\n", 1), f"a refused read ({result})")
    check(result["exit_status"] != 0, "the command succeeded")
    return result["refusals"][0]


@case("a model runs commands and is told of refusals, in a sentence each with the rule that would allow it")
def tools():
    begin()
    client = server("root")
    equal(client.hello["result"]["protocolVersion"], "2025-06-18", "version")
    names = {t["name"] for t in client.ask("tools/list")["result"]["tools"]}
    equal(names, {"run", "why", "propose"}, "tools")
    # Allowed.
    result = client.call("run", command=["sh", "-c", "echo out; echo err >&2; exit 3"])["structuredContent"]
    equal((result["output"], result["errors"], result["exit_status"]), ("out\n", "err\n", 3), "a run")
    equal((result["refusals"], result["cause"], result["policy"]), ([], "exited", "asked"), "a run")
    # Refused.
    refusal = refused_to(result := read_outside(client))
    matches(refusal["sentence"], f"read of {OUTSIDE} was denied", "sentence")
    matches(refusal["proposal"], rf"files:\n  - {{allow: \[read\], paths: \[\"{OUTSIDE}\"\]}}", "proposal")
    again = client.call("why", execution=result["execution"])["structuredContent"]
    equal([r["proposal"] for r in again["refusals"]], [refusal["proposal"]], "why")
    check(client.call("why", execution="00000000-0000-7000")["isError"], "why of nothing")
    # Neither a policy nor a limit is the model's to widen, and what it writes is text.
    for arguments in ({"command": "id", "policy": "observe"}, {"command": "id", "user": "root"}, {"command": "id", "timeout": 0}):
        equal(client.wait(client.begin_call("run", **arguments))["error"]["code"], -32602, f"{arguments}")
    result = client.call("run", command="printf '\\377\\000'; yes xxxxxxxxx | head -c 300000; echo end")["structuredContent"]
    equal(result["output"][:2], "\ufffd\ufffd", "bytes that are no text")
    check(result["output"].endswith("x\nend\n") and result["output_omitted"] > 200000 and len(result["output"]) < 70000, "long output")
    result = client.call("run", command="sleep 100", timeout=1)["structuredContent"]
    equal((result["exit_status"], result["cause"]), (124, "timeout"), "a run that is over its time")
    equal(client.close(), 0, "the server's status")
    account_for_everything()


@case("hostile messages are answered, beside calls that go on; cancelled and ended calls leave nothing")
def hostile():
    begin()
    client = server("root")
    number = client.begin_call("run", command="sleep 100")
    wait_for(live, 60, "the call's execution")
    for line, code in (
        (b"{", -32700),
        (b"[]", -32600),
        (b"[" * 100000, -32700),
        (b'"' + b"x" * (3 << 20) + b'"', -32600),
        (b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}', -32700),
    ):
        client.write(line + b"\n")
        equal(client.receive()["error"]["code"], code, f"the answer to {line[:40]!r}")
    equal(client.ask("ping")["result"], {}, "ping")
    client.notify("notifications/cancelled", {"requestId": number})
    wait_for(lambda: not live(), 60, "the cancelled call's end")
    equal(client.ask("ping")["result"], {}, "ping")
    check(number not in client.answers, "a cancelled call was answered")
    for kill in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        client.begin_call("run", command="sleep 100")
        wait_for(live, 60, "the call's execution")
        client.process.send_signal(kill)
        status = client.process.wait(60)
        check(status in (128 + kill, -kill), f"status {status} by signal {kill}")
        wait_for(lambda: not live(), 60, "the executions' end")
        client.process.stdin.close()
        client.process.stdout.close()
        client = server("root")
    equal(client.close(), 0, "the server's status")
    account_for_everything()


@case("what a model asks for waits, and counts for its session alone, once a person has approved it")
def proposals():
    begin()
    model, other = server("alice"), server("alice")
    result = read_outside(model)
    refused_to(result)
    asked = model.call("propose", execution=result["execution"])
    equal((asked["isError"], asked["structuredContent"]["state"]), (False, "waiting"), f"the proposal ({asked})")
    matches(asked["content"][0]["text"], f"it would allow: files read {OUTSIDE}", "its widening")
    entry = entries("waiting")[0]
    equal(len(entries("waiting")), 1, f"what waits ({entry})")
    check(entry["witnesses"] and all(OUTSIDE in line for line in entry["witnesses"]), f"its widening ({entry})")
    matches(cordon("approvals").out.decode(), rf"waiting  asked .*{OUTSIDE}", "list")
    check(any(action(r) == "agent-proposal" for r in records()), "no record of the proposal")
    # It waits: nothing has changed, and whoever may run may not decide, nor ask for another's.
    refused_to(read_outside(model))
    equal(as_user("alice", "approve", entry["digest"], "--reason", "I want it").status, 1, "a member's approval")
    equal(as_user("bob", "propose", result["execution"], "--for", "policy").status, 2, "another's proposal")
    equal(cordon("approve", entry["digest"], "--reason", "fine").status, 0, "approve")
    result = read_outside(model)
    equal((result["output"], result["refusals"]), ("before\nfrom outside\n", []), "an approved read")
    refused_to(read_outside(other))
    # Another's session of that name is another.
    session = json.loads(entry["use"])["session"]
    stranger = server("bob", "--session", session)
    refused_to(read_outside(stranger))
    # Over a restart of the daemon; revoked, it counts no more.
    restart()
    equal(read_outside(model)["refusals"], [], "an approved read")
    equal(cordon("approvals", "revoke", entry["digest"], "--reason", "enough").status, 0, "revoke")
    refused_to(result := read_outside(model))
    check(model.call("propose", execution=result["execution"])["isError"], "what was revoked waits again")
    for client in (model, other, stranger):
        equal(client.close(), 0, "the server's status")
    account_for_everything()


def tries():
    return len(read("tries")) if exists("tries") else 0


@case("a proposal for an execution has effect while it runs, one for a policy afterwards, and both end; a command is told of each")
def scopes():
    path = begin()
    told = os.path.join(ROOT, "told")
    # What waits from before is told of at once.
    before = {e["digest"] for e in json.loads(cordon("approvals", "--brief", "--json").out) if e["state"] == "waiting"}
    follower = subprocess.Popen(
        [CORDON, "approvals", "--follow", "--json", "--exec", f"cat >>{told}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    process = start("sh", "-c", f"until cat {OUTSIDE} 2>/dev/null; do echo x >>tries; sleep 0.2; done", policy=path)
    try:
        execution = wait_for(live, 60, "its start")[0]["id"]
        wait_for(lambda: cordon("propose", execution).status == 0, 60, "a proposal for the execution")
        known = tries()
        wait_for(lambda: tries() >= known + 4, 30, "a whole try after the proposal")
        check(process.poll() is None, "the execution read what only waits for approval")
        entry = entries("waiting")[0]
        equal(json.loads(entry["use"]), {"execution": execution}, "use")
        wait_for(lambda: entry["digest"] in digests(told), 60, "the command")
        equal([d for d in digests(told) if d not in before], [entry["digest"]], "what the command was told")
        followed = [json.loads(follower.stdout.readline())["digest"] for _ in range(len(before) + 1)]
        equal([d for d in followed if d not in before], [entry["digest"]], "what is followed")
        equal(cordon("approve", entry["digest"], "--reason", "go on").status, 0, "approve")
        equal(process.wait(60), 0, "the execution's status")
    finally:
        follower.terminate()
        follower.wait(60)
        follower.stdout.close()
    equal(cordon("propose", execution).status, 1, "a proposal for what has ended")
    # It was that execution's alone.
    result = run("cat", OUTSIDE, policy=path)
    check(result.status != 0, "another execution read it")
    last = [r for r in records() if action(r) == "denial"][-1]["cordon"]["execution"]["id"]
    shown = cordon("propose", last, "--for", "policy", "--until", "40s")
    digest = re.search(r"cordon approve ([0-9a-f]{16})", shown.out.decode())[1]
    check(run("cat", OUTSIDE, policy=path).status != 0, "what waits is allowed")
    equal(cordon("approve", digest, "--reason", "for a moment").status, 0, "approve")
    equal(run("cat", OUTSIDE, policy=path).status, 0, "an approved read")
    wait_for(lambda: run("cat", OUTSIDE, policy=path).status != 0, 60, "the proposal's end")
    equal(run("true", policy=path).status, 0, "a run afterwards")
    equal(cordon("propose", "00000000-0000-7000").status, 2, "a proposal for nothing")
    account_for_everything()
