# SPDX-License-Identifier: Apache-2.0
"""Frameworks with cordon's executors: frameworks_cordon.py WORK_DIR POLICY PYTHON SHELL. Prints a JSON line for each."""

import asyncio
import json
import sys

from agents import ShellActionRequest, ShellCallData, ShellCommandRequest
from smolagents import FinalAnswerTool

from cordon_sandbox import langchain, openai_agents, smolagents


def main(work_dir, policy, python, shell):
    def told(name, words):
        print(json.dumps([name, words]), flush=True)

    told("LangChain", langchain.python_tool(workdir=work_dir, policy=policy).invoke({"code": python}))
    executor = smolagents.CordonPythonExecutor(python=sys.executable, workdir=work_dir, policy=policy)
    executor.send_tools({"final_answer": FinalAnswerTool()})
    logs = executor(python).logs
    told("smolagents", logs + executor.close().explain())
    request = ShellCommandRequest(ctx_wrapper=None, data=ShellCallData(call_id="1", action=ShellActionRequest(commands=[shell])))
    result = asyncio.run(openai_agents.shell_executor(workdir=work_dir, policy=policy)(request))
    told("OpenAI's shell", result.output[0].stdout + result.output[0].stderr)


main(*sys.argv[1:])
