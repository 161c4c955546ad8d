# SPDX-License-Identifier: Apache-2.0
"""An executor that knows nothing of cordon: does what it reads, a JSON list of commands per line, and answers with
what came of each."""

import ctypes
import json
import os
import subprocess
import sys
import time

for line in sys.stdin:
    request = json.loads(line)
    how = request.pop("how", "subprocess")
    command = request.pop("command")
    workdir = request.pop("cwd", None)
    environment = dict(os.environ, **request.pop("env", {}))
    try:
        if how == "read":
            with open(command, encoding="utf-8") as file:
                print(json.dumps({"text": file.read()}), flush=True)
            continue
        if how == "mount":
            libc = ctypes.CDLL(None, use_errno=True)
            failed = libc.unshare(0x10000000 | 0x20000) or libc.mount(command[0].encode(), command[1].encode(), None, 4096, None)
            print(json.dumps({"errno": ctypes.get_errno() if failed else 0}), flush=True)
            continue
        if how == "kill":
            os.kill(request["pid"], request["signal"])
            print(json.dumps({}), flush=True)
            continue
        if how == "cancel":
            number, when = request.pop("signal"), request.pop("when", None)
            with subprocess.Popen(command, cwd=workdir, env=environment, stdout=subprocess.PIPE, **request) as process:
                process.stdout.readline()
                while when and not os.path.exists(when):
                    time.sleep(0.05)
                begin = time.monotonic()
                if number:
                    process.send_signal(number)
                process.wait()
                print(json.dumps({"status": process.returncode, "seconds": time.monotonic() - begin}), flush=True)
            continue
        if how == "shell":
            done = subprocess.run(command, shell=True, cwd=workdir, env=environment, capture_output=True, **request)
        elif how == "hoard":
            # What its children leave behind becomes its own, and it does not wait for that.
            ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
            done = subprocess.run(command, cwd=workdir, env=environment, capture_output=True, **request)
        elif how == "fork":
            # No vfork.
            done = subprocess.run(
                command, cwd=workdir, env=environment, capture_output=True, preexec_fn=os.setsid, **request
            )
        elif how == "nothing":
            done = subprocess.run(command, cwd=workdir, env=environment, stdin=subprocess.DEVNULL, capture_output=True, **request)
        elif how == "terminal":
            with open("/dev/tty", "rb") as terminal:
                done = subprocess.run(
                    command, cwd=workdir, env=environment, stdin=terminal, capture_output=True, **request
                )
        else:
            done = subprocess.run(command, cwd=workdir, env=environment, capture_output=True, **request)
        answer = {"status": done.returncode, "out": done.stdout.decode(), "err": done.stderr.decode()}
    except subprocess.TimeoutExpired as error:
        answer = {"timeout": True}
    except OSError as error:
        answer = {"errno": error.errno}
    print(json.dumps(answer), flush=True)
