# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Waits for files that a command under test creates."""

from __future__ import annotations

import glob
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def found(folder: Path, pattern: str) -> list[Path]:
    """Return the files that match now. Unlike `Path.glob` of Python 3.11, ignores folders that vanish meanwhile."""
    return [folder / name for name in glob.glob(pattern, root_dir=folder)]  # noqa: PTH207 - see the docstring


def comes_true(is_so: Callable[[], bool], within_s: float = 120) -> bool:
    """Wait until `is_so` returns True. Return False if it does not within `within_s` seconds."""
    deadline = time.monotonic() + within_s
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def await_file(folder: Path, pattern: str, process: subprocess.Popen[Any] | None = None) -> None:
    """Wait until a file matches. Raise AssertionError after two minutes, or when `process` ends without it."""

    def exists() -> bool:
        has_ended = process is not None and process.poll() is not None
        if found(folder, pattern):
            return True
        assert not has_ended, f"the process ended without creating {pattern} in {folder}"
        return False

    assert comes_true(exists), f"no {pattern} in {folder}"
