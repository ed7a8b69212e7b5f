# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Waits for files that a command under test creates."""

from __future__ import annotations

import glob
import subprocess
import time
from pathlib import Path
from typing import Any


def found(folder: Path, pattern: str) -> list[Path]:
    """Return the files that match now. Unlike `Path.glob` of Python 3.11, ignores folders that vanish meanwhile."""
    return [folder / name for name in glob.glob(pattern, root_dir=folder)]  # noqa: PTH207 - see the docstring


def await_file(
    folder: Path, pattern: str, process: subprocess.Popen[Any] | None = None, *, within_s: float = 120
) -> None:
    """Wait until a file matches. Raise AssertionError after `within_s` seconds, or when `process` ends without it."""
    deadline = time.monotonic() + within_s
    while True:
        has_ended = process is not None and process.poll() is not None
        if found(folder, pattern):
            return
        assert not has_ended, f"the process ended without creating {pattern} in {folder}"
        assert time.monotonic() < deadline, f"no {pattern} in {folder} after {within_s:g} s"
        time.sleep(0.05)
