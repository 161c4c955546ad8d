# SPDX-License-Identifier: Apache-2.0
"""Reaches the key through a symbolic link inside the work directory."""

import os

os.symlink(os.path.expanduser("~/.ssh"), "docs")
with open("docs/id_rsa", encoding="ascii") as notes:
    print(notes.read())
