# SPDX-License-Identifier: Apache-2.0
"""What can go wrong besides the code that is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

if TYPE_CHECKING:
    from .result import Result


class CordonError(Exception):
    """Cordon failed, and nothing ran: `str()` is what it said."""


class FailedError(Exception):
    """The command ran and failed, and the caller gave `check=True`. `result`: as run() would have returned it."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.describe())
        self.result = result


class PolicyError(CordonError):
    """A policy does not compile. `diagnostics`: as `cordon policy check --json` lists them."""

    def __init__(self, message: str, diagnostics: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.diagnostics = list(diagnostics)
