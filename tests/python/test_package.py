# SPDX-License-Identifier: Apache-2.0
"""What the package consists of, and that it has nothing in common with PyPI's `cordon`."""

import ast
import email
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

import cordon_sandbox

FOLDER = os.path.dirname(cordon_sandbox.__file__)
MODULES = sorted(name[:-3] for name in os.listdir(FOLDER) if name.endswith(".py"))
ADAPTERS = {"autogen", "langchain", "openai_agents", "smolagents"}

# In the place of PyPI's package: whoever imports it by mistake fails.
OTHER = "raise ImportError('this is another project')\n"
IMPORTS = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(*sorted({module.partition(".")[0] for module in sys.modules}))
"""


class Package(unittest.TestCase):
    def test_syntax_of_the_oldest_python(self):
        for name in MODULES:
            with open(os.path.join(FOLDER, f"{name}.py"), encoding="utf-8") as file:
                ast.parse(file.read(), name, feature_version=(3, 9))

    def test_needs_the_standard_library_alone(self):
        """Nothing but an adapter imports a framework, and nothing imports a `cordon` that is also installed."""
        plain = [f"cordon_sandbox.{name}" for name in MODULES if name not in ADAPTERS]
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "cordon.py"), "w", encoding="ascii") as file:
                file.write(OTHER)
            environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{folder}:{os.path.dirname(FOLDER)}", "PYTHONDONTWRITEBYTECODE": "1"}
            done = subprocess.run([sys.executable, "-c", IMPORTS, *plain], env=environment, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            loaded = set(done.stdout.split())
            self.assertIn("cordon_sandbox", loaded)
            self.assertEqual(loaded & {"cordon", "autogen_core", "langchain_core", "smolagents", "agents", "pydantic"}, set())
            done = subprocess.run([sys.executable, "-c", "import cordon"], env=environment, capture_output=True, text=True, check=False)
            self.assertIn("this is another project", done.stderr)

    def test_adapters_import_nothing_of_another_cordon(self):
        """They cannot be imported here without their frameworks, so their imports are read."""
        for name in ADAPTERS:
            with open(os.path.join(FOLDER, f"{name}.py"), encoding="utf-8") as file:
                nodes = list(ast.walk(ast.parse(file.read())))
            found = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
            found += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
            self.assertNotIn("cordon", [module.partition(".")[0] for module in found], name)

    def test_all_is_there(self):
        for name in cordon_sandbox.__all__:
            self.assertTrue(hasattr(cordon_sandbox, name), name)

    def test_wheel(self):
        folder = os.path.join(os.environ["CORDON_TEST_BUILD"], "wheel")
        wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
        version = cordon_sandbox.__version__
        self.assertEqual(wheels, [f"cordon_sandbox-{version}-py3-none-any.whl"])
        with zipfile.ZipFile(os.path.join(folder, wheels[0])) as wheel:
            names, notes = set(wheel.namelist()), f"cordon_sandbox-{version}.dist-info/"
            packed = {name for name in names if not name.startswith(notes)}
            self.assertEqual(packed, {f"cordon_sandbox/{name}" for name in os.listdir(FOLDER) if name != "__pycache__"})
            for name in packed:
                with open(os.path.join(FOLDER, "..", name), "rb") as file:
                    self.assertEqual(wheel.read(name), file.read(), name)
            metadata = email.message_from_bytes(wheel.read(f"{notes}METADATA"))
            licences = [wheel.read(name) for name in names if name.startswith(notes) and os.path.basename(name) == "LICENSE"]
        self.assertEqual((metadata["Name"], metadata["Version"], metadata["Requires-Python"]), ("cordon-sandbox", version, ">=3.9"))
        self.assertEqual((metadata["License"], metadata["Requires-Dist"]), ("Apache-2.0", None))
        with open(os.path.join(FOLDER, "..", "README.md"), encoding="utf-8") as file:
            self.assertEqual(metadata.get_payload(decode=True).decode(), file.read())
        with open(os.path.join(FOLDER, "..", "..", "LICENSE"), "rb") as file:
            self.assertEqual(licences, [file.read()])
