# SPDX-License-Identifier: Apache-2.0
"""Policies made by programs: the policy language in another form, compiled by cordon as every other."""

from __future__ import annotations

import datetime
import json
import math
import os
import re
import subprocess
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from .errors import CordonError, PolicyError

Paths = Union[str, Sequence[str]]
Limit = Union[int, float, str]
Duration = Union[Limit, datetime.timedelta]


def _listed(value: Paths) -> List[str]:
    return [value] if isinstance(value, str) else list(value)


def quote(path: str) -> str:
    """A pattern for this very name."""
    return re.sub(r"([*?\[\]{}\\$])", r"\\\1", path)


def _check_positive(value: Any, name: str, unit: str) -> None:
    if not isinstance(value, (int, float)):
        raise TypeError(f"{name}: {value!r} is neither a number of {unit} nor a text")
    if not 0 < value < math.inf:
        raise ValueError(f"{name}: {value} is out of range; give a finite number of {unit} above 0, or leave it out")


def seconds(value: Duration, name: str) -> str:
    """Formats a time for policies and options. Raises ValueError, with `name`, unless it is positive and finite."""
    if isinstance(value, str):
        return value
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    _check_positive(value, name, "seconds")
    return f"{max(1, round(value * 1000))}ms"


def size(value: Limit, name: str) -> str:
    """Formats a number of bytes for policies and options. Raises ValueError as seconds() does."""
    if isinstance(value, str):
        return value
    _check_positive(value, name, "bytes")
    return f"{max(1, int(value))}B"


class Policy:
    """A policy that is built: each method adds to it and returns it. Rights, patterns and keys are those of docs/policies.md."""

    def __init__(self, name: str, *, include: Sequence[str] = (), description: Optional[str] = None) -> None:
        self._document: Dict[str, Any] = {"version": 1, "name": name}
        if description is not None:
            self._document["description"] = description
        if include:
            self._document["include"] = list(include)

    @property
    def name(self) -> str:
        """How records call it."""
        return str(self._document["name"])

    def _rule(self, section: str, effect: str, rights: Paths, about: Mapping[str, Any]) -> Policy:
        rule: Dict[str, Any] = {effect: _listed(rights)}
        rule.update((key, value) for key, value in about.items() if value is not None)
        self._document.setdefault(section, []).append(rule)
        return self

    def allow_files(self, rights: Paths, paths: Paths) -> Policy:
        """Of read, write, create, delete, all; metadata and special."""
        return self._rule("files", "allow", rights, {"paths": _listed(paths)})

    def deny_files(self, rights: Paths, paths: Paths, *, message: Optional[str] = None, severity: Optional[str] = None) -> Policy:
        """`message`: shown to whoever is refused."""
        return self._rule("files", "deny", rights, {"paths": _listed(paths), "message": message, "severity": severity})

    def allow_exec(self, rights: Paths, paths: Paths) -> Policy:
        """Of run and map."""
        return self._rule("exec", "allow", rights, {"paths": _listed(paths)})

    def deny_exec(self, rights: Paths, paths: Paths, *, message: Optional[str] = None, severity: Optional[str] = None) -> Policy:
        """`message`: shown to whoever is refused."""
        return self._rule("exec", "deny", rights, {"paths": _listed(paths), "message": message, "severity": severity})

    def allow_network(
        self, rights: Paths, to: Paths, *, ports: Optional[Sequence[Union[int, str]]] = None, protocols: Optional[Paths] = None
    ) -> Policy:
        """Of connect, bind and listen. `to`: addresses, blocks, names of hosts, or "any"."""
        return self._rule("network", "allow", rights, self._about(to, ports, protocols))

    def deny_network(
        self, rights: Paths, to: Paths, *, ports: Optional[Sequence[Union[int, str]]] = None, protocols: Optional[Paths] = None
    ) -> Policy:
        """As allow_network()."""
        return self._rule("network", "deny", rights, self._about(to, ports, protocols))

    @staticmethod
    def _about(to: Paths, ports: Optional[Sequence[Union[int, str]]], protocols: Optional[Paths]) -> Mapping[str, Any]:
        return {
            "to": "any" if to == "any" else _listed(to),
            "ports": None if ports is None else list(ports),
            "protocols": None if protocols is None else _listed(protocols),
        }

    def limits(
        self,
        *,
        wall: Optional[Duration] = None,
        memory: Optional[Limit] = None,
        pids: Optional[int] = None,
        cpu: Optional[str] = None,
        cpu_time: Optional[Duration] = None,
        file_size: Optional[Limit] = None,
        open_files: Optional[int] = None,
        io: Optional[Mapping[str, str]] = None,
    ) -> Policy:
        """Times in seconds and sizes in bytes, or as policies write them ("60s", "512M"); io: {"write": "50M/s"}."""
        times = {"wall": wall, "cpu_time": cpu_time}
        sizes = {"memory": memory, "file_size": file_size}
        said: Dict[str, Any] = {key: seconds(value, key) for key, value in times.items() if value is not None}
        said.update((key, size(value, key)) for key, value in sizes.items() if value is not None)
        said.update((key, value) for key, value in (("pids", pids), ("cpu", cpu), ("open_files", open_files), ("io", io)) if value is not None)
        self._document.setdefault("limits", {}).update(said)
        return self

    def environment(self, *, keep: Optional[Sequence[str]] = None, set: Optional[Mapping[str, str]] = None) -> Policy:
        """The caller's variables that it keeps, and those that it sets."""
        said = self._document.setdefault("environment", {})
        if keep is not None:
            said["keep"] = [*said.get("keep", []), *keep]
        if set is not None:
            said["set"] = {**said.get("set", {}), **set}
        return self

    def process(self, **ceilings: Any) -> Policy:
        """`signal`, `trace`, `capabilities`, `namespaces`, `special` and the others."""
        self._document.setdefault("process", {}).update(ceilings)
        return self

    def key(self, key: str, value: Any) -> Policy:
        """Any other key of the language, such as `audit`, `on_denial`, `variables`, `mode`."""
        self._document[key] = value
        return self

    def text(self) -> str:
        """The policy's file: JSON, which is YAML, too."""
        return json.dumps(self._document, indent=2, ensure_ascii=False) + "\n"

    def write(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """As a file, to be kept, looked at and run by name."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text())

    def check(self, *, cordon: str = "cordon") -> Mapping[str, Any]:
        """Compiles it: `cordon policy check --json`, with its digest. PolicyError, with what is wrong."""
        with tempfile.TemporaryDirectory(prefix="python-cordon-") as folder:
            path = os.path.join(folder, "policy.yaml")
            self.write(path)
            try:
                done = subprocess.run(
                    [cordon, "policy", "check", "--json", path], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
                )
            except OSError as error:
                raise CordonError(f"{cordon}: {error.strerror}") from error
        try:
            answer: Mapping[str, Any] = json.loads(done.stdout)
        except ValueError as error:
            raise CordonError(done.stderr.strip() or done.stdout.strip()) from error
        if not answer["ok"]:
            said = [entry for entry in answer["diagnostics"] if entry.get("severity") == "error"]
            raise PolicyError("\n".join(map(_describe, said)), said)
        return answer


def _describe(entry: Mapping[str, Any]) -> str:
    """A diagnostic as text: where, what is wrong, and what to write."""
    place = ":".join(str(entry[key]) for key in ("file", "line", "column") if entry.get(key) is not None)
    hint = entry.get("fix")
    return (f"{place}: " if place else "") + str(entry.get("message", entry)) + (f"; hint: {hint}" if hint else "")


def _destination(text: str) -> Mapping[str, Any]:
    """HOST, HOST:PORTS, [ADDRESS]:PORTS, :PORTS; with udp:// before it, for UDP."""
    protocol, _, rest = text.rpartition("://")
    found = re.fullmatch(r"(?:\[(?P<bare>[^]]*)\]|(?P<host>[^:]*))(?::(?P<ports>[0-9,-]+))?", rest)
    if found is None and rest.count(":") > 1 and not rest.startswith("["):
        host, ports = rest, None
    elif found is not None:
        host, ports = found["bare"] or found["host"] or "", found["ports"]
    else:
        raise ValueError(f"net_allow: {text!r} is no HOST:PORT")
    if not host and ports is None:
        raise ValueError(f"net_allow: {text!r} names neither a host nor a port")
    return {
        "to": "any" if host in ("", "*") else host,
        "ports": None if ports is None else [int(port) if port.isdigit() else port for port in ports.split(",")],
        "protocols": protocol or None,
    }


def sandbox(
    *,
    fs_read: Sequence[str] = (),
    fs_write: Sequence[str] = (),
    net_allow: Sequence[str] = (),
    max_memory: Optional[Limit] = None,
    max_procs: Optional[int] = None,
    timeout: Optional[Duration] = None,
    name: str = "sandbox",
    include: Sequence[str] = ("runtime/linux", "runtime/python3", "runtime/shell", "runtime/credentials", "runtime/persistence"),
) -> Policy:
    """A policy of lists: the work directory, what `include` names (programs of the system), and these files and all below them.
    `fs_write` is readable, too. Names are resolved now, since the kernel asks about what links lead to."""

    def tree(paths: Sequence[str]) -> List[str]:
        return [pattern for path in paths for real in [quote(os.path.realpath(path)).rstrip("/")] for pattern in (real or "/", f"{real}/**")]

    policy = Policy(name, include=include)
    policy.allow_files(["read", "write", "create", "delete"], ["${workdir}/**", "${tmp}/**"])
    policy.allow_files(["read", "write"], ["${workdir}", "${tmp}"])
    policy.allow_exec("run", "${workdir}/**")
    policy.process(special="deny")
    policy.allow_files("special", "${tmp}/**")
    if fs_read:
        policy.allow_files("read", tree(fs_read))
    if fs_write:
        policy.allow_files(["read", "write", "create", "delete"], tree(fs_write))
    for text in net_allow:
        policy.allow_network("connect", **_destination(text))
    policy.limits(wall=timeout, memory=max_memory, pids=max_procs)
    return policy
