# SPDX-License-Identifier: Apache-2.0
"""docs/compared.md, made of what tests/compare/recorded.json says."""

import effects
import jobs
import sandboxes

INTRODUCTION = """<!-- SPDX-License-Identifier: Apache-2.0 -->
# Beside other sandboxes

The same thirty attacks and ten jobs under cordon and under what else people put around agents' code, in one virtual machine with Linux 6.12, as an
ordinary user with a home directory, other projects, other programs and services. Each attack succeeds there without a sandbox. Whether one did is
seen from outside: the file has changed, the service got the bytes, the process is there; not by what the attack was told.

`make compare` fetches what is compared, makes all of it again, and prints the tables (`tests/compare/run --record` writes this page, of
`tests/compare/recorded.json`, which `make lint` holds it to).
"""
WORDS = {"succeeded": "**succeeded**", "refused": "refused", "without effect": "no effect"}
BETTER = """## Where others are better

- **No root, no daemon, any kernel.** bubblewrap, sandlock, Codex's and Claude Code's (srt) sandboxes are started by anybody and need namespaces or Landlock;
  cordon needs a daemon of root's and a kernel with BPF-LSM, which many hosts have to be started with.
- **A place of its own.** bubblewrap, firejail and those built on bubblewrap show the code a file system, a `/tmp`, processes and a network of its own:
  what is not there need not be refused, and programs that want a `/dev/shm`, or a server on 127.0.0.1, find both. Under cordon's
  narrow policies a pool of Python's multiprocessing (its semaphores are files of `/dev/shm`) does not work, nor under any of these a web server on 127.0.0.1.
- **Domains.** srt, Codex and sandlock can let code reach hosts by name through a proxy that looks at requests; cordon decides by name and address
  when it connects, and sees no request: for that it takes [a proxy beside it](proxies.md). sandlock can also keep changes of the work directory back until somebody takes them.
- **Launches.** bubblewrap's is the cheapest, most of all once cordon's daemon is counted. Where root starts a command for a user (`--user`), that user
  is looked up wherever the host keeps users, which costs nearly as much again.
- **One setting for all.** Where cordon's narrow policies are used, each kind of job has its own.

What refusals leave behind is the other side: of all these only cordon writes down what was refused, to whom, and by which rule. "Recorded" is
a line where the code cannot reach it, in the sandbox's own log, the system's or the kernel's, that names what was attacked. For a connection, cordon's
record under these policies names the kind of socket, which is refused before there is a destination. What its filter for system calls refuses (io_uring)
is not on record, and neither is what was never there: an environment, an inherited descriptor.
"""


def names(found):
    return [sandbox.name for sandbox in sandboxes.SANDBOXES if sandbox.name in found]


def rows(head, lines):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(line) + " |" for line in lines)])


def attack_cell(said):
    return WORDS[said["outcome"]] + (", recorded" if said["recorded"] else "") if said else "?"


def tables(found):
    columns = names(found)
    others = [name for name in columns if name != "nothing"]
    of_attacks = [[attack.words + "; seen: " + attack.seen, *(attack_cell(found[name]["attacks"].get(attack.name)) for name in others)] for attack in effects.ATTACKS]
    for title, what in (("succeeded", "succeeded"), ("without effect", "without effect"), ("refused", "refused")):
        of_attacks.append([f"_{title}_", *(str(sum(said["outcome"] == what for said in found[name]["attacks"].values())) for name in others)])
    of_attacks.append(["_recorded_", *(str(sum(said["recorded"] for said in found[name]["attacks"].values())) for name in others)])
    of_jobs = [[job.words, *("works" if found[name]["jobs"].get(job.name, {}).get("works") else "**no**" for name in others)] for job in jobs.JOBS]
    parts = ["## Attacks\n", rows(["it", *others], of_attacks), "\n## Jobs\n", rows(["", *others], of_jobs)]
    if all("launch" in found[name] for name in columns):
        parts += ["\n## Launches\n", launches(found, columns)]
    return "\n".join(parts)


def launches(found, columns):
    plain = found.get("nothing", {}).get("launch", 0)
    lines = []
    for name in columns:
        said = found[name]
        words = {"besides": "{:,.0f} in the daemon", "by_root": "{:,.0f} by root, with `--user`", "within": "{:,.0f} from a Python that runs", "engine": "{:,.0f} in the engine's daemons and the kernel"}
        more = [text.format(said[key]) for key, text in words.items() if key in said]
        lines.append([name, f"{said['launch']:,.0f}", f"{said['launch'] / plain:.1f}" if plain else "", ", ".join(more)])
    return "CPU time of `true`, what starts it and their children, in microseconds of 1,000 guest instructions:\n\n" + rows(["", "", "times plain", "besides"], lines)


def failures(found):
    """Why jobs do not work, in the sandbox's or the job's own last words."""
    lines = [[name, job.words, said["why"].replace("|", "\\|")] for name in names(found) for job in jobs.JOBS if not (said := found[name]["jobs"].get(job.name, {"works": True}))["works"]]
    return "What jobs that do not work ended with:\n\n" + rows(["", "job", ""], lines)


def page(found):
    started = [[name, found[name].get("version", ""), f"`{sandboxes.BY_NAME[name].shown}`"] for name in names(found)]
    settings = "sandlock is a library: `tests/compare/in_sandlock.py` has its settings, those that its documentation begins with, a clean environment, 1 GB and 128 processes. srt's\n" \
        "are those of its documentation's example, without domains:\n\n```json\n" + sandboxes.settings() + "\n```\n\n" \
        "cordon's column has the policy that [policies.md](policies.md) names for the job, and `python-sandbox` for the attacks, which are Python; the next has one\n" \
        "policy for all, made for a coding agent's shell: it compiles and runs what it compiled, so a program that was dropped runs as well.\n"  # fmt: skip
    settings += "\nDocker has its default network and an image without programs; the host's `/usr` is mounted there read-only, so that each sandbox has the same programs.\n"
    return "\n".join([INTRODUCTION, tables(found), "", failures(found), "", BETTER, "## How each was started\n", rows(["", "version", "command"], started), "", settings])
