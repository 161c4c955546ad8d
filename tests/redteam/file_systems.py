# SPDX-License-Identifier: Apache-2.0
"""File systems that attacks are tried on, mounted on a directory; `scratch` is for what they lie in. Each returns where
else the directory is to be found, or None."""

import os
import subprocess
import sys
import tempfile


def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True)


def mount_ext4(top, scratch):
    image = os.path.join(scratch, "image")
    with open(image, "wb") as file:
        file.truncate(256 << 20)
    subprocess.run(["modprobe", "-a", "loop", "ext4"], check=True)
    # With checksums there is no changing a file's generation.
    subprocess.run(["mkfs.ext4", "-q", "-O", "^has_journal,^metadata_csum", image], check=True)
    mount("-o", "loop", image, top)
    return None


def mount_overlay(top, scratch):
    layers = {name: os.path.join(scratch, name) for name in ("lowerdir", "upperdir", "workdir")}
    for path in layers.values():
        os.mkdir(path)
    mount("-t", "overlay", "-o", ",".join(f"{name}={path}" for name, path in layers.items()), "none", top)
    return None


def mount_9p(top, scratch):
    out = os.environ.get("CORDON_VM_OUT")
    if not out:
        sys.exit("for 9p a folder of the host is needed: tests/vm/run --out DIR --out-owners")
    shared = tempfile.mkdtemp(prefix="rt", dir=out)
    os.chmod(shared, 0o755)
    mount("--bind", shared, top)
    mount("-o", "remount,bind,dev,suid", top)
    return shared


MOUNTS = {"ext4": mount_ext4, "overlay": mount_overlay, "9p": mount_9p}
