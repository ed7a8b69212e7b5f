# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The files of this checkout: those that git knows, or, in a copy without git, all but what running makes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_MADE_BY_RUNNING = {"__pycache__", "runs", "build"}


def files_of_tree() -> list[str]:
    """Paths from the root, those not added yet among them."""
    asked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        return sorted(_walked())
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def _walked() -> list[str]:
    found = []
    for folder, inside, names in os.walk(ROOT):
        inside[:] = [each for each in inside if each not in _MADE_BY_RUNNING and not _is_hidden_or_made(each)]
        found += [str(Path(folder, name).relative_to(ROOT)) for name in names if not name.endswith(".pyc")]
    return found


def _is_hidden_or_made(folder: str) -> bool:
    return folder.endswith(".egg-info") or (folder.startswith(".") and folder != ".ci")
