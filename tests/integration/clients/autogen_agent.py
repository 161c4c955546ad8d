# SPDX-License-Identifier: Apache-2.0
"""AutoGen's own local executor with blocks of code: autogen_agent.py WORK_DIR LANGUAGE CODE [LANGUAGE CODE]...
Prints a JSON line for each: exit code, output, file. WORK_DIR -: the one that AutoGen makes."""

import asyncio
import json
import sys
import warnings

from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock
from autogen_ext.code_executors.local import LocalCommandLineCodeExecutor

warnings.simplefilter("ignore")


async def main(work_dir, *words):
    executor = LocalCommandLineCodeExecutor(work_dir=None if work_dir == "-" else work_dir, timeout=120, cleanup_temp_files=False)
    await executor.start()
    for language, code in zip(words[::2], words[1::2]):
        blocks = [CodeBlock(code=code, language=language)]
        result = await executor.execute_code_blocks(blocks, CancellationToken())
        print(json.dumps([result.exit_code, result.output, result.code_file]), flush=True)
    await executor.stop()


asyncio.run(main(*sys.argv[1:]))
