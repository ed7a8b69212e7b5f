# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Shell scripts in the code are constants: paths and names reach programs as separate arguments, not in a script."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tree import ROOT

FOLDERS = "sfc_testbed hosts scenarios softswitch/src topologies"
MODULES = sorted(path for folder in FOLDERS.split() for path in (ROOT / folder).rglob("*.py"))
TESTBED = ROOT / "sfc_testbed" / "testbed"
MININET_SHELLS = (TESTBED / "live" / "emulation.py", TESTBED / "prompt" / "shell.py")
"""Modules that send commands to the shell of a Mininet node: `tc` with interface names and numbers of the testbed, and
commands that a user typed at the prompt for that node."""
SHELL_CALLS = ("system", "popen", "getoutput", "getstatusoutput", "create_subprocess_shell", "cmd", "sendCmd")


def _scripts(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the scripts in argument lists, which follow `sh -c` or `bash -c`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple):
            words = [word.value if isinstance(word, ast.Constant) else None for word in node.elts]
            for index, word in enumerate(words[:-2]):
                if word in ("sh", "bash") and words[index + 1] == "-c":
                    yield node.elts[index + 2]


def _is_fixed(script: ast.expr, tree: ast.Module) -> bool:
    if not isinstance(script, ast.Name):
        return isinstance(script, ast.Constant)
    values = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == script.id for target in node.targets)
    ]
    return bool(values) and all(isinstance(value, ast.Constant) for value in values)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_shells_get_fixed_text(module: Path) -> None:
    """Variable parts follow a script as arguments ("$@"). No other call starts a shell."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    assert all(_is_fixed(script, tree) for script in _scripts(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            assert not any(word.arg == "shell" for word in node.keywords)
            called = node.func.attr if isinstance(node.func, ast.Attribute) else None
            assert called not in SHELL_CALLS or module in MININET_SHELLS
