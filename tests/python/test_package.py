# SPDX-License-Identifier: Apache-2.0
"""What the package is made of."""

import ast
import os
import unittest
import zipfile

import cordon_sandbox as cordon

FOLDER = os.path.dirname(cordon.__file__)


class Package(unittest.TestCase):
    def test_syntax_of_the_oldest_python(self):
        for name in (name for name in os.listdir(FOLDER) if name.endswith(".py")):
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                ast.parse(file.read(), name, feature_version=(3, 9))

    def test_needs_the_standard_library_alone(self):
        """What `import cordon` brings: adapters are imported by those who have the framework."""
        import sys  # pylint: disable=import-outside-toplevel

        for framework in ("autogen_core", "langchain_core", "smolagents", "agents", "pydantic"):
            self.assertNotIn(framework, sys.modules)

    def test_all_is_there(self):
        for name in cordon.__all__:
            self.assertTrue(hasattr(cordon, name), name)

    def test_wheel(self):
        folder = os.path.join(os.environ["CORDON_TEST_BUILD"], "wheel")
        wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
        self.assertEqual(wheels, [f"cordon_sandbox-{cordon.__version__}-py3-none-any.whl"])
        with zipfile.ZipFile(os.path.join(folder, wheels[0])) as wheel:
            packed = {name for name in wheel.namelist() if name.startswith("cordon_sandbox/")}
            self.assertEqual(packed, {f"cordon_sandbox/{name}" for name in os.listdir(FOLDER) if name != "__pycache__"})
            for name in packed:
                with open(os.path.join(FOLDER, "..", name), "rb") as file:
                    self.assertEqual(wheel.read(name), file.read(), name)
