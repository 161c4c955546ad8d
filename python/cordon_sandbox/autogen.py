# SPDX-License-Identifier: Apache-2.0
"""AutoGen's local command line executor, each of whose blocks is an execution of its own."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import warnings
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Dict, List, Optional

from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock
from autogen_ext.code_executors._common import (
    PYTHON_VARIANTS,
    CommandLineCodeResult,
    get_file_name_from_content,
    lang_to_cmd,
    silence_pip,
)
from autogen_ext.code_executors.local import LocalCommandLineCodeExecutor
from autogen_ext.code_executors.local import LocalCommandLineCodeExecutorConfig as LocalConfig

from .execution import run_async
from .options import FOR_CALLERS, Options, check_options
from .result import Result

POLICY = "autogen-local"
TIMED_OUT, CANCELLED = 124, 125


class CordonCommandLineCodeExecutorConfig(LocalConfig):  # type: ignore[misc,unused-ignore]
    """As of LocalCommandLineCodeExecutor; `policy` by name or file."""

    policy: str = POLICY
    cordon: Optional[str] = None


class CordonCommandLineCodeExecutor(LocalCommandLineCodeExecutor):  # type: ignore[misc,unused-ignore]
    """In the place of LocalCommandLineCodeExecutor, with its parameters, and `options` of run().

    Under the shipped policy the virtual environment that the interpreter is of is bound as ${venv}. `last_results`: of
    the blocks that ran last, with what each was denied; that stands in the output, too, for the model."""

    component_config_schema = CordonCommandLineCodeExecutorConfig
    component_provider_override = "cordon_sandbox.autogen.CordonCommandLineCodeExecutor"
    SHELLS: ClassVar[List[str]] = ["bash", "shell", "sh"]

    def __init__(self, *args: Any, options: Optional[Options] = None, **parameters: Any) -> None:
        check_options("CordonCommandLineCodeExecutor", options or {}, without=FOR_CALLERS)
        with warnings.catch_warnings():
            # That it runs code on this host, unconfined.
            warnings.filterwarnings("ignore", message="Using LocalCommandLineCodeExecutor may execute code", category=UserWarning)
            super().__init__(*args, **parameters)
        self._options: Options = {"policy": POLICY, "executor": "autogen", **(options or {})}
        self.last_results: List[Result] = []

    def _run_options(self, language: str) -> Options:
        context, environment = self._virtual_env_context, dict(os.environ)
        if context is not None:
            environment["PATH"] = f"{os.path.abspath(context.bin_path)}{os.pathsep}{environment.get('PATH', os.defpath)}"
        options: Options = {
            "env": environment,
            "timeout": self._timeout,
            "workdir": self.work_dir.resolve(),
            "language": "python" if language == "python" else "shell",
            **self._options,
        }
        if options.get("policy") == POLICY and "venv" not in options.get("binds", {}):
            venv = os.path.abspath(context.env_dir) if context is not None else sys.prefix
            if context is not None or sys.prefix != sys.base_prefix:
                options["binds"] = {**options.get("binds", {}), "venv": os.path.realpath(venv)}
        return options

    def _command(self, language: str, file: Path) -> List[str]:
        if language != "python":
            return [lang_to_cmd(language), str(file)]
        context = self._virtual_env_context
        return [os.path.abspath(context.env_exe) if context is not None else sys.executable, str(file)]

    async def _setup_functions(self, cancellation_token: CancellationToken) -> None:
        wanted = sorted({package for function in self._functions for package in getattr(function, "python_packages", [])})
        if wanted:
            # pip, started in the work directory outside of all policies, would import what blocks have left there.
            raise ValueError(f"functions require {', '.join(wanted)}: install that where the interpreter finds it, and require nothing")
        (self.work_dir / f"{self._functions_module}.py").unlink(missing_ok=True)
        await super()._setup_functions(cancellation_token)

    async def _execute_code_dont_check_setup(
        self, code_blocks: List[CodeBlock], cancellation_token: CancellationToken
    ) -> CommandLineCodeResult:
        output, status = "", 0
        files: List[Path] = []
        self.last_results = []
        for block in code_blocks:
            language = block.language.lower()
            code = silence_pip(block.code, language)
            language = "python" if language in PYTHON_VARIANTS else language
            if language != "python" and language not in self.SHELLS:
                output, status = f"{output}\nunknown language {language}", 1
                break
            try:
                name = get_file_name_from_content(code, self.work_dir)
            except ValueError:
                return CommandLineCodeResult(exit_code=1, output="Filename is not in the workspace", code_file=None)
            if name is None:
                name = f"tmp_code_{sha256(code.encode()).hexdigest()}.{'py' if language == 'python' else language}"
            # Blocks write here, too: never through a link that one of them has left.
            file = self.work_dir.resolve() / name
            if os.path.lexists(file):
                os.unlink(file)
            with file.open("x", encoding="utf-8") as written:
                written.write(code)
            files.append(file)
            task = asyncio.ensure_future(run_async(self._command(language, file), **self._run_options(language)))
            cancellation_token.link_future(task)
            try:
                result = await task
            except asyncio.CancelledError:
                output, status = f"{output}\nCancelled", CANCELLED
                break
            self.last_results.append(result)
            output += result.stderr + result.stdout
            if result.denials:
                output += f"\n{result.explain()}\n"
            status = result.status
            if result.cause == "timeout":
                output, status = f"{output}\nTimeout", TIMED_OUT
            if status != 0:
                break
        if self._cleanup_temp_files:
            for file in files:
                try:
                    file.unlink(missing_ok=True)
                except OSError as error:
                    logging.error("Failed to delete temporary file %s: %s", file, error)
        return CommandLineCodeResult(exit_code=status, output=output, code_file=str(files[0]) if files else None)

    def _to_config(self) -> CordonCommandLineCodeExecutorConfig:
        known: Dict[str, Any] = super()._to_config().model_dump()
        policy = self._options.get("policy")
        if not isinstance(policy, (str, os.PathLike)):
            raise ValueError("only a policy that has a name or a file can be part of a configuration: Policy.write()")
        return CordonCommandLineCodeExecutorConfig(**known, policy=os.fspath(policy), cordon=self._options.get("cordon"))

    @classmethod
    def _from_config(cls, config: LocalConfig) -> CordonCommandLineCodeExecutor:
        known = config.model_dump()
        options: Options = {"policy": known.pop("policy", POLICY)}
        cordon = known.pop("cordon", None)
        if cordon is not None:
            options["cordon"] = cordon
        return cls(**known, options=options)
