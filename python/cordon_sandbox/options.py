# SPDX-License-Identifier: Apache-2.0
"""Checks the options of run() and the adapters, and turns them into the words of a cordon-run(1) command.

Every option is checked before anything starts: a misspelt `policy` must not run the code under the default policy."""

from __future__ import annotations

import difflib
import os
import re
import shlex
from typing import Any, Callable, List, Mapping, Optional, Sequence, TypedDict, TypeVar, Union

from .policy import Duration, Limit, Policy, seconds, size

REPORT = "report.json"

Path = Union[str, "os.PathLike[str]"]
PolicyLike = Union[Path, Policy, None]
Words = Sequence[Path]
Function = TypeVar("Function", bound=Callable[..., Any])

# Names of the same things in subprocess and cordon-run(1), which are too different for difflib.
SYNONYMS = {"bind": "binds", "cwd": "workdir", "environment": "env", "memory": "max_memory", "pids": "max_procs", "stdin": "input"}


class Options(TypedDict, total=False):
    """The options of run(), run_async(), start() and the adapters. A limit can only lower the policy's limit."""

    policy: PolicyLike  # a Policy, or the name or file of one; default: cordon-run(1)'s choice for the program
    workdir: Path  # default: the current directory
    input: Union[str, bytes, None]  # for the standard input; default: empty
    env: Optional[Mapping[str, str]]  # the policy selects what the code sees of it; default: the caller's
    timeout: Optional[Duration]  # in seconds, or a timedelta
    max_memory: Optional[Limit]  # in bytes, or a text such as "512M"
    max_procs: Optional[int]
    binds: Mapping[str, Path]  # directories for the policy's variables
    user: Optional[str]
    agent: Optional[str]
    session: Optional[str]
    executor: str
    language: Optional[str]
    observe: bool
    log: Optional[Path]
    check: bool  # raise FailedError if the command fails
    on_stdout: Optional[Callable[[bytes], object]]  # called with output as it comes, in another thread
    on_stderr: Optional[Callable[[bytes], object]]
    max_output: int  # of stdout and of stderr, in bytes; the rest is dropped
    cordon: str  # the program; default: $CORDON, or the first `cordon` in $PATH


# Options for those who call run() or start() themselves; adapters and sessions do not have them.
FOR_CALLERS = ("check", "on_stdout", "on_stderr")

# What help() shows of each option.
HELP = {
    "policy": "a Policy, or the name or file of one (default: cordon-run(1)'s choice for the program)",
    "workdir": "the work directory (default: the current directory)",
    "input": "str or bytes for the standard input (default: empty)",
    "env": "variables that the policy selects from (default: the caller's)",
    "timeout": "seconds, a timedelta, or a text such as \"5m\"; can only lower the policy's limit",
    "max_memory": "bytes, or a text such as \"512M\"; can only lower the policy's limit",
    "max_procs": "number of processes; can only lower the policy's limit",
    "binds": "directories for the policy's variables: {name: directory}",
    "user": "the user to run as; needs root",
    "agent": "the agent's name, for the log",
    "session": "the session's name: executions of a session share temporary files",
    "executor": "the executor's name, for the log (default: cordon-python)",
    "language": "the code's language, for the log",
    "observe": "log what the policy would deny, and deny nothing; needs root",
    "log": "the directory of the log",
    "check": "raise FailedError if the command fails",
    "on_stdout": "function that gets the output as bytes while it comes, in another thread",
    "on_stderr": "the same for the errors",
    "max_output": "bytes of stdout and of stderr that are kept (default: 16 MiB each)",
    "cordon": "the program (default: $CORDON, or `cordon` in $PATH)",
}


def document(function: Function) -> Function:
    """Adds the options to a function's help()."""
    lines = [f"    {name}: {text}" for name, text in HELP.items()]
    function.__doc__ = "\n".join([function.__doc__ or "", "", "Options, as keywords:", *lines])
    return function


def check_options(function: str, options: Mapping[str, Any], *, without: Sequence[str] = ()) -> None:
    """Raises TypeError for an option that `function` does not have, and ValueError for a limit that is out of range.

    `without`: options that `function` sets by itself."""
    known = [name for name in Options.__annotations__ if name not in without]
    for name in options:
        if name in known:
            continue
        near = [SYNONYMS[name]] if SYNONYMS.get(name) in known else difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"the options are {', '.join(known)}."
        raise TypeError(f"{function}() has no option {name!r}; {hint}")
    for limit, convert in (("timeout", seconds), ("max_memory", size)):
        if options.get(limit) is not None:
            convert(options[limit], limit)
    for limit, least in (("max_procs", 1), ("max_output", 0)):
        if options.get(limit) is not None and options[limit] < least:
            raise ValueError(f"{limit}: {options[limit]} is too small; the least is {least}")


def check_command(function: str, argv: Words) -> None:
    """Raises TypeError if argv is no list of words, and ValueError if it is empty."""
    if isinstance(argv, str):
        shell = ["/bin/sh", "-c", argv]
        try:
            hint = f"write {shlex.split(argv)!r}, or {shell!r} for a shell"
        except ValueError:
            hint = f"write {shell!r} for a shell"
        raise TypeError(f"{function}() takes the command as a list of words, not as one str; {hint}")
    if not isinstance(argv, Sequence) or isinstance(argv, (bytes, bytearray)):
        raise TypeError(f'{function}() takes the command as a list of words, such as ["python3", "job.py"], not as {type(argv).__name__}')
    if not argv:
        raise ValueError(f"{function}(): the command is empty")
    for position, word in enumerate(argv):
        if not isinstance(word, (str, os.PathLike)):
            raise TypeError(f"{function}(): word {position} of the command is {word!r}; write it as a str")


def _arguments(options: Options, folder: str) -> List[str]:
    policy, memory, timeout = options.get("policy"), options.get("max_memory"), options.get("timeout")
    if isinstance(policy, Policy):
        path = os.path.join(folder, f"{policy.name}.yaml" if re.fullmatch(r"[A-Za-z0-9_.-]+", policy.name) else "policy.yaml")
        policy.write(path)
        policy = path
    values = {
        "--policy": policy,
        "--workdir": options.get("workdir"),
        "--timeout": None if timeout is None else seconds(timeout, "timeout"),
        "--memory": None if memory is None else size(memory, "max_memory"),
        "--pids": options.get("max_procs"),
        "--user": options.get("user"),
        "--agent": options.get("agent"),
        "--session": options.get("session"),
        "--executor": options.get("executor", "cordon-python"),
        "--language": options.get("language"),
        "--log": options.get("log"),
        "--stdin": "null" if options.get("input") is None else None,
        "--report": os.path.join(folder, REPORT),
    }
    arguments = [word for option, value in values.items() if value is not None for word in (option, str(value))]
    for name, directory in options.get("binds", {}).items():
        arguments += ["--bind", f"{name}={os.fspath(directory)}"]
    return arguments + (["--observe"] if options.get("observe") else [])


def command_line(argv: Words, options: Options, folder: str) -> List[str]:
    """Returns the words of `cordon run`. Writes a Policy object to `folder`, where the report will be, too.

    The caller has checked argv and the options."""
    program = options.get("cordon") or os.environ.get("CORDON") or "cordon"
    return [program, "run", *_arguments(options, folder), "--", *(os.fspath(word) for word in argv)]
