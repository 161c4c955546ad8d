# SPDX-License-Identifier: Apache-2.0
"""smolagents: CodeAgent(executor=CordonPythonExecutor(...)) runs the agent's code in one execution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

from smolagents.local_python_executor import CodeOutput
from smolagents.monitoring import AgentLogger, LogLevel
from smolagents.remote_executors import RemotePythonExecutor
from smolagents.serialization import SafeSerializer
from smolagents.utils import AgentError

from .errors import CordonError
from .options import FOR_CALLERS, Options, check_options
from .policy import seconds
from .result import Result
from .session import PythonSession

if TYPE_CHECKING:
    from typing_extensions import Unpack


class CordonPythonExecutor(RemotePythonExecutor):  # type: ignore[misc]
    """Names are kept from step to step, and tools run inside. What comes back is never unpickled.

    `step_timeout`: seconds for each step; a session that it ends, or that ends otherwise, begins anew without its names."""

    def __init__(self, *, python: str = "/usr/bin/python3", step_timeout: Optional[float] = None, logger: Any = None, **options: Unpack[Options]) -> None:
        check_options("CordonPythonExecutor", options, without=["input", *FOR_CALLERS])
        if step_timeout is not None:
            seconds(step_timeout, "step_timeout")
        super().__init__([], logger or AgentLogger(level=LogLevel.ERROR), allow_pickle=False)
        options.setdefault("executor", "smolagents")
        self._python, self._step_timeout, self._options = python, step_timeout, options
        self._session: Optional[PythonSession] = None

    def run_code_raise_errors(self, code: str) -> CodeOutput:
        """As the base class says."""
        self._session = self._session or PythonSession(python=self._python, **self._options)
        try:
            answer = self._session.execute(code, self._step_timeout)
        except (CordonError, TimeoutError) as error:
            self._session = None
            raise AgentError(str(error), self.logger) from error
        if answer.error_type == self.FINAL_ANSWER_EXCEPTION:
            output = SafeSerializer.loads(answer.error or "", allow_pickle=False)
            return CodeOutput(output=output, logs=answer.logs, is_final_answer=True)
        if answer.error_type is not None:
            raise AgentError(f"{answer.logs}\n{answer.traceback}", self.logger)
        return CodeOutput(output=answer.value, logs=answer.logs, is_final_answer=False)

    def install_packages(self, additional_imports: Sequence[str]) -> Sequence[str]:
        """Nothing is installed from inside: what tools need has to be there already."""
        return additional_imports

    def close(self) -> Optional[Result]:
        """Ends the execution: what it was denied. None: nothing ran."""
        session, self._session = self._session, None
        return session.close() if session is not None else None

    def cleanup(self) -> None:
        """Ends the execution with everything that it started."""
        if self._session is not None:
            self._session.cancel()
            self._session = None
