# SPDX-License-Identifier: Apache-2.0
"""Puts agents where their installers put them, from the folder that fetch-agents made, and a model's stand-in beside them."""

import atexit
import glob
import os
import pwd
import subprocess
import sys

PORT = "18080"
# The requests that the pages make of an agent.
COMMANDS = ["ls", "cat ~/.ssh/id_ed25519"]
HERE = os.path.dirname(os.path.abspath(__file__))
CODEX = f"""model = "stand-in"
model_provider = "stand-in"
[model_providers.stand-in]
name = "stand-in"
base_url = "http://127.0.0.1:{PORT}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""
ENVIRONMENT = {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{PORT}", "OPENAI_API_KEY": "none",
               "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}  # fmt: skip


def run(*command):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def show_at(source, target):
    """Mounts a file or folder at another name: copies would fill the guest's memory."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb"):
            pass
    run("mount", "--bind", source, target)


def install(folder, user):
    home = pwd.getpwnam(user).pw_dir
    (claude,) = glob.glob(f"{folder}/npm/lib/node_modules/@anthropic-ai/claude-code/node_modules/@anthropic-ai/claude-code-linux-x64/claude")
    show_at(claude, f"{home}/.local/share/claude/versions/2.1.197")
    os.makedirs(f"{home}/.local/bin")
    os.symlink(f"{home}/.local/share/claude/versions/2.1.197", f"{home}/.local/bin/claude")
    show_at(f"{folder}/npm/lib/node_modules/@openai", "/usr/local/lib/node_modules/@openai")
    os.symlink("../lib/node_modules/@openai/codex/bin/codex.js", "/usr/local/bin/codex")
    show_at(f"{folder}/venv", "/srv/agent/venv")
    # Their only names are those of an installation.
    run("mount", "-t", "tmpfs", "none", folder)
    os.makedirs(f"{home}/.codex")
    with open(f"{home}/.codex/config.toml", "w", encoding="utf-8") as file:
        file.write(CODEX)
    os.makedirs(f"{home}/project")
    with open(f"{home}/project/notes.txt", "w", encoding="utf-8") as file:
        file.write("a project\n")
    run("chown", "-R", f"{user}:", f"{home}/.codex", f"{home}/project")
    run("chown", f"{user}:", f"{home}/.local", f"{home}/.local/bin", f"{home}/.local/share", f"{home}/.local/share/claude", f"{home}/.local/share/claude/versions")
    run("runuser", "-u", user, "--", "git", "-C", f"{home}/project", "init", "-q")
    model = subprocess.Popen([sys.executable, "-B", f"{HERE}/model.py", PORT, *COMMANDS], stdin=subprocess.DEVNULL)  # pylint: disable=consider-using-with
    # The guest does not end before its output is closed.
    atexit.register(model.kill)
