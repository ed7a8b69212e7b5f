# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Files that a command under test makes while somebody waits for them."""

from __future__ import annotations

import glob
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def found(folder: Path, pattern: str) -> list[Path]:
    """What matches now. Folders may vanish meanwhile, of which `Path.glob` in Python 3.11 makes an error."""
    return [folder / name for name in glob.glob(pattern, root_dir=folder)]  # noqa: PTH207 - that is the point


def comes_true(is_so: Callable[[], bool], within_s: float = 120) -> bool:
    """Wait until something is so, and return whether it was so in time."""
    deadline = time.monotonic() + within_s
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def await_file(folder: Path, pattern: str, process: subprocess.Popen[Any] | None = None) -> None:
    """Wait until a file matches. Fail if that takes too long, or if the process that would make it ends."""

    def is_there() -> bool:
        is_over = process is not None and process.poll() is not None
        if found(folder, pattern):
            return True
        assert not is_over, f"it ended, and there is no {pattern} in {folder}"
        return False

    assert comes_true(is_there), f"no {pattern} in {folder}"
