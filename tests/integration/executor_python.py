# SPDX-License-Identifier: Apache-2.0
"""The Python package at work: what it says of executions, and its executors in the place of frameworks' own."""

import asyncio
import json
import os
import re
import sys

from adopt_support import PYTHON
from executor_support import run
from support import HERE, wait_until

PACKAGE = os.path.join(HERE, "..", "..", "python")
sys.path.insert(0, PACKAGE)
import cordon_sandbox as cordon  # noqa: E402  pylint: disable=wrong-import-position

CLIENTS = os.path.join(HERE, "clients")


def attack_on(secret, outside):
    """Refused are all but the last."""
    return (
        "import socket\n"
        "def attempt(what, call):\n"
        "    try:\n        call(); print(what, 'worked')\n"
        "    except OSError as error:\n        print(what, error.errno)\n"
        f"attempt('read', lambda: open('{secret}').read())\n"
        f"attempt('write', lambda: open('{outside}', 'w'))\n"
        "attempt('connect', lambda: socket.create_connection(('127.0.0.1', 9)))\n"
        "attempt('own', lambda: open('mine', 'w').write('x'))\n"
    )


REFUSED = ["read 13", "write 13", "connect 13", "own worked"]


def package(suite):
    suite.forget()
    secret, outside, work, data = suite.secret("theirs"), suite.path("beyond"), suite.work(), suite.directory("data")
    with open(os.path.join(data, "file"), "w", encoding="ascii") as file:
        file.write("data\n")
    position, program = len(suite.daemon.records()), suite.daemon.cordon
    policy = cordon.sandbox(fs_read=[data], max_procs=50)
    attack = attack_on(secret, outside) + f"print(open('{data}/file').read().strip())\nattempt('change', lambda: open('{data}/file', 'w'))\n"
    result = cordon.run([PYTHON, "-c", attack], policy=policy, workdir=work, cordon=program, agent="writer", session="s")
    suite.check("the package: what is not granted is refused", result.stdout.splitlines() == [*REFUSED, "data", "change 13"], result)
    suite.check("it ended by itself", (result.status, result.cause, result.ok) == (0, "exited", True), result)
    about = {denial.object: denial for denial in result.denials}
    suite.check("the refusals are in its result", about.get(secret) is not None and about[secret].rights == ("read",), result.denials)
    suite.check("and how to ask for it", f'paths: ["{secret}"]' in result.explain(), result.explain())
    why = result.why(log=suite.daemon.log)
    suite.check("and why", secret in str(why["denials"]), why)

    with cordon.PythonSession(python=PYTHON, policy=policy, workdir=work, cordon=program) as session:
        session.execute("x = 41")
        said = [session.execute(code) for code in ("x + 1", f"open('{secret}').read()")]
    suite.check("a session keeps names", said[0].value == "42", said)
    suite.check("and is refused the same", said[1].error_type == "PermissionError", said)

    result = cordon.run(["/usr/bin/sleep", "100000"], policy=policy, workdir=work, cordon=program, timeout=1)
    suite.check("a timeout ends it", (result.cause, result.status) == ("timeout", 124), result)

    async def cancelled():
        begun = os.path.join(work, "begun")
        script = "echo >begun; exec sleep 100000"
        task = asyncio.ensure_future(cordon.run_async(["/bin/sh", "-c", script], policy=policy, workdir=work, cordon=program))
        while not os.path.exists(begun) and not task.done():
            await asyncio.sleep(0.05)
        task.cancel()
        return (await asyncio.gather(task, return_exceptions=True))[0]

    outcome = asyncio.run(cancelled())
    suite.check("a task is cancelled", isinstance(outcome, asyncio.CancelledError), outcome)
    wait_until(lambda: len(suite.daemon.of("execution-end", position)) >= 4, 300)
    causes = [record["cordon"]["end"]["cause"] for record in suite.daemon.of("execution-end", position)]
    suite.check("and its execution has ended with it", causes == ["exited", "exited", "timeout", "owner-gone"], causes)
    starts = suite.daemon.of("execution-start", position)
    facts = [(s["cordon"]["execution"].get("agent"), s["cordon"]["execution"].get("executor")) for s in starts[:1]]
    suite.check("its names are on record", facts == [("writer", "cordon-python")], facts)


def in_place(suite, environment, client, policy, blocks):
    """Attacks and controls by a client of a framework that has cordon's executor: a line of JSON for each framework."""
    secret, work = suite.secret(f"kept{suite.made}"), suite.work()
    outside = suite.path(f"out{suite.made}")
    suite.forget()
    command = [os.path.join(suite.installed, environment, "bin", "python"), "-B", os.path.join(CLIENTS, client), work, policy]
    env = dict(os.environ, PYTHONPATH=PACKAGE, CORDON=suite.daemon.cordon, TMPDIR=suite.under, OPENAI_API_KEY="sk-secret")
    done = run([*command, attack_on(secret, outside), f"cat {secret}; env | grep -c sk-secret; echo done"], env=env, cwd=suite.under)
    said = dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))
    for name in blocks:
        words = str(said.get(name)).splitlines()
        if name.endswith("shell"):
            good = "done" in words and "0" in words and "secret" not in words
        else:
            good = all(line in words for line in REFUSED)
        suite.check(f"{name}: refused, and the allowed works", good, f"{said.get(name)}\n{done.stderr[-2000:]}")
        suite.check(f"{name}: told what was denied", f"read of {secret} was denied" in str(said.get(name)), said.get(name))
    suite.check(f"{client}: nothing was made outside", not os.path.exists(outside))


def autogen_drop_in(suite):
    """CordonCommandLineCodeExecutor, with AutoGen as it is."""
    in_place(suite, "venv", "autogen_cordon.py", suite.unhurried("autogen-local"), ("AutoGen", "AutoGen's shell"))


def outcomes(text):
    return dict(re.findall(r"^\S*?tests/(\S+) (PASSED|FAILED|SKIPPED|ERROR)", text, re.MULTILINE))


def autogen_drop_in_tests(suite):
    """autogen-ext's own tests of its executor, as they are, with cordon's in its place."""
    suite.forget()
    package, policy = os.path.join(suite.installed, "autogen_ext-0.7.5"), suite.path("drop-in.yaml")
    with open(suite.unhurried("autogen-local"), encoding="utf-8") as source, open(policy, "w", encoding="utf-8") as file:
        # A virtual environment that a test makes in a work directory has its own copy of the interpreter.
        file.write(source.read().replace("\nexec:\n", '\nexec:\n  - {allow: [map], paths: ["${workdir}/**/bin/python3*"]}\n', 1))
    command = [os.path.join(suite.installed, "venv", "bin", "python"), "-m", "pytest", "-v", "-p", "no:cacheprovider"]
    tests = [os.path.join(package, "tests", name) for name in ("code_executors/test_commandline_code_executor.py", "tools/test_python_code_executor_tool.py")]
    work = suite.work()
    environment = dict(os.environ, TMPDIR=work, HOME=work, PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=f"{PACKAGE}:{CLIENTS}")
    environment.update(CORDON=suite.daemon.cordon, CORDON_POLICY=policy)
    tried = [run([*command, *plugin, "-c", f"{package}/pyproject.toml", "--rootdir", package, *tests], cwd=work, env=environment) for plugin in ((), ("-p", "autogen_substitute"))]
    told = [outcomes(done.stdout) for done in tried]
    suite.check("AutoGen's tests pass with its executor", tried[0].returncode == 0 and "PASSED" in told[0].values(), tried[0].stdout[-3000:])
    suite.check("and the same with cordon's", tried[1].returncode == 0 and told[0] == told[1], tried[1].stdout[-6000:])


def frameworks(suite):
    """LangChain, smolagents, OpenAI Agents."""
    policy = suite.path("lists.yaml")
    bin_path = os.path.join(suite.installed, "frameworks")
    cordon.sandbox(fs_read=[bin_path]).allow_exec(["run", "map"], f"{bin_path}/**").write(policy)
    in_place(suite, "frameworks", "frameworks_cordon.py", policy, ("LangChain", "smolagents", "OpenAI's shell"))


CHECKS = (package, autogen_drop_in)
