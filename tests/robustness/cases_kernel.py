# SPDX-License-Identifier: Apache-2.0
"""Kernels that lack something. Each needs a boot of its own."""

import json
import os

from support import (
    NOTHING_RAN,
    PINS,
    SHELL_POLICY,
    WORK,
    case,
    check,
    cordon,
    equal,
    execution_cgroups,
    exists,
    finish,
    matches,
    no_daemons,
    processes_like,
    run,
    start,
    starts,
    unloaded,
    verify,
    wait_for,
)


def missing_features():
    result = cordon("doctor", "--json")
    return result.status, {f["name"]: f for f in json.loads(result.out)["features"] if f["state"] != "ok"}


def choose(name):
    if name == "no-bpf-lsm":
        case("no BPF LSM: cordon run refuses, and says what to do")(run_without_lsm)
        case("no BPF LSM: cordon doctor names the remedy")(doctor_without_lsm)
    else:
        case("no memory controller: cordon doctor says so")(doctor_without_memory)
        case("no memory controller: the run goes on, the record says what was not applied")(run_without_memory)
        case("no memory controller: a policy that asks for full coverage does not run")(full_coverage_without_memory)
        case("cordon disable: not while an execution is live, unless forced; then nothing is left")(disable)


def run_without_lsm():
    for _ in range(2):
        result = run("touch", "marker")
        equal(result.status, NOTHING_RAN, "exit status")
        matches(result.text, r"cannot enforce.*lsm=.*bpf", "standard error")
        check(not exists("marker"), "the command ran")
    equal(run("touch", "marker", options=["--observe"]).status, NOTHING_RAN, "exit status with --observe")
    check(not exists("marker"), "the command ran")
    no_daemons()
    equal(execution_cgroups(), [], "cgroups")
    check(not os.path.exists(PINS), f"{PINS} is there")
    result = cordon("status")
    equal(result.status, 1, f"cordon status ({result.out!r} {result.err!r})")


def doctor_without_lsm():
    result = cordon("doctor")
    equal(result.status, 1, "exit status")
    matches(result.out.decode(), r"missing.*to do: .*lsm=.*bpf.*cannot enforce on this host", "cordon doctor")
    status, missing = missing_features()
    equal(status, 1, "exit status with --json")
    check([f for f in missing.values() if f["state"] == "missing" and "bpf" in f["remedy"]], f"features: {missing}")


def doctor_without_memory():
    status, missing = missing_features()
    equal(status, 0, "exit status")
    equal(missing["memory controller"]["state"], "reduced", "memory controller")
    matches(missing["memory controller"]["remedy"], r"\S", "remedy")


def run_without_memory():
    result = run("sh", "-c", "echo in", options=["--memory", "64M"])
    equal((result.status, result.out, result.err), (0, b"in\n", b""), "the run")
    start = list(starts().values())[-1]
    matches(json.dumps(start["cordon"]["limits"]["missing"]), r"memory", "limits.missing")
    equal(start["cordon"]["limits"]["pids"] > 0, True, "the pids limit")
    result = cordon("run", "--policy", SHELL_POLICY, "--workdir", WORK, "--report", "r.json", "--", "true")
    equal(result.status, 0, "a run with a report")
    verify()


def full_coverage_without_memory():
    equal(missing_features()[1]["memory controller"]["gap"], True, "the gap")
    path = os.path.join(WORK, "full.yaml")
    with open(SHELL_POLICY, encoding="utf-8") as source, open(path, "w", encoding="utf-8") as file:
        file.write(source.read() + "\ncoverage: full\n")
    result = cordon("run", "--policy", path, "--workdir", WORK, "--", "touch", "marker")
    equal(result.status, NOTHING_RAN, "exit status")
    matches(result.text, r"full coverage.*memory controller.*cordon doctor", "standard error")
    check(not exists("marker"), "the command ran")


def disable():
    process = start("sh", "-c", "touch up; exec sleep 87654.4")
    wait_for(lambda: exists("up"), 20, "the command's start")
    result = cordon("disable")
    check(result.status != 0, "cordon disable with a live execution succeeded")
    check("--force" in result.text and WORK in result.text, f"cordon disable: {result.text}")
    result = cordon("disable", "--force")
    equal(result.status, 0, f"cordon disable --force ({result.text})")
    equal(finish(process), 137, "status of the run that was ended")
    equal(processes_like("sleep 87654.4"), [], "processes that survived")
    unloaded()
    verify()
