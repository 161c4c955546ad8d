# SPDX-License-Identifier: Apache-2.0
"""What is compared, and how each is started: as its own documentation says, or as people do."""

import json
import os
import shlex
import subprocess

import docker

PROJECT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.path.join(PROJECT, os.environ.get("BUILD", "build"))
FETCHED = os.path.join(BUILD, "executors", "sandboxes")
CORDON = os.path.join(BUILD, "cordon")
CODEX = os.path.join(FETCHED, "codex/vendor/x86_64-unknown-linux-musl/bin/codex")
SRT = [os.path.join(FETCHED, "node/bin/node"), os.path.join(FETCHED, "srt/node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js")]
SANDLOCK = [os.path.join(FETCHED, "python/bin/python"), os.path.join(PROJECT, "tests/compare/in_sandlock.py")]
# As in the example of its documentation, but for the domains.
SRT_SETTINGS = {
    "network": {"allowedDomains": [], "deniedDomains": []},
    "filesystem": {"denyRead": ["~/.ssh"], "allowWrite": [".", "/tmp"], "denyWrite": [".env"]},
}


class Sandbox:
    """`command` starts argv in the work directory; `shown` is what a person would type. as_root: whoever starts it has to be root."""

    def __init__(self, name, shown, command, version, as_root=False):
        self.name, self.shown, self.command, self.as_root = name, shown, command, as_root
        self.version_command = version

    def version(self):
        if not self.version_command:
            return ""
        done = subprocess.run(self.version_command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        words = done.stdout.split("\n", 1)[0].split()
        return words[-1] if words else "?"


def cordon(policy):
    return lambda work, argv, job=None: [CORDON, "run", "--user", "agent", "--policy", policy or (job.policy if job else "python-sandbox"), "--workdir", work, "--", *argv]


def nothing(_work, argv, _job=None):
    return argv


def bubblewrap(work, argv, _job=None):
    return ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", work, work, "--chdir", work,
            "--unshare-all", "--new-session", "--die-with-parent", *argv]  # fmt: skip


def firejail(work, argv, _job=None):
    return ["firejail", "--quiet", "--net=none", "--private-tmp", "--private-dev", f"--whitelist={work}", "--", *argv]


def sandlock(work, argv, _job=None):
    return [*SANDLOCK, work, *argv]


def codex(work, argv, _job=None):
    return [CODEX, "sandbox", "-P", ":workspace", "-C", work, "--", *argv]


def srt(_work, argv, _job=None):
    return [*SRT, "-c", shlex.join(argv)]


# In the order of the table.
SANDBOXES = [
    Sandbox("nothing", "COMMAND", nothing, None),
    Sandbox("cordon", "cordon run --user agent --policy POLICY --workdir WORK -- COMMAND", cordon(None), [CORDON, "--version"], as_root=True),
    Sandbox("cordon, claude-code", "cordon run --user agent --policy claude-code --workdir WORK -- COMMAND", cordon("claude-code"), [CORDON, "--version"], as_root=True),
    Sandbox("bubblewrap", shlex.join(bubblewrap("WORK", ["COMMAND"])), bubblewrap, ["bwrap", "--version"]),
    Sandbox("firejail", shlex.join(firejail("WORK", ["COMMAND"])), firejail, ["firejail", "--version"]),
    Sandbox("sandlock", "Sandbox(...).run([COMMAND]), see below", sandlock,
            [SANDLOCK[0], "-c", "import importlib.metadata as m; print(m.version('sandlock'))"]),
    Sandbox("codex", "codex sandbox -P :workspace -C WORK -- COMMAND", codex, [CODEX, "--version"]),
    Sandbox("srt", "srt -c COMMAND", srt, [*SRT, "--version"]),
    Sandbox("docker", shlex.join(["docker", *docker.options("WORK", "UID:GID"), "IMAGE", "COMMAND"]), docker.command,
            [docker.CLIENT[0], "version", "--format", "{{.Client.Version}}"]),
]  # fmt: skip
BY_NAME = {sandbox.name: sandbox for sandbox in SANDBOXES}


def settings():
    return json.dumps(SRT_SETTINGS, indent=2)
