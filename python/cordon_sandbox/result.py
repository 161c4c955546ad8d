# SPDX-License-Identifier: Apache-2.0
"""What an execution came to, and what it was denied."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Sequence, Tuple

from .errors import CordonError


@dataclass(frozen=True)
class Denial:
    """One access that was denied, `count` times."""

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
    stdout_bytes: bytes = b""
    stderr_bytes: bytes = b""
    # One change that allows all denials together, as docs/audit.md describes it.
    proposal: Optional[Mapping[str, Any]] = None

    @property
    def ok(self) -> bool:
        """Did the command end by itself, with status 0?"""
        return self.cause == "exited" and self.status == 0

    def describe(self) -> str:
        """How the command ended, and the first lines of why."""
        ended = f"the command ended with status {self.status}" if self.cause == "exited" else f"the command ended by {self.cause}"
        return "\n".join([ended, *(self.explain() or self.stderr).splitlines()[:10]])

    def _explain_proposal(self) -> List[str]:
        proposal = self.proposal or {}
        lines = []
        if proposal.get("policy"):
            lines.append(f"The policy {proposal['policy']} allows all of this.")
        if proposal.get("amendment"):
            lines.append("This would allow it, as one change of the policy:")
            lines.extend(f"    {line}" for line in proposal["amendment"].splitlines())
        return lines

    def explain(self) -> str:
        """What was denied and how to ask for it, for whoever wrote the code. Empty where nothing was."""
        together = self._explain_proposal()
        lines = []
        for denial in self.denials:
            lines.append(f"{denial.what} ({denial.count} times)" if denial.count > 1 else denial.what)
            if denial.message:
                lines.append(f"  {denial.message}")
            if denial.how_to_ask and not together:
                lines.append("  It would take this rule:")
                lines.extend(f"    {line}" for line in denial.how_to_ask.splitlines())
            elif denial.why_not:
                lines.append(f"  {denial.why_not}")
        return "\n".join(lines + together)

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
