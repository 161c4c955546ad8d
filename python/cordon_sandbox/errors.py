# SPDX-License-Identifier: Apache-2.0
"""What can go wrong besides the code that is run."""

from __future__ import annotations

from typing import Any, Sequence


class CordonError(Exception):
    """Cordon failed, and nothing ran: `str()` is what it said."""


class PolicyError(CordonError):
    """A policy does not compile. `diagnostics`: as `cordon policy check --json` lists them."""

    def __init__(self, message: str, diagnostics: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.diagnostics = list(diagnostics)
