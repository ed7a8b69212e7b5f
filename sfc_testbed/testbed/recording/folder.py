# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Makes the folders of results and gives them to the user who called sudo."""

from __future__ import annotations

import os
import time
from pathlib import Path

from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.system.caller import caller

ERROR_FILE = "error.txt"
"""The file in a run's logs that says why the run failed."""


def make_folder(parent: Path, name: str) -> Path:
    """Make a new folder, with a name made unique by the time and a number if necessary."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    missing = [path for path in (parent, *parent.parents) if not path.exists()]
    for attempt in range(1, 1000):
        folder = parent / (f"{name}-{stamp}" if attempt == 1 else f"{name}-{stamp}-{attempt}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        (folder / "logs").mkdir()
        for created in missing:
            _give(created)
        return folder
    raise UsageError(f"--out {parent}: there are too many runs named {name}-{stamp}")


def give_to_caller(folder: Path) -> None:
    """Give a run folder and all its files to the user who called sudo."""
    if folder.exists():  # the folder of a run without measurements was removed
        for path in (folder, *folder.rglob("*")):
            _give(path)


def _give(path: Path) -> None:
    owner = caller()
    if owner is not None:
        os.chown(path, *owner, follow_symlinks=False)
