# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What waits for files: folders that vanish, files that never come."""

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


def test_folders_that_vanish_while_it_looks_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gone between its name being read and its files: what is beside it is found all the same."""
    (tmp_path / "gone").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "flows.csv").touch()
    scandir = os.scandir

    def removes_before_it_looks(path: Any = ".") -> Iterator[os.DirEntry[str]]:
        if Path(os.fsdecode(path)).name == "gone":
            (tmp_path / "gone").rmdir()
        return scandir(path)

    monkeypatch.setattr(os, "scandir", removes_before_it_looks)
    assert found(tmp_path, "*/*.csv") == [tmp_path / "run" / "flows.csv"]
    assert not (tmp_path / "gone").exists()


def test_a_file_that_comes_later_is_awaited(tmp_path: Path) -> None:
    """Hidden folders count where the pattern names them."""
    made = tmp_path / ".job.partial" / "flows.csv"

    def make() -> None:
        made.parent.mkdir()
        made.touch()

    timer = threading.Timer(0.2, make)
    timer.start()
    await_file(tmp_path, ".*.partial/flows.csv")
    timer.join()
    assert not found(tmp_path, "*/flows.csv")


def test_what_never_comes_is_not_awaited_for_ever(tmp_path: Path) -> None:
    """Nor what nobody is left to make."""
    with pytest.raises(AssertionError, match=r"no x in .* after 0\.1 s"):
        await_file(tmp_path, "x", within_s=0.1)
    with (
        subprocess.Popen([sys.executable, "-c", ""]) as process,
        pytest.raises(AssertionError, match="it ended, and there is no x in "),
    ):
        await_file(tmp_path, "x", process)
