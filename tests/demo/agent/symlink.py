# SPDX-License-Identifier: Apache-2.0
"""Reads the key through a symbolic link inside the work directory, and makes the link if it is missing."""

import os
import sys

link = sys.argv[1]
if not os.path.islink(link):
    os.symlink(os.path.expanduser("~/.ssh"), link)
with open(f"{link}/id_rsa", encoding="ascii") as key:
    print(key.read())
