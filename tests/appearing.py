# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Files that a command under test makes while somebody waits for them."""

from __future__ import annotations

import glob
import subprocess
import time
from pathlib import Path
from typing import Any


def found(folder: Path, pattern: str) -> list[Path]:
    """What matches now. Folders may vanish meanwhile, of which `Path.glob` in Python 3.11 makes an error."""
    return [folder / name for name in glob.glob(pattern, root_dir=folder)]  # noqa: PTH207 - that is the point


def await_file(
    folder: Path, pattern: str, process: subprocess.Popen[Any] | None = None, *, within_s: float = 120
) -> None:
    """Until something matches. AssertionError if that takes too long, or if the process that would make it ends."""
    deadline = time.monotonic() + within_s
    while True:
        is_over = process is not None and process.poll() is not None
        if found(folder, pattern):
            return
        assert not is_over, f"it ended, and there is no {pattern} in {folder}"
        assert time.monotonic() < deadline, f"no {pattern} in {folder} after {within_s:g} s"
        time.sleep(0.05)
