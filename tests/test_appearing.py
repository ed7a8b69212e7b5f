# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""tests/appearing.py, which waits for files: folders that vanish, and files that never appear."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.appearing import await_file, found


def test_folder_that_vanishes_during_the_search_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder vanishes after its name was read and before its files are; files in other folders are still found."""
    (tmp_path / "gone").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "flows.csv").touch()
    scandir = os.scandir

    def scandir_after_removal(path: Any = ".") -> Iterator[os.DirEntry[str]]:
        if Path(os.fsdecode(path)).name == "gone":
            (tmp_path / "gone").rmdir()
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scandir_after_removal)
    assert found(tmp_path, "*/*.csv") == [tmp_path / "run" / "flows.csv"]
    assert not (tmp_path / "gone").exists()


def test_file_that_appears_later_is_awaited(tmp_path: Path) -> None:
    """Hidden folders match only if the pattern begins with a dot."""
    path = tmp_path / ".job.partial" / "flows.csv"

    def create() -> None:
        path.parent.mkdir()
        path.touch()

    timer = threading.Timer(0.2, create)
    timer.start()
    await_file(tmp_path, ".*.partial/flows.csv")
    timer.join()
    assert not found(tmp_path, "*/flows.csv")


def test_wait_ends_with_the_time_limit_or_the_process(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"no x in .* after 0\.1 s"):
        await_file(tmp_path, "x", within_s=0.1)
    with (
        subprocess.Popen([sys.executable, "-c", ""]) as process,
        pytest.raises(AssertionError, match="the process ended without creating x in "),
    ):
        await_file(tmp_path, "x", process)
