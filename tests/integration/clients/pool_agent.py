# SPDX-License-Identifier: Apache-2.0
"""An executor that starts its commands in as many ways as Python has."""

import asyncio
import concurrent.futures
import os
import subprocess
import sys


def run(number):
    return subprocess.run(["sh", "-c", f"echo {number}; exit {number}"], capture_output=True, check=False)


async def many():
    running = [
        await asyncio.create_subprocess_exec("sh", "-c", f"echo {i}; exit {i}", stdout=asyncio.subprocess.PIPE)
        for i in range(8)
    ]
    return [((await one.communicate())[0], one.returncode) for one in running]


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    expected = [(f"{i}\n".encode(), i) for i in range(8)]
    assert asyncio.run(many()) == expected
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        assert [(done.stdout, done.returncode) for done in pool.map(run, range(8))] == expected
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert [(done.stdout, done.returncode) for done in pool.map(run, range(8))] == expected
    assert os.waitstatus_to_exitcode(os.system("exit 3")) == 3
    assert os.popen("echo out").read() == "out\n"
    assert os.spawnvp(os.P_WAIT, "sh", ["sh", "-c", "exit 5"]) == 5
    assert os.waitpid(os.posix_spawnp("true", ["true"], os.environ), 0)[1] == 0
    started = subprocess.Popen("sleep 0.2; cat", shell=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert started.communicate(b"in")[0] == b"in"
    print("done")
