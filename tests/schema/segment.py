# SPDX-License-Identifier: Apache-2.0
"""The records of a file of the log, for tests that look at a log again and again while it grows."""

import gzip
import json
import os


class Segment:
    """A file of the log, of which each record is parsed once."""

    def __init__(self, path):
        self.path, self.inode, self.first = path, None, b""
        self.position, self.records = 0, []

    def read_on(self):
        """Its records so far; all anew if another file has come to stand at the path."""
        with gzip.open(self.path) if self.path.endswith(".gz") else open(self.path, "rb") as file:
            inode, first = os.fstat(file.fileno()).st_ino, file.readline()
            # A number may be given to another file when the first is gone; each first record has a chain of its own.
            if (inode, first) != (self.inode, self.first):
                self.inode, self.first, self.position, self.records = inode, first, 0, []
            file.seek(self.position)
            for line in file:
                # A line without its end is being written.
                if line.endswith(b"\n"):
                    self.records.append(json.loads(line))
                    self.position += len(line)
        return self.records


SEGMENTS = {}


def records_of(path):
    """Of a file by its name."""
    return SEGMENTS.setdefault(path, Segment(path)).read_on()
