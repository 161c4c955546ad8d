# SPDX-License-Identifier: Apache-2.0
"""What the keys of an entry in cordon.yaml say, of executions of a program that knows nothing of it."""

import os

from adopt_support import AGENT, PYTHON, Agent
from executor_support import SIMPLE
from support import comes

MATCH = f'{{executable: {PYTHON}, arguments: "*agent.py"}}'
# Each works where nothing limits it.
BEYOND = """import os, signal, sys
def attempt(what, call):
    try:
        call()
        print(what, "worked")
    except OSError as error:
        print(what, os.strerror(error.errno))
attempt("files", lambda: [os.open("/dev/null", os.O_RDONLY) for i in range(100)])
for fd in range(3, 200):
    try:
        os.close(fd)
    except OSError:
        pass
large = open("large", "wb", buffering=0)
attempt("size", lambda: [large.write(bytes(1 << 20)) for i in range(2)])
def fork():
    for i in range(24):
        if os.fork() == 0:
            signal.pause()
attempt("processes", fork)
sys.stdout.flush()
memory = b"x" * (128 << 20)
print("memory worked")
"""


def enforce(suite, name, policy=SIMPLE, **more):
    return suite.enforce(name=name, match=MATCH, policy=suite.policy("simple", policy), workdir_under=f"[{suite.under}]", **more)


def words(suite):
    """Source agent by cgroup, session and stage, on record."""
    group = "/sys/fs/cgroup/researcher"
    os.makedirs(group, exist_ok=True)
    position = enforce(suite, "named", kind="session", agent="{cgroup: true}", session="night", stage="ephemeral")
    script = f"echo 0 >{group}/cgroup.procs; exec {PYTHON} {AGENT}"
    agent = Agent(["/bin/sh", "-c", script])
    answer = agent.ask(["true"], cwd=suite.work())
    agent.close()
    os.rmdir(group)
    starts, _ = suite.ended(position, 1)
    about = starts[0]["cordon"]["execution"] if starts else {}
    facts = [about.get(key) for key in ("executor", "agent", "session")]
    suite.check("agent by cgroup, and session", facts == ["named", "researcher", "night"], f"{answer} {about}")
    (entry,) = suite.daemon.of("agent-configuration")[-1]["cordon"]["agent"]["executors"]
    suite.check("kind and stage", (entry["kind"], entry["stage"]) == ("session", "ephemeral"), entry)


def limits(suite):
    """Those of the policy, which no process can be given from outside but by rlimits and a cgroup."""
    expected = {
        "": ["files worked", "size worked", "processes worked", "memory worked"],
        "limits: {memory: 64M, pids: 16, open_files: 32, file_size: 1M}\n":
            ["files Too many open files", "size File too large", "processes Resource temporarily unavailable"],
    }  # fmt: skip
    for text, lines in expected.items():
        enforce(suite, "limited", SIMPLE + text)
        agent, work = Agent(), suite.work()
        answer = agent.ask([PYTHON, "-c", BEYOND], cwd=work)
        agent.close()
        said = (answer.get("out", "").splitlines(), answer.get("status"))
        suite.check(f"limits: {text.strip() or 'none'}", said == (lines, -9 if text else 0), answer)


def inherited(suite):
    """A descriptor that the executor leaves open for its child."""
    position, secret, work = enforce(suite, "leaking"), suite.secret("leaked"), suite.work()
    with open(os.path.join(work, "own"), "w", encoding="ascii") as file:
        file.write("own\n")
    for path, expected in ((os.path.join(work, "own"), "own\n"), (secret, "")):
        with open(path, encoding="ascii") as file:
            agent = Agent(pass_fds=(file.fileno(),))
            answer = agent.ask(["sh", "-c", f"cat <&{file.fileno()}; touch ran"], cwd=work, pass_fds=[file.fileno()])
            agent.close()
        suite.check(f"inherited: {os.path.basename(path)}", answer.get("out") == expected, answer)
        if expected:
            (start,) = suite.daemon.of("execution-start", position)
            suite.check("inherited: what is granted is not on record", "descriptors" not in start["cordon"], start)
    suite.check("inherited: nothing ran with it", answer.get("status") == -9, answer)
    found = comes(lambda: secret in str(suite.daemon.of("execution-refused", position)), 60)
    suite.check("inherited: it is on record", found, suite.daemon.records()[position:])


def away(suite):
    """when_away: enforce-only."""
    position, secret = enforce(suite, "away", when_away="enforce-only"), suite.secret("meanwhile")
    agent, work = Agent(env=dict(os.environ, SECRET_TOKEN="hunter2")), suite.work()

    def ask(command):
        agent.send(["sh", "-c", command], cwd=work)

    suite.daemon.process.send_signal(19)
    ask("echo x >ran; env")
    suite.check("held", comes(lambda: list(agent.states().values()) == ["T"]), agent.states())
    suite.daemon.kill()
    said = agent.receive()
    suite.check("the daemon dies in a hold: let go", said.get("status") == 0 and "ran" in os.listdir(work), said)
    suite.check("without the secret", "hunter2" not in said.get("out", "hunter2"), said)
    ask(f"cat {secret}; env; touch began; until [ -e go ]; do sleep 0.1; done; cat {secret}")
    suite.check("no daemon: it runs", comes(lambda: os.path.exists(os.path.join(work, "began"))), agent.states())
    suite.daemon.start()
    found = comes(lambda: suite.daemon.of("execution-start", position), 60)
    suite.check("with the next daemon: on record", found, suite.daemon.records()[position:])
    with open(os.path.join(work, "go"), "wb"):
        said = agent.receive()
    confined = said.get("err", "").count("Permission denied") == 2 and "secret" not in said.get("out", "secret")
    suite.check("confined before and after", confined and "hunter2" not in said["out"], said)
    agent.close()


CHECKS = (words, limits, inherited, away)
