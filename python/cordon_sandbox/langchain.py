# SPDX-License-Identifier: Apache-2.0
"""LangChain: a tool that runs Python, and an execution policy for the shell of ShellToolMiddleware."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from langchain_core.tools import StructuredTool

from .execution import run, run_async
from .options import FOR_CALLERS, Options, check_options, command_line
from .result import Result

if TYPE_CHECKING:
    from typing_extensions import Unpack

try:
    from langchain.agents.middleware._execution import BaseExecutionPolicy
except ImportError:  # langchain_core alone, or langchain before 1.0
    BaseExecutionPolicy = None


def _words(result: Result) -> str:
    ended = "" if result.ok else f"[{result.cause}, status {result.status}]"
    return "\n".join(part for part in (result.stdout, result.stderr, result.explain(), ended) if part)


def python_tool(*, python: str = "/usr/bin/python3", name: str = "python", **options: Unpack[Options]) -> Any:
    """Returns a tool for agents that runs code as an execution, and returns its output and the denied accesses."""
    check_options("python_tool", options, without=FOR_CALLERS)
    options.setdefault("policy", "python-sandbox")
    options.setdefault("executor", "langchain")

    def execute(code: str) -> str:
        return _words(run([python, "-c", code], **options))

    async def execute_async(code: str) -> str:
        return _words(await run_async([python, "-c", code], **options))

    described = "Runs Python code without network in a work directory. Print what you want to see; names are not kept."
    return StructuredTool.from_function(execute, coroutine=execute_async, name=name, description=described)


if BaseExecutionPolicy is not None:

    @dataclass
    class CordonExecutionPolicy(BaseExecutionPolicy):  # type: ignore[misc]
        """For ShellToolMiddleware(execution_policy=...): the shell, and all that it starts, is one execution."""

        options: Options = field(default_factory=lambda: Options())

        def __post_init__(self) -> None:
            """Checks the options here, because spawn() runs late. The middleware sets and reads what `without` names."""
            check_options("CordonExecutionPolicy", self.options, without=["workdir", "input", "env", "max_output", *FOR_CALLERS])

        def spawn(self, *, workspace: Path, env: Mapping[str, str], command: Sequence[str]) -> subprocess.Popen[str]:
            """As the base class says."""
            folder = tempfile.mkdtemp(prefix="python-cordon-")
            options: Options = {"policy": "shell-sandbox", "executor": "langchain", **self.options}
            # It is read from the pipe.
            options.update({"workdir": Path(workspace).resolve(), "input": b""})
            try:
                process = subprocess.Popen(
                    command_line(command, options, folder),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=workspace,
                    env=dict(env),
                    text=True,
                    encoding="utf-8",
                    errors="replace",
                    bufsize=1,
                    start_new_session=True,
                )
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            weakref.finalize(process, shutil.rmtree, folder, ignore_errors=True)
            return process
