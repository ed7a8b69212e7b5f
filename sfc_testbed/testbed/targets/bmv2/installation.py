# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Finds the BMv2 to use: `simple_switch` on the PATH, else the image of the P4 project if Docker runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from sfc_testbed.place import how_to_install_p4_tools

OLDEST = (1, 15, 1)
"""The first version that serves priority queues in the order of the P4 program's priorities (docs/bmv2.md)."""

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Installation:
    """A usable BMv2. `path` is None for the image."""

    version: str
    path: str | None


def find_bmv2() -> Installation | str:
    """Return the BMv2 to use, or one line that says what is missing and what to do."""
    path = simple_switch_on_path()
    if path is not None:
        return _checked(path, _version_of(path))
    from sfc_testbed.testbed.targets.bmv2 import container  # Docker's module loads slowly and is rarely needed

    missing = container.missing_docker()
    if missing is None:
        return _checked(None, container.image_version())
    return f"no simple_switch on the PATH, and {missing}; {how_to_install_p4_tools()}"


def simple_switch_on_path() -> str | None:
    """Return BMv2's simple_switch on the PATH. Skip softswitch's, which an activated environment has there first."""
    environment = Path(sys.prefix, "bin") if sys.prefix != sys.base_prefix else None
    folders = [folder for folder in os.get_exec_path() if Path(folder) != environment]
    return shutil.which("simple_switch", path=os.pathsep.join(folders))


def missing_bmv2() -> str | None:
    """Return what is missing for a usable BMv2, or None if there is one."""
    installation = find_bmv2()
    return installation if isinstance(installation, str) else None


def _checked(path: str | None, printed: str) -> Installation | str:
    name = path or "Docker's image of BMv2"
    numbers = _VERSION.search(printed)
    if numbers is None:
        return f"{name} reports no version"
    if tuple(map(int, numbers.groups())) < OLDEST:
        return f"{name} is version {numbers.group()}; {'.'.join(map(str, OLDEST))} or later is needed"
    return Installation(numbers.group(), path)


def _version_of(path: str) -> str:
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr
