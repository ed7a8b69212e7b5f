# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Lists the files of this checkout: git's files or, in a copy without git, all except generated files."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINKS = {path.name: path.readlink() for path in (ROOT / "sfc_testbed").iterdir() if path.is_symlink()}
"""The links in the package to folders outside it."""
_GENERATED = {"__pycache__", "runs", "build"}


def files_of_tree() -> list[str]:
    """Return the paths relative to the root, including new files that are not added to git yet."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        return sorted(_source_files())
    return [name for name in output.split("\0") if name and (ROOT / name).is_file()]


def copy_of_package(folder: Path) -> Path:
    """Copy the package, with its folders at the top of the tree and the links to them, and return its new root."""
    for name in ("sfc_testbed", "hosts", "scenarios", "topologies", "switch-bmv2"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def _source_files() -> list[str]:
    paths = []
    for folder, subfolders, names in os.walk(ROOT):
        subfolders[:] = [name for name in subfolders if name not in _GENERATED and not _is_hidden_or_generated(name)]
        paths += [str(Path(folder, name).relative_to(ROOT)) for name in names if not name.endswith(".pyc")]
    return paths


def _is_hidden_or_generated(folder: str) -> bool:
    return folder.endswith(".egg-info") or (folder.startswith(".") and folder != ".ci")
