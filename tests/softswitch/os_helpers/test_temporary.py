# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of temporary folders: a folder of a killed process is removed, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from os_helpers.temporary import remove_abandoned, temporary_folder

_HOLD = """
import sys
from pathlib import Path
from os_helpers.temporary import temporary_folder
with temporary_folder("mine-", Path(sys.argv[1])) as folder:
    (folder / "deep").mkdir()
    print(folder, flush=True)
    sys.stdin.read()
"""


def _holder(parent: Path) -> tuple[subprocess.Popen[str], Path]:
    """Start a process that holds a temporary folder until its standard input is closed."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(parent)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().rstrip())


def test_a_folder_is_removed_at_the_end(tmp_path: Path) -> None:
    with temporary_folder("mine-", tmp_path) as folder:
        (folder / "file").write_text("x")
        assert folder.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_killed_process_is_abandoned(tmp_path: Path) -> None:
    process, folder = _holder(tmp_path)
    assert remove_abandoned("mine-", tmp_path) == 0
    process.kill()
    process.communicate()
    assert (folder / "deep").is_dir()
    assert remove_abandoned("mine-", tmp_path) == 1
    assert list(tmp_path.iterdir()) == []


def test_other_folders_files_and_links_stay(tmp_path: Path) -> None:
    (tmp_path / "mine-notes").mkdir()
    (tmp_path / f"mine-{'0' * 16}").write_text("a file")
    (tmp_path / f"mine-{'1' * 16}").symlink_to(tmp_path / "mine-notes")
    (tmp_path / f"yours-{'2' * 16}").mkdir()
    assert remove_abandoned("mine-", tmp_path) == 0
    assert len(list(tmp_path.iterdir())) == 4


def test_a_missing_parent_has_no_folders(tmp_path: Path) -> None:
    assert remove_abandoned("mine-", tmp_path / "missing") == 0
