# SPDX-License-Identifier: Apache-2.0
"""What an execution came to, and what it was refused."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Tuple

from .errors import CordonError


@dataclass(frozen=True)
class Denial:
    """One access that was refused, `count` times."""

    what: str
    operation: str
    object: str
    rights: Tuple[str, ...]
    rule: str
    message: Optional[str]
    how_to_ask: Optional[str]
    why_not: Optional[str]
    count: int

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> Denial:
        """Of an entry of the report's `denials`."""
        rule = entry["rule"]
        if isinstance(rule, Mapping):
            rule = f"{rule.get('file')}:{rule.get('line')}: {rule.get('text')}"
        return cls(
            what=entry["what"],
            operation=entry["operation"],
            object=entry["object"],
            rights=tuple(entry["rights"]),
            rule=rule,
            message=entry.get("message"),
            how_to_ask=entry.get("how_to_ask"),
            why_not=entry.get("why_not"),
            count=entry["count"],
        )


@dataclass(frozen=True)
class Result:
    """`status`: the command's, or cordon-run(1)'s: 124 after a timeout, 128+n after signal n.
    `cause`: how it ended, such as "exited", "timeout", "denials"; "cancelled" after Execution.cancel(). If it failed and a
    limit was reached: "memory", "pids", "cpu-time", "file-size" or "system-calls"."""

    status: int
    stdout: str
    stderr: str
    cause: str
    execution: Optional[str]
    policy: Optional[str]
    denials: Tuple[Denial, ...]
    denials_total: int
    truncated: bool
    cordon: Sequence[str] = ("cordon",)

    @property
    def ok(self) -> bool:
        """Did the command end by itself, with status 0?"""
        return self.cause == "exited" and self.status == 0

    def explain(self) -> str:
        """What was refused and how to ask for it, for whoever wrote the code. Empty where nothing was."""
        lines = []
        for denial in self.denials:
            lines.append(f"{denial.what} ({denial.count} times)" if denial.count > 1 else denial.what)
            if denial.message:
                lines.append(f"  {denial.message}")
            if denial.how_to_ask:
                lines.append("  It would take this rule:")
                lines.extend(f"    {line}" for line in denial.how_to_ask.splitlines())
            elif denial.why_not:
                lines.append(f"  {denial.why_not}")
        return "\n".join(lines)

    def why(self, log: Optional[str] = None) -> Mapping[str, Any]:
        """`cordon why ID --json`: which rules spoke of it. For those who may read the log. CordonError."""
        if self.execution is None:
            raise CordonError("nothing ran, so nothing is on record")
        command = [*self.cordon, "why", self.execution, "--json", *(["--log", log] if log else [])]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CordonError(done.stderr.strip())
        answer: Mapping[str, Any] = json.loads(done.stdout)
        return answer
