# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Executes notebooks in a real kernel of Jupyter, where one is installed."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.outside import run_outside

needs_kernel = pytest.mark.skipif(
    not (importlib.util.find_spec("nbclient") and importlib.util.find_spec("ipykernel")),
    reason="no Jupyter kernel: .venv/bin/pip install '.[notebook]' installs one",
)
_SCRIPT = """
import sys, nbformat, nbclient
notebook = nbformat.reads(sys.stdin.read(), 4)
nbclient.NotebookClient(notebook, kernel_name="python3", timeout=280).execute()
print(nbformat.writes(notebook))
"""


def execute(notebook: str, folder: Path) -> Any:
    """Execute a notebook in a folder, and return it with the outputs of its cells. All cells must succeed."""
    done = run_outside(folder, sys.executable, "-c", _SCRIPT, text=notebook, timeout_s=290)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def outputs(cells: Sequence[str], folder: Path) -> list[list[Any]]:
    """Return the outputs of each cell of a notebook with these cells."""
    made: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "id": f"cell{number}",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": cell,
        }
        for number, cell in enumerate(cells)
    ]
    notebook = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return [cell["outputs"] for cell in execute(json.dumps(notebook), folder)["cells"]]
