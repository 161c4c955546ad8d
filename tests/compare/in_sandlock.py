# SPDX-License-Identifier: Apache-2.0
"""Runs a command under sandlock, which is a library: with what its documentation begins with, a clean environment and limits.

    python in_sandlock.py WORK COMMAND...
    python in_sandlock.py --times N WORK COMMAND...     says what one run of N took of this process and its children, in microseconds
"""

import os
import resource
import sys

from sandlock import Sandbox


def sandbox(work):
    return Sandbox(
        fs_readable=["/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/dev"],
        fs_writable=[work, "/tmp", "/dev/null"],
        cwd=work,
        clean_env=True,
        env={"PATH": "/usr/bin:/bin", "HOME": os.environ["HOME"]},
        max_memory="1G",
        max_processes=128,
    )


def used():
    total = 0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total * 1e6


def main():
    arguments = sys.argv[1:]
    if arguments[0] == "--times":
        times, work, command = int(arguments[1]), arguments[2], arguments[3:]
        sandbox(work).run(command, timeout=60)
        before = used()
        for _ in range(times):
            assert sandbox(work).run(command, timeout=60).success
        print(int((used() - before) / times))
        return 0
    result = sandbox(arguments[0]).run(arguments[1:], timeout=100)
    sys.stdout.buffer.write(result.stdout)
    sys.stdout.flush()
    sys.stderr.buffer.write(result.stderr)
    if result.error:
        print(f"sandlock: {result.error}", file=sys.stderr)
    return result.exit_code if result.exit_code >= 0 else 1


sys.exit(main())
