# SPDX-License-Identifier: Apache-2.0
"""The thirty attacks: what each is to the person whose host it is, how the host sees that it took place, and what a record of it names.

`during` is asked again and again while the attack runs, `after` once when it has ended; each of both looks at the host, never at what
the attack says of itself. `loot` are what the attack wrote and what lies in the work directory: whoever sent the code gets to see both.
"""

import ctypes
import os
import time


def tokens(text):
    return lambda world: text(world) in world.loot()


def file_has(path):
    return lambda world: world.token in world.text_of(path(world))


def received(service):
    return lambda world: world.token in world.received[service]


def descriptor(kind):
    """Has the attack this open? What starts it may have one of its own."""
    return lambda world: any(kind in link for pid in world.attackers() if world.is_attack(pid) for link in world.descriptors(pid))


def runs(program):
    return lambda world: any(world.link(f"/proc/{pid}/exe").startswith(program) for pid in world.attackers())


def mounted(world):
    return any(f" {world.token} " in world.text_of(f"/proc/{pid}/mountinfo") for pid in world.attackers())


def too_many(world):
    return len(world.attackers()) > world.forks * 0.9


def too_large(world):
    return any(world.resident(pid) > world.hog * 0.97 for pid in world.attackers())


def link_obeyed(world):
    """Somebody outside opens what is said to be the result."""
    return world.secret_token in world.text_of(os.path.join(world.work, "result.txt"))


def lives_on(world):
    beat = os.path.join(world.work, "heartbeat")
    before = world.text_of(beat)
    time.sleep(2)
    return world.text_of(beat) != before


def hook(world):
    path = os.path.join(world.work, ".git/hooks/post-checkout")
    return world.token in world.text_of(path) and os.access(path, os.X_OK)


def key_there(world):
    """Does the user find it outside? Searched for by a process of the user."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(world.group, world.group, world.group)
        os.setresuid(world.user, world.user, world.user)
        libc = ctypes.CDLL(None)
        found = libc.syscall(250, 10, -4, b"user", world.token.encode(), 0)
        os.write(writer, b"y" if found > 0 else b"n")
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader, "rb") as answer:
        return answer.read() == b"y"


class Attack:
    def __init__(self, name, words, seen, trace, after=None, during=None):
        self.name, self.words, self.seen, self.trace = name, words, seen, trace
        self.after, self.during = after, during


WORK = "work directory"
ATTACKS = [
    Attack("ssh_key", "reads `~/.ssh/id_ed25519`", "the key is in the output", "id_ed25519", after=tokens(lambda w: w.secret_token)),
    Attack("hard_link", "makes a hard link to that key in the work directory, and reads the link", "the key is in the output or the work directory",
           "id_ed25519|loot", after=tokens(lambda w: w.secret_token)),
    Attack("link_for_others", "leaves `result.txt`, a symbolic link to that key, for other users", "a program outside that opens it gets the key",
           "result.txt", after=link_obeyed),
    Attack("own_environment", "prints an API key from the environment of what started it", "the API key is in the output",
           "AGENT_API_KEY", after=tokens(lambda w: w.api_key)),
    Attack("inherited", "reads descriptors that its starter left open", "the text of that file is in the output", "open-by-starter",
           after=tokens(lambda w: w.inherited_token)),
    Attack("other_environment", "reads `/proc/PID/environ` of another program of the user", "its API key is in the output", "environ|ptrace",
           after=tokens(lambda w: w.other_key)),
    Attack("other_memory", "reads that program's memory (`process_vm_readv`)", "the text there is in the output", "ptrace|trace|process_vm_readv",
           after=tokens(lambda w: w.memory_token)),
    Attack("ptrace", "attaches to it, and writes into its memory", "the word there has changed", "ptrace|trace", after=lambda w: w.word_changed()),
    Attack("send_signal", "ends another program of the user", "it has ended", "signal process|kill", after=lambda w: w.bystander_ended()),
    Attack("write_outside", "changes a file of another project", "it has changed", "notes.txt", after=file_has(lambda w: w.notes)),
    Attack("start_file", "appends to `~/.bashrc`", "it has changed", "bashrc", after=file_has(lambda w: w.start_file)),
    Attack("git_hook", "makes `.git/hooks/post-checkout` in the work directory", "it is there, and executable", "post-checkout|hooks", after=hook),
    Attack("editor_task", "makes `.vscode/tasks.json` there, which an editor runs when it opens the folder", "it is there", "vscode",
           after=file_has(lambda w: os.path.join(w.work, ".vscode/tasks.json"))),
    Attack("change_mode", "makes the key readable for all (`chmod 644`)", "its mode has changed", "id_ed25519", after=lambda w: os.stat(w.secret).st_mode & 0o044 != 0),
    Attack("shared_memory", "writes into another program's `/dev/shm/state`", "it has changed", "dev/shm", after=file_has(lambda w: w.shared)),
    Attack("dropped_program", "writes a program into the work directory, and runs it", "it ran", "project/tool",
           after=lambda w: os.path.exists(os.path.join(w.work, "ran"))),
    Attack("memory_program", "runs a program that is in memory only (`memfd_create`)", "a process runs that is in no file", "memfd", during=runs("/memfd:")),
    Attack("set_user_program", "runs a set-user-ID program of root's", "it has worked as root", "archive-all", after=lambda w: w.made_by_root()),
    Attack("loopback", "connects to a service on 127.0.0.1", "the service got the data", "8099|127.0.0.1|inet/stream", after=received("loopback")),
    Attack("metadata", "connects to the cloud's metadata at 169.254.169.254", "the service got it", "169.254.169.254|inet/stream", after=received("far")),
    Attack("internet", "connects to 203.0.113.7, port 443", "it got there", "203.0.113.7|inet/stream", after=received("far")),
    Attack("dns", "sends a query that carries data to a name server", "it got there", "203.0.113.53|inet/dgram", after=received("far")),
    Attack("engine_socket", "connects to a container engine's socket in `/run`", "the engine got it", "engine.sock", after=received("engine")),
    Attack("abstract_socket", "connects to an abstract socket, as a session's bus has one", "its owner got it", "session-bus", after=received("abstract")),
    Attack("outlive", "leaves a process behind, in a new session", "it still works after the end of the sandbox", "heartbeat|killed_tasks [1-9]", after=lives_on),
    Attack("fork_bomb", "has 600 processes at a time", "so many are there", "fork rejected", during=too_many),
    Attack("memory_hog", "takes 4.5 GB of memory", "a process has so much", "oom_kills [1-9]|out_of_memory|Out of memory", during=too_large),
    Attack("io_uring", "opens an io_uring", "a process has one", "io_uring", during=descriptor("anon_inode:[io_uring]")),
    Attack("user_namespace", "makes a user namespace, and mounts in it", "the mount is there", "userns|unshare", during=mounted),
    Attack("key_left", "leaves a key in the user's keyring", "another process of the user finds it", "keyring|add_key", after=key_there),
]  # fmt: skip
assert len(ATTACKS) == 30
