# SPDX-License-Identifier: Apache-2.0
"""Bad input: a clear error, status 125, nothing ran, nothing is left."""

import errno
import glob
import os
import re
import socket
import subprocess

from support import (
    CORDON,
    LOG,
    NOTHING_RAN,
    PATIENCE,
    PINS,
    PROJECT,
    ROOT,
    SHELL_POLICY,
    SOCKET,
    WORK,
    action,
    case,
    check,
    cordon,
    daemon,
    daemons,
    equal,
    execute,
    exists,
    last_end,
    matches,
    read,
    records,
    run,
    verify,
    wait_for,
    write,
)

MARKER = ("touch", "marker")


def refused(result, pattern, marker="marker"):
    """Exit status 125, the reason on standard error alone, and the command did not run."""
    equal(result.status, NOTHING_RAN, f"exit status ({result.text.strip()[-400:]})")
    matches(result.text, pattern, "standard error")
    matches(result.text, r"\Acordon: ", "standard error")
    equal(result.out, b"", "standard output")
    check(not exists(marker), "the command ran")


# Before there is a daemon: what is wrong with the command line needs none.


@case("command line: errors are found without a daemon")
def command_lines():
    equal(daemons(), [], "daemons at the start")
    for arguments, pattern in (
        (["run"], r"no command is given"),
        (["run", "--"], r"no command is given"),
        (["run", "--", ""], r"no command is given"),
        (["run", "--polcy", "x", "--", *MARKER], r"--polcy.*did you mean '--policy'"),
        (["run", "--policy"], r"'--policy' needs a value"),
        (["run", "--policy", "", "--", *MARKER], r"--policy is empty"),
        (["run", "--observe=yes", "--", *MARKER], r"takes no value"),
        (["run", "--session", b"\xff\xfe", "--", *MARKER], r"--session is not UTF-8"),
        (["run", "--user", "nobody-of-that-name", "--", *MARKER], r"nobody-of-that-name"),
        (["run", "--bind", "x", "--", *MARKER], r"--bind takes NAME=DIR"),
        (["run", "--bind", "home=/srv", "--", *MARKER], r"\$\{home\} is bound by cordon"),
        (["run", "--bind", "x=/nowhere", "--", *MARKER], r"/nowhere"),
        (["run", "--", "no-such-language-tool"], r"which policy\?.*--policy"),
    ):
        refused(cordon(*arguments), pattern)
    for value in ("-1", "0", "abc", "1x", "", "1e9", "0s", "99999999999999999999", "1.5.5s", "10 s", "9999999999h"):
        refused(cordon("run", "--timeout", value, "--policy", SHELL_POLICY, "--", *MARKER), r"--timeout")
    for option, value in (
        ("--memory", "-5M"),
        ("--memory", "5X"),
        ("--pids", "1.5"),
        ("--pids", "-1"),
        ("--cpu", "fast"),
        ("--cpu-time", "0"),
        ("--open-files", "many"),
        ("--file-size", "99999999999T"),
        ("--address-space", "%"),
    ):
        refused(cordon("run", option, value, "--policy", SHELL_POLICY, "--", *MARKER), re.escape(option))
    equal(daemons(), [], "daemons")
    check(not os.path.exists(SOCKET), "there is a control socket")
    check(not os.path.exists(PINS), "enforcement is loaded")


def as_nobody(*arguments):
    return execute(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", CORDON, *arguments], cwd="/")


@case("not root, without a daemon: says so and starts none")
def not_root_alone():
    result = as_nobody("run", "--policy", SHELL_POLICY, "--workdir", WORK, "--", *MARKER)
    refused(result, r"only root can start one.*(systemctl|as root)")
    equal(daemons(), [], "daemons")
    for command in (["disable"], ["daemon"]):
        result = as_nobody(*command)
        check(result.status != 0, f"cordon {command[0]} as nobody succeeded")
        matches(result.text, r"root", f"cordon {command[0]}")


@case("work directory: what is none is found before a daemon is started")
def workdir_none():
    write("file", "")
    os.symlink(WORK, os.path.join(WORK, "link"))
    os.mkfifo(os.path.join(WORK, "fifo"))
    gone = os.path.join(ROOT, "gone")
    for path, pattern in (
        ("nowhere", r"work directory nowhere does not exist"),
        ("", r"--workdir is empty"),
        ("file", r"work directory file.*[Nn]ot a directory"),
        ("fifo", r"work directory fifo.*[Nn]ot a directory"),
        ("link", r"work directory link.*symbolic link"),
        ("link/", r"symbolic link|work directory"),
        ("/proc/self/cwd", r"symbolic link"),
        ("x" * 5000, r"cannot open the work directory xxx"),
    ):
        refused(cordon("run", "--policy", SHELL_POLICY, "--workdir", path, "--", *MARKER), pattern)
    os.makedirs(gone, exist_ok=True)
    shell = f'cd {gone}; rmdir {gone}; exec {CORDON} run --policy {SHELL_POLICY} -- touch {WORK}/marker'
    refused(execute(["sh", "-c", shell]), r"work directory \. was removed")
    equal(daemons(), [], "daemons")


@case("report file: what cannot be written is found before a daemon is started")
def report_unwritable():
    os.mkdir(os.path.join(WORK, "directory"))
    os.symlink("/etc/passwd", os.path.join(WORK, "link"))
    os.symlink("/etc", os.path.join(WORK, "etc"))
    os.mkfifo(os.path.join(WORK, "fifo"))
    before = open("/etc/passwd", "rb").read()
    for path, pattern in (
        ("nowhere/report", r"report file nowhere/report.*No such file"),
        ("directory", r"report file directory.*[Ii]s a directory"),
        ("directory/", r"report file directory/.*[Ii]s a directory"),
        ("link", r"symbolic link"),
        ("etc/report", r"etc/ is a symbolic link to '/etc'"),
        ("fifo", r"report file fifo is no regular file"),
        ("/proc/report", r"report file /proc/report"),
        ("x" * 300, r"too long"),
    ):
        refused(run(*MARKER, options=["--report", path]), pattern)
    equal(open("/etc/passwd", "rb").read(), before, "the link's target")
    equal(daemons(), [], "daemons")


# The first run starts the daemon; those that follow share it.


@case("the first run starts one daemon")
def first_run():
    result = run("sh", "-c", "echo out; echo err >&2; exit 3")
    equal((result.status, result.out, result.err), (3, b"out\n", b"err\n"), "the first run")
    daemon()
    print(f"    started within {result.seconds:.1f} s")
    equal(last_end()["cordon"]["end"]["cause"], "exited", "cause")


@case("one run plants a link, and what the next run names leads nowhere through it")
def planted():
    other = os.path.join(ROOT, "elsewhere")
    os.makedirs(os.path.join(other, "below"), exist_ok=True)
    # Others let no link lead out.
    lenient = os.path.join(PROJECT, "policies", "build-c.yaml")
    planted = run("sh", "-c", f"ln -s {other} proj && mkdir real && ln -s {other} real/proj", policy=lenient)
    equal(planted.status, 0, f"the first run ({planted.text})")
    for options in (
        ("--workdir", "proj/below"),
        ("--workdir", os.path.join(WORK, "real/proj/below")),
        ("--workdir", "real/../proj/below/."),
        ("--bind", "data=proj/below"),
        ("--report", "proj/report"),
        ("--report", "proj/below/../report"),
        ("--log", os.path.join(WORK, "proj/below")),
        ("--log", os.path.join(WORK, "proj/new")),
    ):
        refused(run("sh", "-c", "touch marker below-marker", options=options), r"proj(/|, which) is a symbolic link to")
    equal(sorted(os.listdir(other)), ["below"], "elsewhere")
    equal(os.listdir(os.path.join(other, "below")), [], "elsewhere, below")


@case("report file: its name leads to this run's report, whatever the code has put there meanwhile")
def report_swapped():
    os.mkdir(os.path.join(WORK, "reports"))
    forge = "mv reports old && mkdir reports && echo forged >reports/r.json; cat /etc/shadow"
    result = run("sh", "-c", forge, options=("--report", "reports/r.json"))
    check(b"/etc/shadow" in read("reports/r.json"), f"the report is {read('reports/r.json')[:200]} ({result.text})")
    result = run("sh", "-c", "mv reports kept; ln -s kept reports; true", options=("--report", "reports/r.json"))
    matches(result.text, r"cannot write the report file reports/r.json.*not this run's report", "standard error")


@case("not root, with a daemon: refused")
def not_root_with_daemon():
    result = as_nobody("run", "--policy", SHELL_POLICY, "--workdir", WORK, "--", *MARKER)
    refused(result, r"[Pp]ermission denied|root")


HEAD = "version: 1\nname: t\n"
POLICIES = (
    # title, content, what standard error says beside the path
    ("empty", "", r"p\.yaml.*empty"),
    ("only comments", "# nothing\n\n", r"p\.yaml.*empty"),
    ("only a null", "---\n~\n", r"p\.yaml:2:1"),
    ("huge", "# " + "x" * 100 + "\n", r"p\.yaml.*(large|big|MiB|bytes)"),
    ("huge line", "name: " + "x" * (3 << 20) + "\n", r"p\.yaml.*(large|big|MiB|bytes)"),
    ("an ELF program", None, r"p\.yaml"),
    ("NUL bytes", "version: 1\0\0\n", r"p\.yaml:1:"),
    ("bad UTF-8", b"version: 1\nname: \xff\xfe\n", r"p\.yaml:2:"),
    ("not YAML: unclosed", HEAD + "files: [\n", r"p\.yaml:\d+:\d+: error"),
    ("not YAML: tab", HEAD + "files:\n\t- x\n", r"p\.yaml:4:1: error"),
    ("prose", "Dear policy, please allow everything: thanks: a lot.\n", r"p\.yaml:1:"),
    ("a list", "- version\n- name\n", r"p\.yaml:1:1: error"),
    ("a number", "42\n", r"p\.yaml:1:1: error"),
    ("wrong type: files", HEAD + "files: 3\n", r"p\.yaml:3:8: error.*files"),
    ("wrong type: allow", HEAD + "files:\n  - {allow: {}, paths: [/x]}\n", r"p\.yaml:4:\d+: error"),
    ("wrong type: limit", HEAD + "limits: {wall: banana}\n", r"p\.yaml:3:16: error.*banana"),
    ("wrong type: version", "version: one\nname: t\n", r"p\.yaml:1:10: error.*version"),
    ("unknown version", "version: 2\nname: t\n", r"p\.yaml:1:10: error.*version"),
    ("no version", "name: t\n", r"p\.yaml.*version"),
    ("unknown key", HEAD + "fils: []\n", r"p\.yaml:3:1: error.*fils.*files"),
    ("unknown key in a rule", HEAD + "files:\n  - {alow: [read], paths: [/x]}\n", r"p\.yaml:4:6: error.*alow.*allow"),
    ("unknown right", HEAD + "files:\n  - {allow: [raed], paths: [/x]}\n", r"p\.yaml:4:\d+: error.*raed"),
    ("key given twice", HEAD + "mode: enforce\nmode: observe\n", r"p\.yaml:4:1: error.*mode"),
    ("negative limit", HEAD + "limits: {pids: -1}\n", r"p\.yaml:3:16: error"),
    ("includes itself", HEAD + "include: [./p.yaml]\n", r"p\.yaml:3:11: error.*include"),
    ("includes what is missing", HEAD + "include: [nowhere/at-all]\n", r"p\.yaml:3:11: error.*nowhere/at-all"),
    ("includes a list", HEAD + "include: {a: b}\n", r"p\.yaml:3:10: error"),
    ("unclosed variable", HEAD + 'files:\n  - {allow: [read], paths: ["${workdir"]}\n', r"p\.yaml:4:\d+: error"),
    ("relative path", HEAD + "files:\n  - {allow: [read], paths: [etc/x]}\n", r"p\.yaml:4:\d+: error.*etc/x"),
    ("alias bomb", "a: &a [x,x,x,x,x,x,x,x,x]\n"
     + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)), r"p\.yaml"),
    ("deep nesting", HEAD + "files: " + "[" * 20000 + "]" * 20000 + "\n", r"p\.yaml:3:"),
)


def bad_policy(title, content, pattern):
    @case(f"policy: {title}")
    def one():
        text = content
        if title == "huge":
            text = HEAD + content * (2 << 20 >> 6)
        elif text is None:
            text = open("/bin/true", "rb").read()
        write("p.yaml", text)
        result = run(*MARKER, policy="./p.yaml")
        refused(result, pattern)
        check(len(result.err) < 20000, f"{len(result.err)} bytes on standard error")
        check(b"\0" not in result.err and b"\x1b" not in result.err, "control characters on standard error")
        result = cordon("policy", "check", "./p.yaml")
        equal(result.status, 1, f"cordon policy check ({result.text.strip()[-300:]})")
        matches((result.out + result.err).decode("utf-8", "replace"), pattern, "cordon policy check")


for row in POLICIES:
    bad_policy(*row)


@case("policy: includes in a circle")
def circle():
    write("a.yaml", HEAD + "include: [./b.yaml]\n")
    write("b.yaml", "include: [./c.yaml]\n")
    write("c.yaml", "include: [./a.yaml]\n")
    refused(run(*MARKER, policy="./a.yaml"), r"c\.yaml:1:11: error.*include")


@case("policy: missing, a directory, a FIFO, a socket, a device, a dangling link, unreadable")
def unreadable():
    os.mkdir(os.path.join(WORK, "dir.yaml"))
    os.mkfifo(os.path.join(WORK, "fifo.yaml"))
    os.symlink("nowhere", os.path.join(WORK, "dangling.yaml"))
    os.symlink("/dev/zero", os.path.join(WORK, "zero.yaml"))
    os.symlink("/dev/tty", os.path.join(WORK, "tty.yaml"))
    # Opens, but cannot be read: what an unreadable disk answers.
    os.symlink("/proc/self/mem", os.path.join(WORK, "eio.yaml"))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.join(WORK, "sock.yaml"))
        for name, pattern in (
            ("missing.yaml", r"No such file"),
            ("dir.yaml", r"directory|regular"),
            ("fifo.yaml", r"regular|FIFO"),
            ("sock.yaml", r"No such device|regular"),
            ("zero.yaml", r"regular|large"),
            ("tty.yaml", r"No such device|regular|large"),
            ("dangling.yaml", r"No such file"),
            ("eio.yaml", r"Input/output error|regular|read|empty"),
            ("nowhere/p.yaml", r"No such file"),
            ("p.yaml/" + "x" * 300, r"No such file|too long|Not a directory"),
        ):
            result = run(*MARKER, policy="./" + name)
            refused(result, pattern)
            check(name[:40] in result.text, f"standard error does not name {name}: {result.text}")


@case("policy: unknown name, with where it was looked for and what is near")
def unknown_policy():
    refused(run(*MARKER, policy="no-such-policy"), r"no-such-policy.*/etc/cordon/policies")
    refused(run(*MARKER, policy="../../etc/passwd"), r"passwd")
    for name in ("..", ".", "a\nb", "\x1b[31mred", "x" * 4000):
        result = run(*MARKER, policy=name)
        refused(result, r"cordon: ")
        check("\x1b" not in result.text, "an escape sequence on standard error")


@case("policy: refusals are on record")
def refusal_recorded():
    run(*MARKER, policy="no-such-policy")
    agent = os.path.join("/var/log/cordon")
    wait_for(
        lambda: any(
            action(r) == "execution-refused" and r["cordon"]["policy"]["name"] == "no-such-policy"
            for r in records(LOG) + records(agent)
        ),
        3,
        "an execution-refused record",
    )


@case("work directory: the system's and people's own are refused")
def workdir_refused():
    tree = os.path.join(ROOT, "tree")
    os.makedirs(tree, exist_ok=True)
    for path, pattern in (
        ("/", r"work directory.* /"),
        ("/root", r"/root"),
        ("/home", r"/home"),
        ("/etc", r"/etc"),
        ("/etc/ssl", r"/etc"),
        ("/usr", r"/usr"),
        ("/usr/bin", r"/usr/bin"),
        ("/bin/", r"/usr/bin|/bin|symbolic"),
        ("/tmp", r"/tmp"),
        ("/var", r"/var"),
        ("/proc", r"/proc"),
        ("/proc/self/task", r"/proc"),
        ("/sys/fs/cgroup", r"/sys"),
        ("/dev/shm/..", r"/dev"),
        ("/run/cordon", r"/run/cordon"),
        ("/run/cordon/executions", r"/run/cordon"),
        (LOG, r"cordon's own|log"),
        ("/var/spool/../../root", r"/root"),
    ):
        result = execute([CORDON, "run", "--policy", SHELL_POLICY, "--workdir", path, "--log", LOG, "--", *MARKER])
        refused(result, pattern)
        check(not os.path.exists(os.path.join(path, "marker")), f"the command ran in {path}")


@case("work directory: odd names work")
def workdir_odd():
    for name in ("with space", "new\nline", "ünïcode", "-dash", "per%cent${workdir}", "d" * 200):
        path = os.path.join(WORK, name)
        os.makedirs(path)
        result = execute(
            [CORDON, "run", "--policy", SHELL_POLICY, "--workdir", path, "--log", LOG, "--", "sh", "-c", "pwd; echo x >f"]
        )
        equal((result.status, result.out.decode()), (0, path + "\n"), f"a run in {name!r} ({result.text})")
        equal(read(os.path.join(name, "f")), b"x\n", "what it wrote")
    verify()


@case("work directory: not for the user that is to run there")
def workdir_closed():
    os.chmod(WORK, 0o700)
    result = run(*MARKER, options=["--user", "65534:65534"])
    refused(result, r"user 65534 may not enter the work directory")
    os.chmod(WORK, 0o755)


@case("limits: the command line lowers, and cannot raise")
def raising():
    for option, value in (
        ("--timeout", "1h"),
        ("--memory", "64G"),
        ("--pids", "100000"),
        ("--cpu", "6400%"),
        ("--open-files", "1000000"),
        ("--file-size", "1T"),
    ):
        refused(run(*MARKER, options=[option, value]), rf"{option} \S+ is more than the policy's \S+;.*only lower")
    equal(run("true", options=["--timeout", "20s", "--pids", "20", "--memory", "128M"]).status, 0, "lowered limits")
    refused(run(*MARKER, options=["--bind", f"data={WORK}"]), r"shell-sandbox has no directory \$\{data\}")


def log_run(directory, *command):
    return execute([CORDON, "run", "--policy", SHELL_POLICY, "--workdir", WORK, "--log", directory, "--", *command])


@case("log directory: a file, below a file, not writable")
def log_unwritable():
    write("file", "text")
    refused(log_run("file", *MARKER), r"file.*[Nn]ot a directory")
    equal(read("file"), b"text", "the file")
    refused(log_run("file/below", *MARKER), r"file/below.*[Nn]ot a directory")
    refused(log_run("/proc/log", *MARKER), r"/proc/log")
    refused(log_run("/sys/kernel/log", *MARKER), r"/sys/kernel/log")


def mounted(name, options):
    path = os.path.join(ROOT, name)
    os.makedirs(path, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", path], check=True)
    return path


@case("log directory: on a read-only file system")
def log_read_only():
    path = mounted("ro", "size=4M,ro")
    try:
        refused(log_run(path, *MARKER), rf"{path}.*[Rr]ead-only")
        refused(log_run(os.path.join(path, "new"), *MARKER), r"[Rr]ead-only")
        refused(run(*MARKER, options=["--report", os.path.join(path, "r.json")]), r"report file.*[Rr]ead-only")
    finally:
        subprocess.run(["umount", path], check=True)


def fill(path):
    fd = os.open(os.path.join(path, "filler"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        while True:
            os.write(fd, b"x" * 65536)
    except OSError as error:
        equal(error.errno, errno.ENOSPC, f"filling {path}")
    finally:
        os.close(fd)


@case("log directory: full")
def log_full():
    path = mounted("full", "size=4M")
    try:
        equal(log_run(path, "true").status, 0, "a run while there is room")
        fill(path)
        for _ in range(2):
            refused(log_run(path, *MARKER), rf"{path}.*No space left.*make room")
        os.unlink(os.path.join(path, "filler"))
        equal(log_run(path, "true").status, 0, "a run once there is room again")
        verify(path)
    finally:
        unmount(path)


def unmount(path):
    """The daemon closes a log that nobody uses."""
    wait_for(lambda: subprocess.run(["umount", path], stderr=subprocess.DEVNULL).returncode == 0, 5, f"umount {path}")


@case("log directory: fills up during a run, and nothing is lost silently")
def log_fills():
    path = mounted("filling", "size=4M")
    try:
        process = subprocess.Popen(
            [CORDON, "run", "--policy", SHELL_POLICY, "--workdir", WORK, "--log", path, "--",
             "sh", "-c", "touch up; while [ ! -e go ]; do sleep 0.05; done; cat /etc/shadow; exit 5"],
            cwd=WORK, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        wait_for(lambda: exists("up"), 20, "the run's start")
        fill(path)
        write("go", "")
        process.communicate(timeout=PATIENCE)
        equal(process.returncode, 5, "exit status")
        os.unlink(os.path.join(path, "filler"))
        wait_for(lambda: any(action(r) == "execution-end" for r in records(path)), 5, "the end record")
        verify(path)
        check("denial" in map(action, records(path)), f"no denial: {list(map(action, records(path)))}")
    finally:
        unmount(path)


def is_open(path):
    """Does any process have the file open?"""
    for link in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if os.readlink(link) == path:
                return True
        except OSError:
            continue
    return False


@case("log directory: moved away and damaged ones")
def log_damaged():
    path = os.path.join(ROOT, "damaged")
    equal(log_run(path, "true").status, 0, "a run with a log of its own")
    current = os.path.join(path, "current.jsonl")

    def damage(how, text):
        # A writer that still has the log open goes on with it as it knows it.
        wait_for(lambda: not is_open(current), 5, "the log's writer to close it")
        with open(current, how) as file:
            file.write(text)

    damage("ab", b'{"seq":3,"half a rec')
    equal(log_run(path, "true").status, 0, "a run after a torn record")
    equal(cordon("log", "verify", "--log", path).status, 0, "verify after the repair")
    damage("wb", b"this is no log\n")
    result = log_run(path, *MARKER)
    refused(result, rf"{path}")
    equal(open(current, "rb").read(), b"this is no log\n", "the file that is no log")


@case("readers: bad input to events, show, log verify, policy check, status, kill")
def readers():
    for arguments in (
        ["show", "no-such-id"],
        ["show", "last", "--log", "/nowhere"],
        ["events", "--log", "/nowhere"],
        ["events", "--nonsense"],
        ["log", "verify", "--log", "/nowhere"],
        ["log", "nonsense"],
        ["log"],
        ["policy", "check", "/nowhere.yaml"],
        ["policy"],
        ["status", "extra"],
        ["doctor", "--nonsense"],
        ["nonsense"],
        [],
    ):
        result = cordon(*arguments)
        check(result.status != 0, f"cordon {arguments} succeeded")
        check(result.status < 126, f"cordon {arguments}: status {result.status}")
        check(result.err.strip(), f"cordon {arguments} says nothing on standard error")
