# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs commands as a user does who works outside the tree, and makes environments of Python for that user."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

_OF_TESTS = ("PYTHONPATH", "MYPYPATH", "PYTEST_ADDOPTS")
"""Variables that a user does not have."""


def run_outside(
    folder: Path, *words: str | Path, text: str | None = None, timeout_s: float = 280, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder with this text as its input, and return the result."""
    own = {name: value for name, value in os.environ.items() if name not in _OF_TESTS}
    command = [str(word) for word in words]
    return subprocess.run(
        command, cwd=folder, env={**own, **variables}, input=text, capture_output=True, text=True, timeout=timeout_s
    )


def make_environment(folder: Path, *paths: Path) -> tuple[Path, Path]:
    """Make an environment with this environment's packages and these paths. Return its Python and its packages."""
    run_outside(folder.parent, sys.executable, "-m", "venv", "--without-pip", folder).check_returncode()
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    others = [path for path in sys.path if path.endswith("-packages")]
    (packages / "more.pth").write_text("\n".join([*map(str, paths), *others]))
    return folder / "bin" / "python", packages
