# SPDX-License-Identifier: Apache-2.0
"""The examples of a Markdown page: commands with their output, and files that the reader writes."""

import re
from dataclasses import dataclass, field

FENCE = re.compile(r"^( *)```(\w*) *(\S*)\s*$")
PROMPT = re.compile(r"^([$#]) (.*)$")


class PageError(Exception):
    """A page that cannot be tested as it is; the text has file and line."""


@dataclass
class Command:
    """`first` and `last` are the lines of the page that show the output; last < first if it shows none."""

    page: str
    line: int
    user: str
    text: str
    shown: list = field(default_factory=list)
    status_follows: bool = False

    @property
    def first(self):
        return self.line + self.text.count("\n") + 1

    @property
    def last(self):
        return self.first + len(self.shown) - 1


@dataclass
class File:
    page: str
    line: int
    path: str
    content: str


def blocks(page, text):
    """(line of the first line inside, kind, file name, lines) of each fenced block."""
    lines, start = text.split("\n"), None
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if not fence:
            continue
        if start is None:
            start = (number, fence[2], fence[3], len(fence[1]))
        else:
            first, kind, name, indent = start
            yield first + 1, kind, name, [inner[indent:] for inner in lines[first : number - 1]]
            start = None
    if start:
        raise PageError(f"{page}:{start[0]}: the block has no end")


def here_document(line):
    match = re.search(r"<<-?\s*(['\"]?)([A-Za-z_]\w*)\1", line)
    return match[2] if match else None


def commands(page, line, lines):
    found, index = [], 0
    while index < len(lines):
        prompt = PROMPT.match(lines[index])
        if prompt:
            words, at, end = [prompt[2]], index, here_document(prompt[2])
            while end and lines[index] != end or not end and words[-1].endswith("\\"):
                index += 1
                if index == len(lines):
                    raise PageError(f"{page}:{line + at}: the command has no end")
                words.append(lines[index])
            found.append(Command(page, line + at, {"$": "user", "#": "root"}[prompt[1]], "\n".join(words)))
        elif found:
            found[-1].shown.append(lines[index])
        elif lines[index].strip():
            raise PageError(f"{page}:{line + index}: output without a command; a command begins with '$ ' or '# '")
        index += 1
    for command, following in zip(found, found[1:]):
        command.status_follows = following.text == "echo $?"
    return found


def steps(page, text):
    """What a reader does, in order. A block of another kind is for reading only, but not one that looks like commands."""
    found = []
    for line, kind, name, lines in blocks(page, text):
        if kind == "console":
            found += commands(page, line, lines)
        elif name:
            found.append(File(page, line, name, "\n".join(lines) + "\n"))
        elif kind in ("sh", "bash", "shell") or any(PROMPT.match(inner) for inner in lines):
            raise PageError(f"{page}:{line}: commands are in blocks of the kind 'console', so that they are tested")
    return found
