# SPDX-License-Identifier: Apache-2.0
"""Runs cells in a kernel of its own as nbclient does for Jupyter: notebook.py KERNEL DIRECTORY CELL... with JUPYTER_PATH
leading to the kernel of that name. Prints a line per cell: what it wrote, or the error that ended it."""

import json
import sys

import nbformat
from nbclient import NotebookClient

kernel, directory, *cells = sys.argv[1:]
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
client = NotebookClient(
    notebook,
    kernel_name=kernel,
    timeout=600,
    startup_timeout=600,
    allow_errors=True,
    resources={"metadata": {"path": directory}},
)
# A kernel that was asked to leave is sent SIGTERM after half of this, 5 s by default: little where processors are emulated.
client.create_kernel_manager().shutdown_wait_time = 600
client.execute()
for cell in notebook.cells:
    texts = [
        output.get("text") or output.get("data", {}).get("text/plain") or f"{output.get('ename')}: {output.get('evalue')}"
        for output in cell.outputs
    ]
    print(json.dumps("".join(texts)))
