# SPDX-License-Identifier: Apache-2.0
"""Compares output with what a page shows. Only the parts below may differ; README.md here lists them for authors."""

import difflib
import re

CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|.*\r(?!$)|\r")
VARIABLE = [
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-9a-f]{8}-[0-9a-f]{4}\b", "ID"),
    (r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?|\b\d\d:\d\d:\d\d(?:\.\d+)?", "TIME"),
    (r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,}(?:\.\.\.)?", "DIGEST"),
    (r"\b\d+(?:\.\d+)? (?:ns|us|ms|s|min|h)\b", "DURATION"),
    (r"[+-]\d+\.\d+\b", "OFFSET"),
    (r"\b\d+\.\d+ [KMG]iB\b", "SIZE"),
    (r"\[\d+\]", "[PID]"),
    (r"\bpython3\.\d+", "python3.N"),
    (r"\b\d+\.\d+\.\d+[-+.~\w]*", "VERSION"),
    (r"/usr/local/(share/cordon|bin/cordon|lib/cordon)", r"/usr/\1"),
    (r"\s+", " "),
]


def plain(line):
    line = CONTROL.sub("", line)
    for pattern, word in VARIABLE:
        line = re.sub(pattern, word, line)
    return line.strip()


def line_pattern(shown):
    """'...' within a line stands for any text."""
    return ".*".join(re.escape(plain(part)) if index == 0 else r"\s*" + re.escape(plain(part)) for index, part in enumerate(shown.split("...")))


def pattern(shown):
    """'...' as a line stands for any number of lines."""
    parts = []
    for line in shown:
        parts.append(r"(?:.*\n)*?" if line.strip() == "..." else line_pattern(line) + r"\s*\n")
    return re.compile("".join(parts))


def trimmed(lines):
    lines = [line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def same(shown, came):
    text = "".join(plain(line) + "\n" for line in trimmed(came))
    return pattern(trimmed(shown)).fullmatch(text) is not None


def readable(came):
    return trimmed([CONTROL.sub("", line) for line in came])


def difference(shown, came):
    return list(difflib.unified_diff(trimmed(shown), readable(came), "the page shows", "came", lineterm="", n=1))
