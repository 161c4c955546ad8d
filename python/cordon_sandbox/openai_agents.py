# SPDX-License-Identifier: Apache-2.0
"""OpenAI Agents: executors for ShellTool and LocalShellTool, and a function tool that runs Python."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Awaitable, Callable

from agents import FunctionTool, LocalShellCommandRequest, ShellCallOutcome, ShellCommandOutput, ShellCommandRequest, ShellResult, function_tool

from .execution import run_async
from .options import FOR_CALLERS, Options, check_options
from .result import Result

if TYPE_CHECKING:
    from typing_extensions import Unpack


def _stderr(result: Result) -> str:
    return "\n".join(part for part in (result.stderr, result.explain()) if part)


def _with_defaults(function: str, options: Options, policy: str) -> Options:
    check_options(function, options, without=FOR_CALLERS)
    return {"policy": policy, "executor": "openai-agents", **options}


def shell_executor(**options: Unpack[Options]) -> Callable[[ShellCommandRequest], Awaitable[ShellResult]]:
    """For ShellTool(executor=...): each command is an execution; what was denied stands in its stderr."""
    given = _with_defaults("shell_executor", options, "shell-sandbox")

    async def execute(request: ShellCommandRequest) -> ShellResult:
        action, outputs = request.data.action, []
        for command in action.commands:
            asked: Options = dict(given) if not action.timeout_ms else {**given, "timeout": action.timeout_ms / 1000}  # type: ignore[assignment]
            result = await run_async(["/bin/sh", "-c", command], **asked)
            late = result.cause == "timeout"
            outcome = ShellCallOutcome(type="timeout" if late else "exit", exit_code=None if late else result.status)
            outputs.append(ShellCommandOutput(stdout=result.stdout, stderr=_stderr(result), outcome=outcome, command=command))
            if late:
                break
        return ShellResult(output=outputs, max_output_length=action.max_output_length)

    return execute


def local_shell_executor(**options: Unpack[Options]) -> Callable[[LocalShellCommandRequest], Awaitable[str]]:
    """For LocalShellTool(executor=...). The work directory and the user are the caller's choice, not the model's."""
    given = _with_defaults("local_shell_executor", options, "shell-sandbox")

    async def execute(request: LocalShellCommandRequest) -> str:
        action = request.data.action
        asked: Options = {**given, "env": {**given.get("env", os.environ), **(action.env or {})}}  # type: ignore[dict-item]
        if action.timeout_ms:
            asked["timeout"] = action.timeout_ms / 1000
        result = await run_async(list(action.command), **asked)
        return "\n".join(part for part in (result.stdout, _stderr(result)) if part)

    return execute


def python_tool(*, python: str = "/usr/bin/python3", **options: Unpack[Options]) -> FunctionTool:
    """A function tool `run_python` that runs the code that it is given as an execution."""
    given: Any = _with_defaults("python_tool", options, "python-sandbox")

    @function_tool  # type: ignore[untyped-decorator,unused-ignore]
    async def run_python(code: str) -> str:
        """Runs Python code without network in a work directory. Print what you want to see; names are not kept.

        Args:
            code: the program.
        """
        result = await run_async([python, "-c", code], **given)
        return "\n".join(part for part in (result.stdout, _stderr(result)) if part)

    return run_python
