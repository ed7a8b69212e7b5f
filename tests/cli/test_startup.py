# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the modules that a verb loads: listing names loads no plotting, data frames or network modules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from sfc_testbed.cli import verbs
from sfc_testbed.cli.app import VERBS, app_for
from sfc_testbed.scenarios.faults.kinds import FAULTS
from tests.changes.change import copy_of_tree, environment_of
from tests.tree import ROOT

HEAVY = {
    "matplotlib", "polars", "numpy", "scapy", "docker", "distributed", "dask", "mininet", "jinja2", "yaml", "iperf3",
}  # fmt: skip
OURS = {"analysis", "hosts", "softswitch", "telemetry", "reproduction"}
LIGHT = {"sfc_testbed.analysis", "sfc_testbed.analysis.terminal", "softswitch"}
"""Modules that import only rich or Python's library."""
SCRIPT = """
import json, sys
from sfc_testbed.cli.app import main
status = main(sys.argv[1:])
print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""


@pytest.mark.parametrize("word", ["list", "--help"])
def test_list_and_help_load_no_heavy_modules(word: str) -> None:
    """The test checks modules, because the time depends on the machine."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, word], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    status, modules = json.loads(done.stderr.splitlines()[-1])
    assert status == 0
    loaded = {name.removeprefix("sfc_testbed.").partition(".")[0] for name in modules if name not in LIGHT}
    assert "cli" in loaded
    assert not loaded & (HEAVY | OURS)
    assert "sfc" in done.stdout.lower() or "sweep" in done.stdout


def test_list_names_every_kind_of_fault(capsys: pytest.CaptureFixture[str]) -> None:
    """Users do not have to provoke an error to learn the names."""
    app_for(["list"])(["list"], standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines if line.strip()} >= set(FAULTS)


def test_the_table_has_every_verb() -> None:
    modules = {path.stem for path in Path(verbs.__path__[0]).glob("*.py")} - {"__init__"}
    assert modules == set(VERBS)
    assert all(callable(import_module(f"sfc_testbed.cli.verbs.{name}").verb) for name in modules)


def test_help_of_a_verb_lists_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    app_for(["sweep", "--help"])(["sweep", "--help"], standalone_mode=False)
    output = capsys.readouterr().out
    assert VERBS["sweep"].split(";")[0] in " ".join(output.split())
    assert "--scheduler" in output


@pytest.mark.root
def test_root_leaves_no_bytecode_in_the_tree_of_another_user(tmp_path: Path) -> None:
    """The owner could not remove root's folders, and `make clean` would fail."""
    tree = copy_of_tree(tmp_path)
    (tree / ".venv").symlink_to(ROOT / ".venv")
    for path in (tree, *tree.rglob("*")):
        os.chown(path, 1234, 1234, follow_symlinks=False)
    environment = environment_of(tree)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    words = [str(tree / "runner.py"), "list", "incast"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert [path for path in tree.rglob("__pycache__") if ".venv" not in path.parts] == []
