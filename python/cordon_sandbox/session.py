# SPDX-License-Identifier: Apache-2.0
"""A Python that keeps its names between pieces of code: one execution for all of them."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

from .errors import CordonError
from .execution import MAX_OUTPUT, Stream, read_result
from .options import FOR_CALLERS, Options, check_options, command_line
from .policy import seconds
from .result import Result

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Requests and answers are lines of JSON, on descriptors that the code's input() and print() do not use.
DRIVER = """
import ast, contextlib, io, json, os, traceback
requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)
names = {"__name__": "__main__"}
for line in requests:
    logs, value, error = io.StringIO(), None, None
    with contextlib.redirect_stdout(logs), contextlib.redirect_stderr(logs):
        try:
            body = ast.parse(json.loads(line), "<code>").body
            last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
            exec(compile(ast.Module(body, []), "<code>", "exec"), names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), "<code>", "eval"), names)
                value = None if value is None else repr(value)
        except BaseException as raised:
            error = [type(raised).__name__, str(raised), traceback.format_exc()]
    answers.write(json.dumps([logs.getvalue(), value, error]).encode() + b"\\n")
    answers.flush()
"""


# How long a session may take to end whose code has closed its answers.
ENDING = 10.0


class _Late(Exception):
    """The deadline of a piece of code is over."""


class _Malformed(Exception):
    """An answer is longer than any may be."""


def _left(deadline: Optional[float]) -> Optional[float]:
    return None if deadline is None else max(0.0, deadline - time.monotonic())


@dataclass(frozen=True)
class Answer:
    """What a piece of code printed, its last expression as text, and what it raised: the code's own word, all of it."""

    logs: str
    value: Optional[str] = None
    error_type: Optional[str] = None
    error: Optional[str] = None
    traceback: Optional[str] = None


class PythonSession:
    """`python`: the interpreter, which the policy has to allow. The options are those of run() except `input`.

    `timeout` and the other limits are limits of the whole session."""

    def __init__(self, *, python: str = "/usr/bin/python3", **options: Unpack[Options]) -> None:
        check_options("PythonSession", options, without=["input", *FOR_CALLERS])
        options.setdefault("policy", "python-sandbox")
        options["input"] = b""
        self._folder = tempfile.mkdtemp(prefix="python-cordon-")
        self._limit, self._rest = options.get("max_output", MAX_OUTPUT), b""
        self._result: Optional[Result] = None
        try:
            command = command_line([python, "-c", DRIVER], options, self._folder)
            self._cordon, env = command[0], options.get("env")
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=None if env is None else dict(env),
            )
        except OSError as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise CordonError(f"{error.filename}: {error.strerror}") from error
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._requests, self._answers = self._process.stdin, self._process.stdout
        # For _write().
        os.set_blocking(self._requests.fileno(), False)
        self._said = Stream(self._process.stderr, self._limit)

    def execute(self, code: str, timeout: Optional[float] = None) -> Answer:
        """Runs a piece of code, for `timeout` seconds at most. Raises TimeoutError, which ends the session, and CordonError if
        the session has ended or never began."""
        if timeout is not None:
            seconds(timeout, "timeout")
        if self._result is not None:
            raise CordonError(f"the session has ended: {self._result.cause}")
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            self._write(json.dumps(code).encode() + b"\n", deadline)
            line = self._read_line(deadline)
        except (BrokenPipeError, EOFError):
            result = self._end_by(deadline)
            raise CordonError(f"the session has ended: {result.cause}") from None
        except _Malformed:
            self.cancel()
            raise CordonError("the session has ended: its answer was none") from None
        except _Late:
            self.cancel()
            raise TimeoutError(f"the code took longer than {timeout} s") from None
        except BaseException:
            self.cancel()
            raise
        try:
            logs, value, error = json.loads(line)
            kind, text, trace = (str(part) for part in error) if error else (None, None, None)
            return Answer(str(logs), None if value is None else str(value), kind, text, trace)
        except (ValueError, TypeError, RecursionError):
            # The code has written there itself.
            self.cancel()
            raise CordonError("the session has ended: its answer was none") from None

    def _write(self, data: bytes, deadline: Optional[float]) -> None:
        """Code that does not read holds nobody up for longer than `deadline`."""
        while data:
            if not select.select([], [self._requests], [], _left(deadline))[1]:
                raise _Late
            data = data[os.write(self._requests.fileno(), data[:65536]) :]

    def _read_line(self, deadline: Optional[float]) -> bytes:
        while b"\n" not in self._rest:
            if len(self._rest) > self._limit:
                raise _Malformed
            # What is written without an end is always readable.
            if deadline is not None and time.monotonic() >= deadline:
                raise _Late
            if not select.select([self._answers], [], [], _left(deadline))[0]:
                raise _Late
            some = self._answers.raw.read(65536)  # type: ignore[attr-defined]
            if not some:
                raise EOFError
            self._rest += some
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _end_by(self, deadline: Optional[float]) -> Result:
        """It closed its answers, so it has ended, or is about to; if not, it is cancelled."""
        with contextlib.suppress(OSError):
            self._requests.close()
        try:
            self._process.wait(ENDING if deadline is None else min(ENDING, _left(deadline) or 0.0))
        except subprocess.TimeoutExpired:
            return self._end(cancelled=True)
        return self.close()

    def cancel(self) -> None:
        """Ends it with everything that it started."""
        self._end(cancelled=True)

    def close(self) -> Result:
        """Ends it: what it was denied, altogether. CordonError: it never began."""
        return self._end(cancelled=False)

    def _end(self, cancelled: bool) -> Result:
        if self._result is None:
            try:
                if cancelled:
                    self._process.kill()
                try:
                    self._requests.close()
                except BrokenPipeError:
                    pass
                # What is killed needs no room for its last words.
                while not cancelled and self._answers.read(65536):
                    pass
                status, stderr = self._process.wait(), self._said.text()
                self._result = read_result(
                    self._folder,
                    stderr.strip(),
                    cancelled=cancelled,
                    status=status if status >= 0 else 128 - status,
                    stdout="",
                    stderr=stderr,
                    truncated=self._said.truncated,
                    cordon=(self._cordon,),
                )
            finally:
                self._answers.close()
                shutil.rmtree(self._folder, ignore_errors=True)
        return self._result

    def __enter__(self) -> PythonSession:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._end(cancelled=kind is not None)
