# SPDX-License-Identifier: Apache-2.0
"""AutoGen with cordon's executor: autogen_cordon.py WORK_DIR POLICY PYTHON SHELL. Prints a JSON line for each."""

import asyncio
import json
import sys

from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock

from cordon_sandbox.autogen import CordonCommandLineCodeExecutor


async def main(work_dir, policy, python, shell):
    executor = CordonCommandLineCodeExecutor(work_dir=work_dir, timeout=86400 // 4, options={"policy": policy, "binds": {"venv": sys.prefix}})
    await executor.start()
    for name, language, code in (("AutoGen", "python", python), ("AutoGen's shell", "bash", shell)):
        result = await executor.execute_code_blocks([CodeBlock(code=code, language=language)], CancellationToken())
        print(json.dumps([name, result.output]), flush=True)
    await executor.stop()


asyncio.run(main(*sys.argv[1:]))
