# SPDX-License-Identifier: Apache-2.0
"""Approvals: what nobody approved does not run, and who let it run is on record."""

import json
import os
import re
import signal
import subprocess

from service import SMALL, as_user, make_users, policy, refused, run_as, start_daemon, stop_all
from support import (
    ROOT,
    SETTLE,
    account_for_everything,
    action,
    case,
    check,
    cordon,
    equal,
    exists,
    matches,
    records,
    run,
    start,
    wait_for,
)

STATE_DIRECTORY = os.path.join(ROOT, "state")


def restart(*options, number=signal.SIGTERM):
    make_users()
    stop_all(number, 60)
    return start_daemon("--require-approval", "--state", STATE_DIRECTORY, *options)


def decisions():
    return [r["cordon"]["approval"] for r in records() if action(r) == "approval"]


def entries(state=None):
    found = json.loads(cordon("approvals", "--json").out)
    return [e for e in found if state in (None, e["state"])]


def waits(result, *patterns):
    """It did not run, and says what to ask for: the digest."""
    equal(result.status, 125, f"status ({result.text})")
    for pattern in patterns:
        matches(result.text, pattern, "message")
    return re.search(r"cordon approve ([0-9a-f]{16}) --reason", result.text)[1]


@case("a policy that nobody approved waits; approved, it runs, and what allows less runs, too")
def approve():
    restart()
    path = policy("reviewed", "limits: {wall: 60s, memory: 256M}")
    digest = waits(run("touch", "marker", policy=path), "waits for approval", "none of this name is approved")
    check(not exists("marker"), "the command ran")
    shown = cordon("approvals").out.decode()
    matches(shown, rf"{digest}  waiting  reviewed", "list")
    equal(cordon("approve", digest, "--reason", "looked at it").status, 0, "approve")
    equal(run("true", policy=path).status, 0, "a run")
    policy("reviewed", "limits: {wall: 30s, memory: 128M}")
    equal(run("true", policy=path).status, 0, "a run with lower limits")
    policy("reviewed", "limits: {wall: 60s, memory: 512M}", "environment: {keep: [PATH, SECRET]}")
    digest = waits(
        run("touch", "marker", policy=path), "allows what the approved one does not", "limits.memory", "environment.keep"
    )
    check(not exists("marker"), "the command ran")
    last = decisions()[-1]
    equal((last["decision"], last["reason"], last["uid"]), ("granted", "looked at it", 0), "the decision on record")
    check(any(re.search(r"allowed by \S+:\d+: allow ", line) for line in last["witnesses"]), f"every rule on record: {last}")
    # Over a crash, and a restart.
    restart(number=signal.SIGKILL)
    equal([e["digest"][:16] for e in entries("waiting")], [digest], "what waits")
    equal(cordon("approve", digest, "--reason", "more memory").status, 0, "approve")
    equal(run("true", policy=path).status, 0, "a run")
    check(any("limits.memory" in line for line in decisions()[-1]["witnesses"]), f"witnesses {decisions()[-1]}")
    account_for_everything()


@case("observation, a running execution's change, and a member's run wait as well")
def other_ways():
    restart()
    path = policy("watched", 'run_by: ["@cordon"]', based_on=SMALL)
    equal(cordon("approve", "--policy", "watched", "--reason", "for the night").status, 0, "approve ahead")
    equal(run("true", policy=path).status, 0, "a run")
    equal(run_as("alice", "true", policy="watched").status, 0, "a member's run")
    waits(run("touch", "marker", policy=path, options=["--observe"]), "mode: enforce -> observe")
    wider = policy("watched-more", "process: {trace: own}", based_on=SMALL)
    process = start("sh", "-c", "sleep 100", policy=path)
    try:
        wait_for(lambda: [e for e in json.loads(cordon("ps", "--json").out) if e["state"] == "live"], 60, "its start")
        result = cordon("policy", "apply", wider, "--all-of", "watched", "--allow-wider", "because")
        equal(result.status, 1, f"apply of what nobody approved ({result.text})")
        matches(result.text, "waits for approval", "message")
        digest = re.search(r"cordon approve ([0-9a-f]{16})", result.text)[1]
        # Whoever may run may not decide.
        result = as_user("alice", "approve", digest, "--reason", "I want it")
        equal(result.status, 1, "a member's approval")
        matches(result.text, "only root", "message")
        equal(cordon("approve", digest, "--reason", "debugging").status, 0, "approve")
        equal(cordon("policy", "apply", wider, "--all-of", "watched", "--allow-wider", "because").status, 0, "apply")
    finally:
        process.terminate()
        process.wait(60)
    subprocess.run(["groupadd", "-f", "cordon-approvers"], check=True)
    subprocess.run(["usermod", "-aG", "cordon-approvers", "bob"], check=True)
    policy("by-bob", 'run_by: ["@cordon"]', based_on=SMALL)
    equal(as_user("bob", "approve", "--policy", "by-bob", "--reason", "mine").status, 0, "an approver's approval")
    equal(decisions()[-1]["who"], "bob", "who decided")
    equal(run_as("alice", "true", policy="by-bob").status, 0, "a member's run")
    both = json.loads(cordon("doctor", "--quick", "--json").out)["approvers_who_propose"]
    check("bob" in both and "alice" not in both, f"who is in both groups: {both}")
    matches(cordon("doctor", "--quick").out.decode(), "to do +approvals +.*bob.* in both groups", "cordon doctor")
    account_for_everything()


@case("refusals, expiries and revocations hold, and are on record")
def no_longer():
    restart()
    path = policy("doubtful", based_on=SMALL)
    digest = waits(run("true", policy=path))
    equal(cordon("approvals", "refuse", digest, "--reason", "no").status, 0, "refuse")
    waits(run("true", policy=path), "was refused approval")
    equal(cordon("approve", digest, "--reason", "for a moment", "--expires", "4s").status, 0, "approve")
    wait_for(lambda: run("true", policy=path).status == 125, 60, "the expiry")
    # It is noticed by whoever asks first, and on record within a second.
    wait_for(lambda: decisions()[-1]["decision"] == "expired", SETTLE, "its record")
    equal(cordon("approve", digest, "--reason", "again").status, 0, "approve")
    equal(run("true", policy=path).status, 0, "a run")
    equal(cordon("approvals", "revoke", digest, "--reason", "an incident").status, 0, "revoke")
    waits(run("true", policy=path), "has had its approval revoked")
    equal([d["decision"] for d in decisions()][-5:], ["refused", "granted", "expired", "granted", "revoked"], "decisions")
    equal(cordon("approvals", "revoke", "0000000000000000", "--reason", "x").status, 2, "revoking what is not there")


@case("a state directory that cannot be used is a clear error, and enforcement stays as it was")
def unusable_state():
    restart()
    stop_all(seconds=60)
    os.chmod(STATE_DIRECTORY, 0o777)
    said = refused("--require-approval", "--state", STATE_DIRECTORY, seconds=30)
    matches(said, "cannot keep approvals in .*/approvals", "what it says")
    os.chmod(STATE_DIRECTORY, 0o700)
    check(os.path.isdir("/sys/fs/bpf/cordon/links"), "enforcement is gone")
    # Without the option nobody is asked.
    start_daemon()
    equal(run("true", policy=policy("unasked", based_on=SMALL)).status, 0, "a run")
    matches(cordon("approvals").text, "requires no approvals", "the list")
