# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The strict type checks of a user, outside the tree, accept the examples and find an editable installation."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.outside import make_environment, run_outside
from tests.tree import ROOT

NOT_COPIED = shutil.ignore_patterns("__pycache__", "runs", "build", "*.egg-info")


def _done(folder: Path, *words: str | Path, **variables: Any) -> str:
    """Execute a command in a folder, and return what it prints."""
    done = run_outside(folder, *words, **variables)
    return done.stdout + done.stderr if done.returncode else done.stdout


@pytest.mark.long
def test_examples_pass_the_strict_checks_of_a_user(tmp_path: Path) -> None:
    python, _ = make_environment(tmp_path / "env", ROOT / "src", ROOT / "softswitch" / "src")
    user = tmp_path / "user"
    shutil.copytree(ROOT / "examples", user / "examples", ignore=NOT_COPIED)
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 10
    for number, block in enumerate(blocks):
        (user / f"of_the_page_{number}.py").write_text(block)
    (user / "wrong.py").write_text("import sfc_testbed as sfc\n\nsfc.run(scenario=3, schem='sfc')\n")
    words = ("-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}")
    files = [*sorted(user.glob("of_the_page_*.py")), *sorted((user / "examples").glob("*.py"))]
    project = user / "examples" / "your-project"
    printed = _done(user, python, *words, *files, project / "src", project / "tests")
    assert printed.startswith("Success: no issues found in "), printed
    refused = _done(user, python, *words, "wrong.py")
    assert re.search(r'Unexpected keyword argument "schem" for "run"', refused), refused
    assert "Found 2 errors" in refused


@pytest.mark.long
def test_editable_installation_is_a_path_with_the_package_alone(tmp_path: Path) -> None:
    """Type checkers follow paths, but not the import hooks of setuptools."""
    copy = tmp_path / "copy"
    (copy / "src").mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    (copy / "src" / "sfc_testbed").symlink_to((ROOT / "src" / "sfc_testbed").readlink())
    (copy / "sfc_testbed").mkdir()
    shutil.copy(ROOT / "sfc_testbed" / "__init__.py", copy / "sfc_testbed")
    python, packages = make_environment(tmp_path / "env")
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
    printed = _done(tmp_path, python, "-m", "pip", "install", *options, "-e", copy, SETUPTOOLS_USE_DISTUTILS="stdlib")
    if "bdist_wheel" in printed or "dist_info" in printed:
        pytest.skip("an editable installation needs setuptools 70.1 or later, or the package wheel")
    [path] = packages.glob("__editable__*.pth")
    assert path.read_text().strip() == str(copy / "src"), printed
    assert [entry.name for entry in (ROOT / "src").iterdir() if not entry.name.endswith(".egg-info")] == ["sfc_testbed"]
    assert (ROOT / "sfc_testbed" / "py.typed").is_file()
