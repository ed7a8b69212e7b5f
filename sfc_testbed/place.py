# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The folders of the package, in a clone and where it is installed."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parent
ROOT = PACKAGE.parent
"""The folder that contains the package: the top of a clone, or the environment's folder of packages."""
STORED = PACKAGE / "stored"
"""Stored results of the reproduction and of the validation."""


def is_clone() -> bool:
    """Return whether the package is used from a clone, which has documents, tests and `make`."""
    return (ROOT / "runner.py").is_file()


def shown(path: Path) -> str:
    """Return the real name of a file as messages print it: relative to the clone, or to the folder of packages."""
    real, root = path.resolve(), ROOT.resolve()
    return str(real.relative_to(root) if real.is_relative_to(root) else real)
