# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest: AutoGen's own tests of its local executor get cordon's, under the policy that CORDON_POLICY names."""

import os
import sys

import autogen_ext.code_executors.local as local

from cordon_sandbox.autogen import CordonCommandLineCodeExecutor


class Substitute(CordonCommandLineCodeExecutor):
    """As tests construct it."""

    component_provider_override = "autogen_substitute.Substitute"

    def __init__(self, *args, **parameters):
        policy = os.environ["CORDON_POLICY"]
        context = parameters.get("virtual_env_context")
        venv = os.path.realpath(context.env_dir if context else sys.prefix)
        super().__init__(*args, **{"options": {"policy": policy, "binds": {"venv": venv}}, **parameters})


local.LocalCommandLineCodeExecutor = Substitute
