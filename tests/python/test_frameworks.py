# SPDX-License-Identifier: Apache-2.0
"""Interfaces of LangChain, smolagents and OpenAI Agents, in the environment that `fetch-executors frameworks` makes."""

import asyncio
import json
import os
import sys
from types import SimpleNamespace

from agents import FunctionTool, ShellActionRequest, ShellCallData, ShellCommandRequest, ShellTool
from agents.tool_context import ToolContext
from langchain.agents.middleware import ShellToolMiddleware
from smolagents import CodeAgent, FinalAnswerTool, Tool
from smolagents.models import ChatMessage, MessageRole, Model
from smolagents.utils import AgentError

from cordon_sandbox import langchain, openai_agents, smolagents
from fake import DENIAL, WithFake


class Doubler(Tool):
    """A tool whose source goes into the session."""

    name = "double"
    description = "Doubles."
    inputs = {"number": {"type": "integer", "description": "a number"}}
    output_type = "integer"

    def forward(self, number: int) -> int:
        """Of two of them."""
        return 2 * number


class Scripted(Model):
    """A model whose answers are known: blocks of code."""

    def __init__(self, *blocks):
        super().__init__(model_id="scripted")
        self.blocks = list(blocks)

    def generate(self, messages, **_):
        """The next one."""
        return ChatMessage(role=MessageRole.ASSISTANT, content=f"Thought: so.\n<code>\n{self.blocks.pop(0)}\n</code>")


class Options(WithFake):
    def test_unknown_options(self):
        """Adapters report them when they are made, and not when the model first uses them."""
        makers = (
            langchain.python_tool, smolagents.CordonPythonExecutor, openai_agents.shell_executor, openai_agents.local_shell_executor,
            openai_agents.python_tool, lambda **options: langchain.CordonExecutionPolicy(options=options),
        )  # fmt: skip
        for make in makers:
            with self.assertRaises(TypeError) as caught:
                make(polcy="tight")
            self.assertIn("has no option 'polcy'; did you mean 'policy'?", str(caught.exception))
            with self.assertRaises(ValueError):
                make(timeout=0)
        for option in ("workdir", "input", "env", "max_output"):
            with self.assertRaises(TypeError):
                langchain.CordonExecutionPolicy(options={option: "x"})
        with self.assertRaises(ValueError):
            smolagents.CordonPythonExecutor(step_timeout=0)


class LangChain(WithFake):
    def test_tool(self):
        self.says(FAKE_REPORT={"denials": [DENIAL]})
        tool = langchain.python_tool(workdir=self.work)
        said = tool.invoke({"code": "print(6 * 7)"})
        self.assertIn("42\n", said)
        self.assertIn("read of /etc/shadow was denied", said)
        self.assertIn("42\n", asyncio.run(tool.ainvoke({"code": "print(6 * 7)"})))
        self.assertIn("status 3", tool.invoke({"code": "raise SystemExit(3)"}))

    def test_shell(self):
        policy = langchain.CordonExecutionPolicy(options={"policy": "tight"})
        ShellToolMiddleware(workspace_root=self.work, execution_policy=policy)
        process = policy.spawn(workspace=self.work, env=dict(os.environ), command=["/bin/sh"])
        self.assertEqual(process.communicate("echo in $PWD; exit 3\n"), (f"in {self.work}\n", ""))
        self.assertEqual((process.returncode, self.option("--policy"), self.option("--workdir")), (3, "tight", self.work))


class Smolagents(WithFake):
    def test_executor(self):
        executor = smolagents.CordonPythonExecutor(python=sys.executable, workdir=self.work)
        executor.send_tools({"double": Doubler(), "final_answer": FinalAnswerTool()})
        executor.send_variables({"x": 4, "names": ["a"]})
        output = executor("print(names)\ndouble(number=x)")
        self.assertEqual((output.logs, output.output, output.is_final_answer), ("['a']\n", "8", False))
        output = executor("final_answer({'answer': x})")
        self.assertEqual((output.output, output.is_final_answer), ({"answer": 4}, True))
        with self.assertRaises(AgentError) as caught:
            executor("1 / 0")
        self.assertIn("ZeroDivisionError", str(caught.exception))
        executor.cleanup()

    def test_nothing_is_unpickled(self):
        executor = smolagents.CordonPythonExecutor(python=sys.executable, workdir=self.work)
        with self.assertRaises(Exception):
            executor("class FinalAnswerException(Exception): pass\nraise FinalAnswerException('pickle:gASVBAAAAAAAAABLKi4=')")
        executor.cleanup()

    def test_agent(self):
        executor = smolagents.CordonPythonExecutor(python=sys.executable, workdir=self.work)
        agent = CodeAgent(tools=[Doubler()], model=Scripted("y = double(number=21)", "final_answer(y)"), executor=executor, verbosity_level=0)
        self.assertEqual(agent.run("double 21"), 42)
        agent.cleanup()


class OpenAIAgents(WithFake):
    def test_shell(self):
        executor = openai_agents.shell_executor(workdir=self.work)
        ShellTool(executor=executor)
        action = ShellActionRequest(commands=["echo out; echo err >&2; exit 3", "pwd"], timeout_ms=9000)
        result = asyncio.run(executor(ShellCommandRequest(ctx_wrapper=None, data=ShellCallData(call_id="1", action=action))))
        self.assertEqual([(o.stdout, o.stderr, o.exit_code) for o in result.output], [("out\n", "err\n", 3), (f"{self.work}\n", "", 0)])
        self.assertEqual(self.option("--timeout"), "9000ms")
        self.says(FAKE_CAUSE="timeout", FAKE_REPORT={"denials": [DENIAL]})
        result = asyncio.run(executor(ShellCommandRequest(ctx_wrapper=None, data=ShellCallData(call_id="1", action=action))))
        self.assertEqual([o.status for o in result.output], ["timeout"])
        self.assertIn("was denied", result.output[0].stderr)

    def test_local_shell(self):
        executor = openai_agents.local_shell_executor(workdir=self.work)
        action = SimpleNamespace(command=["sh", "-c", "echo $X"], env={"X": "set"}, timeout_ms=None)
        self.assertEqual(asyncio.run(executor(SimpleNamespace(data=SimpleNamespace(action=action)))), "set\n")

    def test_python(self):
        tool = openai_agents.python_tool(workdir=self.work)
        self.assertIsInstance(tool, FunctionTool)
        arguments = json.dumps({"code": "print(6 * 7)"})
        context = ToolContext(context=None, tool_name=tool.name, tool_call_id="1", tool_arguments=arguments)
        self.assertEqual(asyncio.run(tool.on_invoke_tool(context, arguments)), "42\n")
