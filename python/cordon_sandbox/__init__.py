# SPDX-License-Identifier: Apache-2.0
"""Runs agent-written code under a policy that the kernel enforces: `cordon_sandbox.run(["python3", "job.py"], workdir=...)`.

The result lists the denied accesses in `denials`, and describes them for a model in `explain()`.
This is not the package `cordon` of PyPI, which is an unrelated program."""

from .errors import CordonError, FailedError, PolicyError
from .execution import Execution, run, run_async, start
from .policy import Policy, sandbox
from .result import Denial, Result
from .session import Answer, PythonSession

__all__ = [
    "Answer",
    "CordonError",
    "Denial",
    "Execution",
    "FailedError",
    "Policy",
    "PolicyError",
    "PythonSession",
    "Result",
    "run",
    "run_async",
    "sandbox",
    "start",
]
__version__ = "0.1.0"
