# SPDX-License-Identifier: Apache-2.0
"""The public paths at which tests see the project and its build, wherever both are: in the VM (tests/vm/run), and for tests
that run on the host with other users (tests/at-public-path)."""

import glob
import os
import re

PROJECT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("BUILD", "build")
# As the Makefile has it: a build elsewhere has kernels of its own where the tree has none.
IN_TREE = os.path.join(PROJECT, "build", "kernels")
KERNELS = os.environ.get("CORDON_KERNELS") or IN_TREE
if "CORDON_KERNELS" not in os.environ and os.path.isabs(BUILD) and not glob.glob(os.path.join(IN_TREE, "*", "version")):
    KERNELS = os.path.join(BUILD, "kernels")
# The project's. "-build" and "-kernels" are appended for a build folder and for kernels that are outside of it.
PUBLIC = "/srv/cordon"


class Places:
    """Which folders have public paths, and how paths below them are translated."""

    def __init__(self, build):
        self.folders = {PROJECT: PUBLIC}
        self.targets = {name: PUBLIC for name in (PROJECT, logical(PROJECT))}
        for given, suffix in ((build, "-build"), (KERNELS, "-kernels")):
            folder = os.path.join(PROJECT, given)
            real = os.path.realpath(folder)
            if os.path.isdir(real):
                target = self.public_path(real)
                if target == real:
                    target = self.folders[real] = PUBLIC + suffix
                self.targets.update({real: target, os.path.abspath(folder): target})
                if given.startswith(".."):
                    self.targets[given] = target
        names = "|".join(re.escape(name) for name in sorted(self.targets, key=len, reverse=True))
        self.pattern = re.compile(rf"(?<![\w.-])(?:{names})(?![\w.@+-])")

    def public_path(self, path):
        """The public path of an absolute path, which is the path itself outside of the folders."""
        for folder, target in self.folders.items():
            if path == folder or path.startswith(folder + "/"):
                return target + path[len(folder) :]
        return path

    def are_public(self):
        """Whether the folders are at their public paths already, where every user can enter them."""
        return all(folder == target and os.stat(folder).st_mode & 0o005 == 0o005 for folder, target in self.folders.items())

    def translate(self, text):
        """The same for every path in a text that names one of the folders."""
        return self.pattern.sub(lambda match: self.targets[match[0]], text)


def logical(folder):
    """The name by which the shell reached a folder that holds the current one, which may lead through symbolic links."""
    name, inside = os.environ.get("PWD", ""), os.path.relpath(os.getcwd(), folder)
    if inside.startswith("..") or not os.path.isabs(name) or os.path.realpath(name) != os.getcwd():
        return folder
    if inside == ".":
        return name
    return name.removesuffix("/" + inside) if name.endswith("/" + inside) else folder


def closed_to_others():
    """Why other users cannot read the project even at its public path, or None."""
    if os.stat(os.path.join(PROJECT, "Makefile")).st_mode & 0o004:
        return None
    return f"the files in {PROJECT} are closed to other users, as whom tests read them; open them by: chmod -R go+rX '{PROJECT}'"
