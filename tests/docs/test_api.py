# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The examples of docs/api.md run as they are, and the page names everything that the package offers."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sfc_testbed as sfc
from tests.outside import run_outside
from tests.testbed import running
from tests.tree import ROOT

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
SECTIONS = {
    name: blocks
    for name, text in re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    if (blocks := re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
}
LIVE = "A live network"


def _typed(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code as a script in a folder outside the tree, without its path."""
    (folder / "mine.py").write_text(code)
    return run_outside(folder, sys.executable, "-W", "error", "mine.py")


@pytest.mark.parametrize("name", [name for name in SECTIONS if name != LIVE])
def test_example_runs_in_any_folder(name: str, tmp_path: Path) -> None:
    [code] = SECTIONS[name]
    done = _typed(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@running.needs_mininet
def test_live_example_runs_in_any_folder(tmp_path: Path) -> None:
    [code] = SECTIONS[LIVE]
    done = _typed(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"\[[\d.]+(, [\d.]+){6}\]\n", done.stdout)


def test_page_has_at_least_ten_examples() -> None:
    assert len(SECTIONS) >= 10


def test_page_names_every_function_and_exception() -> None:
    """Another page describes the names for extensions."""
    places = ("api.", "request.errors", "testbed.errors")
    names = [name for name, place in sfc._PLACES.items() if place.startswith(places)]
    assert len(names) > 10
    assert not [name for name in names if f"sfc.{name}" not in PAGE]


@pytest.mark.parametrize("function", [sfc.run, sfc.compare, sfc.sweep])
def test_functions_explain_their_errors(function: object) -> None:
    assert "UsageError" in str(inspect.getdoc(function)) or "errors as `run`" in str(inspect.getdoc(function))
