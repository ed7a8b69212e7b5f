# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A copy of examples/your-project, installed in a fresh environment, works and changes nothing in this checkout."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.outside import make_environment, run_outside
from tests.tree import ROOT

TEMPLATE = ROOT / "examples" / "your-project"
_COMMAND = "#!{python}\nfrom sfc_testbed.command import main\n\nmain()\n"
_BUILD_ENVIRONMENT = {"SETUPTOOLS_USE_DISTUTILS": "stdlib"}
"""Debian's setuptools 66, which reads the layout of its own distutils. Python 3.12 and later ignore the variable."""


def _done(folder: Path, *words: str | Path, **variables: Any) -> str:
    """Execute a command in a folder and return what it prints. It must succeed."""
    done = run_outside(folder, *words, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _repository(folder: Path) -> Path:
    """Copy the template's committed files into a git repository of its own."""
    shutil.copytree(TEMPLATE, folder, ignore=shutil.ignore_patterns("__pycache__", "runs", "build", "*.egg-info"))
    _done(folder, "git", "init", "--quiet")
    _done(folder, "git", "add", "--all")
    _done(folder, "git", "-c", "user.name=me", "-c", "user.email=me@example.org", "commit", "--quiet", "-m", "begin")
    return folder


def _environment(folder: Path) -> Path:
    """Make an environment that has this environment's packages and the testbed, and return its `bin`."""
    python, _ = make_environment(folder, ROOT, ROOT / "softswitch" / "src")
    command = folder / "bin" / "sfc-testbed"
    command.write_text(_COMMAND.format(python=python))
    command.chmod(0o755)
    return folder / "bin"


def _install(project: Path, programs: Path) -> None:
    """Install a package without the network. Skip the test if this environment cannot build one."""
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
    try:
        _done(project, programs / "python", "-m", "pip", "install", *options, project, **_BUILD_ENVIRONMENT)
    except AssertionError as error:
        if "invalid command 'bdist_wheel'" not in str(error):
            raise
        pytest.skip("building a package needs setuptools 70.1 or later, or the package wheel")


def _status_of_the_clone() -> str:
    """Return what git says about this checkout."""
    return _done(ROOT, "git", "status", "--porcelain") if (ROOT / ".git").exists() else ""


@pytest.mark.long
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_copy_of_the_repository_works_and_changes_nothing_in_the_clone(tmp_path: Path) -> None:
    before = _status_of_the_clone()
    project, programs = _repository(tmp_path / "project"), _environment(tmp_path / "env")
    _install(project, programs)

    listed = _done(tmp_path, programs / "sfc-testbed", "list")
    assert "training" in listed
    assert "3 passed" in _done(project, programs / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider")
    _done(project, programs / "sfc-testbed", "sweep", "sweep.yaml", "--workers", "2")
    results = pl.read_parquet(project / "runs" / "model-sizes" / "results.parquet")
    assert results["verdict"].to_list() == 12 * ["faithful"]
    assert results["quantity.job-time"].null_count() == 0

    assert _done(project, "git", "status", "--porcelain") == ""
    assert _status_of_the_clone() == before


def test_steps_of_its_ci_file_are_those_that_the_test_above_executes() -> None:
    steps = (TEMPLATE / ".github" / "workflows" / "ci.yml").read_text()
    runs = [line.partition("run: ")[2] for line in steps.splitlines() if "run: " in line]
    assert runs[1:] == [".venv/bin/pytest", ".venv/bin/sfc-testbed sweep sweep.yaml"]
    assert "pip install" in runs[0]
