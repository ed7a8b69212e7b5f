# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compiles variants of the P4 program for tests, if p4c is on the PATH."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sfc_testbed.place import ROOT
from sfc_testbed.testbed.program.sources import SOURCES
from softswitch.build import build_library
from tools.compile_p4 import compiler_command

needs_p4c = pytest.mark.skipif(shutil.which("p4c-bm2-ss") is None, reason="p4c-bm2-ss is not on the PATH")


class Refused(Exception):
    """p4c refused a program. The message is its output."""


def recompiled(folder: Path, file: str, *changes: tuple[str, str]) -> Path:
    """Compile sfc.p4 with changes in one of its files and return its softswitch library.

    Each change replaces the only match of a regular expression.
    """
    shutil.copytree(ROOT / SOURCES, folder / SOURCES, ignore=shutil.ignore_patterns("artifacts"))
    changed = folder / SOURCES / file
    text = changed.read_text()
    for pattern, replacement in changes:
        text, count = re.subn(pattern, replacement, text)
        assert count == 1, f"{pattern} is {count} times in {file}"
    changed.write_text(text)
    command = compiler_command(folder, root=folder)
    assert command is not None
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if process.returncode != 0:
        raise Refused(process.stderr)
    return build_library(folder / "sfc.json")
