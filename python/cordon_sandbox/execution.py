# SPDX-License-Identifier: Apache-2.0
"""Runs commands by cordon-run(1), and reads its report."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import IO, TYPE_CHECKING, Any, Callable, Mapping, Optional, Sequence, Tuple

from .errors import CordonError, FailedError
from .options import REPORT, Options, Words, check_command, check_options, command_line, document
from .result import Denial, Result

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Code decides how much it writes: what goes beyond is read and dropped.
MAX_OUTPUT = 16 << 20
# cordon-run(1)'s own status where nothing ran.
FAILED = 125


# Gets output as it comes.
Sink = Optional[Callable[[bytes], object]]


class Stream(threading.Thread):
    """Reads a pipe to its end, hands each piece to `sink`, and keeps the beginning. An exception of `sink` is raised by data()."""

    def __init__(self, pipe: IO[bytes], limit: int, sink: Sink = None) -> None:
        super().__init__(daemon=True)
        self._pipe, self._limit, self._kept, self._sink = pipe, limit, bytearray(), sink
        self._failed: Optional[BaseException] = None
        self.truncated = False
        self.start()

    def run(self) -> None:
        while True:
            some = os.read(self._pipe.fileno(), 65536)
            if not some:
                break
            self._hand_over(some)
            room = self._limit - len(self._kept)
            self._kept += some[:room]
            self.truncated = self.truncated or len(some) > room
        self._pipe.close()

    def _hand_over(self, some: bytes) -> None:
        if self._sink is None:
            return
        try:
            self._sink(some)
        except Exception as error:  # pylint: disable=broad-except
            self._failed, self._sink = error, None

    def text(self) -> str:
        """The same as text."""
        return self.data().decode("utf-8", "replace")

    def data(self) -> bytes:
        """All of it, once the pipe has ended."""
        self.join()
        if self._failed is not None:
            raise self._failed
        return bytes(self._kept)


class Execution:
    """One that runs; made by start(). wait() from one thread; cancel() from any."""

    def __init__(
        self,
        command: Sequence[str],
        env: Optional[Mapping[str, str]],
        given: Optional[bytes],
        limit: int,
        folder: str,
        sinks: Tuple[Sink, Sink] = (None, None),
        check: bool = False,
    ) -> None:
        self._folder, self._cordon, self._given, self._cancelled = folder, command[0], given, False
        self._check = check
        self._done: Optional[Result] = None
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=None if env is None else dict(env),
            )
        except OSError as error:
            raise CordonError(f"{command[0]}: {error.strerror}") from error
        assert self._process.stdout is not None and self._process.stderr is not None
        pipes = (self._process.stdout, self._process.stderr)
        self._streams = [Stream(pipe, limit, sink) for pipe, sink in zip(pipes, sinks)]
        # The pipe takes as much as it holds; the rest waits in a thread, so that wait() can end in time.
        self._feeder = threading.Thread(target=self._feed, daemon=True)
        self._feeder.start()

    @property
    def pid(self) -> int:
        """Of the process `cordon run`, which is the command's parent."""
        return self._process.pid

    def _feed(self) -> None:
        if self._process.stdin is None:
            return
        try:
            self._process.stdin.write(self._given or b"")
            self._process.stdin.close()
        except BrokenPipeError:
            pass

    def cancel(self) -> None:
        """Ends it with everything that it started: the daemon kills what loses its `cordon run`."""
        self._cancelled = True
        self._process.kill()

    def wait(self, timeout: Optional[float] = None) -> Result:
        """Waits until all of it has ended. Raises TimeoutError after `timeout` seconds: then it runs on, and wait() can be called
        again. Raises CordonError if nothing ran, and FailedError with check=True."""
        if self._done is None and timeout is not None:
            self._wait_for_streams(timeout)
        result = self._finish()
        if self._check and not result.ok:
            raise FailedError(result)
        return result

    def _wait_for_streams(self, timeout: float) -> None:
        until = time.monotonic() + timeout
        for stream in self._streams:
            stream.join(max(0.0, until - time.monotonic()))
            if stream.is_alive():
                raise TimeoutError(f"the execution has not ended after {timeout} seconds")

    def _finish(self) -> Result:
        if self._done is None:
            try:
                self._done = self._wait()
            except BaseException:
                # Nobody waits any more, after an interrupt for instance.
                self.cancel()
                self._process.wait()
                raise
            finally:
                shutil.rmtree(self._folder, ignore_errors=True)
        return self._done

    def __enter__(self) -> Execution:
        return self

    def __exit__(self, *_: object) -> None:
        if self._done is None:
            self.cancel()
            self._finish()

    def _wait(self) -> Result:
        # They end when the last process that has them is dead.
        output, errors = (stream.data() for stream in self._streams)
        stdout, stderr = (data.decode("utf-8", "replace") for data in (output, errors))
        status = self._process.wait()
        said = "\n".join(line for line in stderr.splitlines() if line.startswith("cordon: ")) or stderr.strip()
        return read_result(
            self._folder,
            said,
            cancelled=self._cancelled,
            status=status if status >= 0 else 128 - status,
            stdout=stdout,
            stderr=stderr,
            stdout_bytes=output,
            stderr_bytes=errors,
            truncated=any(stream.truncated for stream in self._streams),
            cordon=(self._cordon,),
        )


def read_cause(outcome: Mapping[str, Any], status: int) -> str:
    """How it ended: if it failed at a limit, the limit."""
    limits: Sequence[str] = outcome.get("limits") or []
    cause: str = outcome["cause"]
    return limits[0] if limits and status != 0 and cause in ("exited", "signaled") else cause


def read_result(folder: str, said: str, *, cancelled: bool = False, **known: Any) -> Result:
    """Of the report in `folder`. CordonError, with what cordon said, where none was written: nothing ran."""
    report: Mapping[str, Any] = {}
    try:
        with open(os.path.join(folder, REPORT), encoding="utf-8") as file:
            report = json.load(file)
    except (OSError, ValueError) as error:
        if not cancelled:
            raise CordonError(said or f"cordon ended with status {known['status']} and without a report") from error
    if known["status"] == FAILED and report.get("outcome", {}).get("cause") == "not-started":
        raise CordonError(said)
    return Result(
        cause="cancelled" if cancelled else read_cause(report["outcome"], known["status"]),
        execution=report.get("execution"),
        policy=report.get("policy", {}).get("name"),
        denials=tuple(Denial.read(entry) for entry in report.get("denials", [])),
        denials_total=report.get("denials_total", 0),
        proposal=report.get("proposal"),
        **known,
    )


def _start(function: str, argv: Words, options: Options) -> Execution:
    check_command(function, argv)
    check_options(function, options)
    given = options.get("input")
    # The report is read from here: mode 0700, and in no directory that policies grant, so that the code cannot change it.
    folder = tempfile.mkdtemp(prefix="python-cordon-")
    try:
        return Execution(
            command_line(argv, options, folder),
            options.get("env"),
            given.encode() if isinstance(given, str) else given,
            options.get("max_output", MAX_OUTPUT),
            folder,
            (options.get("on_stdout"), options.get("on_stderr")),
            options.get("check", False),
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@document
def start(argv: Words, **options: Unpack[Options]) -> Execution:
    """Starts argv as an execution. Raises CordonError if `cordon` cannot be started."""
    return _start("start", argv, options)


@document
def run(argv: Words, **options: Unpack[Options]) -> Result:
    """Runs argv as an execution, and waits for its end. Raises CordonError if nothing ran."""
    return _start("run", argv, options).wait()


async def wait_async(execution: Execution) -> Result:
    """Waits without holding up the loop. Whoever cancels it ends the execution, which has ended when this returns."""
    with ThreadPoolExecutor(1) as pool:
        waited = asyncio.get_running_loop().run_in_executor(pool, execution.wait)
        try:
            return await asyncio.shield(waited)
        except asyncio.CancelledError:
            execution.cancel()
            await asyncio.wait([waited])
            raise


@document
async def run_async(argv: Words, **options: Unpack[Options]) -> Result:
    """Does what run() does, without blocking the event loop. Cancelling the task ends the execution."""
    return await wait_async(_start("run_async", argv, options))
