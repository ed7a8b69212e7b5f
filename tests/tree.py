# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Lists the files of this checkout: git's files or, in a copy without git, all except generated files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_GENERATED = {"__pycache__", "runs", "build"}


def files_of_tree() -> list[str]:
    """Return the paths relative to the root, including new files that are not added to git yet."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        return sorted(_source_files())
    return [name for name in output.split("\0") if name and (ROOT / name).is_file()]


def _source_files() -> list[str]:
    paths = []
    for folder, subfolders, names in os.walk(ROOT):
        subfolders[:] = [name for name in subfolders if name not in _GENERATED and not _is_hidden_or_generated(name)]
        paths += [str(Path(folder, name).relative_to(ROOT)) for name in names if not name.endswith(".pyc")]
    return paths


def _is_hidden_or_generated(folder: str) -> bool:
    return folder.endswith(".egg-info") or (folder.startswith(".") and folder != ".ci")
