# SPDX-License-Identifier: Apache-2.0
"""cordon who: whose a process is, and whose a connection, as a proxy asks."""

import json
import os
import socket
import subprocess
import sys

from adopt_support import PYTHON
from support import wait_until

# Two executions under it: each tells its address, and stays.
POLICY = """version: 1
name: client
include: [runtime/linux, runtime/python3]
files:
  - {allow: [read, write, create, delete], paths: ["${workdir}/**"]}
network:
  - {allow: [connect], to: [127.0.0.1], protocols: [tcp, udp]}
"""
CLIENT = """import os, socket, sys
tcp, udp = socket.create_connection(('127.0.0.1', int(sys.argv[1]))), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.connect(('127.0.0.1', int(sys.argv[1])))
child = os.fork()
if child == 0:
    sys.stdin.read()
else:
    with open('said', 'w') as file:
        print(tcp.getsockname()[1], udp.getsockname()[1], child, file=file)
    os.rename('said', 'address')
    os.waitpid(child, 0)
"""


# One that resets its connection when it is told to, from a port that it chooses.
RESETTING = """import os, socket, struct, sys
tcp = socket.socket()
tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
tcp.bind(('127.0.0.1', int(sys.argv[2])))
tcp.connect(('127.0.0.1', int(sys.argv[1])))
tcp.sendall(b'POST /')
sys.stdin.readline()
tcp.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
tcp.close()
"""
SO_COOKIE = 57


def who(suite, *what):
    done = subprocess.run(
        [suite.daemon.cordon, "who", "--json", *what], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False
    )
    return done.returncode, [execution["id"] for execution in json.loads(done.stdout or "[]")], done.stderr


def asked(suite):
    suite.forget()
    server = socket.create_server(("127.0.0.1", 0))
    port, policy = server.getsockname()[1], suite.policy("client", POLICY)
    position, clients, places, accepted = len(suite.daemon.records()), [], [], []
    for agent in ("first", "second"):
        work = suite.work()
        command = [suite.daemon.cordon, "run", "--policy", policy, "--workdir", work, "--agent", agent, "--", PYTHON, "-c", CLIENT, str(port)]
        clients.append(subprocess.Popen(command, stdin=subprocess.PIPE))  # pylint: disable=consider-using-with
        path = os.path.join(work, "address")
        wait_until(lambda path=path, client=clients[-1]: os.path.exists(path) or client.poll() is not None, 300)
        with open(path, encoding="ascii") as file:
            places.append(file.read().split())
        accepted.append(server.accept())
    starts = [r["cordon"]["execution"] for r in suite.daemon.of("execution-start", position)]
    ids = [start["id"] for start in starts]
    suite.check("two executions are connected", len(ids) == 2 and len(set(ids)) == 2, starts)
    # What a proxy knows of a connection is where it comes from.
    answers = [who(suite, f"{peer[0]}:{peer[1]}") for _, peer in accepted]
    suite.check("a connection is its execution's", [answer[:2] for answer in answers] == [(0, [ids[0]]), (0, [ids[1]])], answers)
    answers = [who(suite, f"127.0.0.1:{place[1]}") for place in places]
    suite.check("so is a socket for datagrams", [answer[:2] for answer in answers] == [(0, [ids[0]]), (0, [ids[1]])], answers)
    answers = [who(suite, place[2]) for place in places]
    suite.check("and a process that it started", [answer[:2] for answer in answers] == [(0, [ids[0]]), (0, [ids[1]])], answers)
    text = subprocess.run([suite.daemon.cordon, "who", places[1][2]], capture_output=True, text=True, check=False).stdout
    suite.check("its agent and policy are told", "second" in text and "client" in text and ids[1] in text, text)
    for what, target in (("the server's end", f"127.0.0.1:{port}"), ("a process of the host", str(os.getpid())), ("no process", "4194303")):
        answer = who(suite, target)
        suite.check(f"{what} is no execution's", answer[0] == (1 if what == "no process" else 3) and not answer[1], answer)
    for client in clients:
        client.stdin.close()
        client.wait()
    answer = who(suite, places[0][2])
    suite.check("nor is it told of what has ended", answer[0] != 0 and not answer[1], answer)


def cookie_of(accepted):
    return str(int.from_bytes(accepted.getsockopt(socket.SOL_SOCKET, SO_COOKIE, 8), sys.byteorder))


def reset(suite):
    """A request stays readable after a reset, when another execution may have its address."""
    suite.forget()
    server = socket.create_server(("127.0.0.1", 0))
    port, own = server.getsockname()[1], 45679
    policy = suite.policy("resetting", POLICY + f"  - {{allow: [bind], to: [127.0.0.1], ports: [{own}]}}\n")
    ends, position = (f"127.0.0.1:{own}", f"127.0.0.1:{port}"), len(suite.daemon.records())

    def client(agent):
        command = [suite.daemon.cordon, "run", "--policy", policy, "--workdir", suite.work(), "--agent", agent]
        command += ["--", PYTHON, "-c", RESETTING, str(port), str(own)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE)  # pylint: disable=consider-using-with
        accepted = server.accept()[0]
        wait_until(lambda: accepted.recv(100, socket.MSG_PEEK), 300)
        return process, accepted

    def end(process):
        process.stdin.write(b"\n")
        process.stdin.close()
        process.wait()

    first, taken = client("first")
    cookie = cookie_of(taken)
    answers = [who(suite, *ends), who(suite, "--cookie", cookie, *ends)]
    ids = [r["cordon"]["execution"]["id"] for r in suite.daemon.of("execution-start", position)]
    suite.check("a connection is its execution's, with and without a cookie", [answer[:2] for answer in answers] == [(0, ids)] * 2, answers)
    end(first)
    answers = [who(suite, *ends), who(suite, "--cookie", cookie, *ends)]
    suite.check("after a reset it is nobody's", [answer[:2] for answer in answers] == [(3, [])] * 2, answers)
    suite.check("though its request can be read", taken.recv(100) == b"POST /")
    second, other = client("second")
    ids = [r["cordon"]["execution"]["id"] for r in suite.daemon.of("execution-start", position)]
    answer = who(suite, *ends)
    suite.check("by its address alone it is another's", answer[:2] == (0, ids[1:]), answer)
    answer = who(suite, "--cookie", cookie, *ends)
    suite.check("by its cookie it is nobody's", answer[:2] == (3, []), answer)
    answer = who(suite, "--cookie", cookie_of(other), *ends)
    suite.check("and the other one is the other's", answer[:2] == (0, ids[1:]), answer)
    answer = who(suite, "--cookie", "x", *ends)
    suite.check("what is no cookie is refused", answer[0] == 2 and "cookie" in answer[2], answer)
    other.shutdown(socket.SHUT_WR)
    end(second)


CHECKS = (asked, reset)
