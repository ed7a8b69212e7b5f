# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The folders of the package, in a clone and where it is installed, and the commands that messages name there."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent
ROOT = PACKAGE.parent
"""The folder that contains the package: the top of a clone, or the environment's folder of packages."""
STORED = PACKAGE / "stored"
"""Stored results of the reproduction and of the validation."""
NAME = "sfc-testbed"
"""The name of the command where the package is installed."""
TEMPORARY = "sfc-testbed-"
"""The beginning of the names of temporary folders."""


@cache
def is_clone() -> bool:
    """Return whether the package is used from a clone, which has documents, tests and `make`."""
    return (ROOT / "runner.py").is_file()


def program() -> str:
    """Return the name of the command's program, with which its messages begin."""
    return "runner.py" if is_clone() else NAME


def command_name() -> str:
    """Return the command as a person types it."""
    return "./runner.py" if is_clone() else NAME


def typed_here(command: str) -> str:
    """Return a stored command, which may be from a clone or from an installation, as a person types it here."""
    return f"{command_name()} {command.partition(' ')[2]}"


def command_as_root() -> str:
    """Return the command as a person types it with sudo, which may not search the folder of an environment."""
    if is_clone():
        return "sudo ./runner.py"
    beside_python = Path(sys.executable).with_name(NAME)
    return f"sudo {beside_python if beside_python.is_file() else NAME}"


def how_to_install(*packages: str) -> str:
    """Return how to install these packages of the distribution, as a phrase."""
    return "run tools/provision.sh" if is_clone() else f"install {', '.join(packages)} with apt-get"


def how_to_install_for_python(requirement: str) -> str:
    """Return how to install a Python package of the environment, as a phrase."""
    return "run make setup" if is_clone() else f"run {sys.executable} -m pip install '{requirement}'"


def how_to_install_p4_tools() -> str:
    """Return how to install BMv2 or p4c, as a phrase. The distributions do not have them."""
    return "run tools/provision.sh p4" if is_clone() else "install it from the P4 project, as docs/bmv2.md says"


def neutral_folder() -> Path:
    """Return the folder in which to start processes: Python imports modules from the current folder first.

    In a clone, processes find the package in this folder. Where the package is installed, they find it anyway.
    """
    return ROOT if is_clone() else Path("/")


def shown(path: Path) -> str:
    """Return the real name of a file as messages print it: relative to the clone, or to the folder of packages."""
    real, root = path.resolve(), ROOT.resolve()
    return str(real.relative_to(root) if real.is_relative_to(root) else real)
