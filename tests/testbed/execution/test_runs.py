# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Run folders: their names, and their owner under sudo."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.recording.folder import give_to_caller, make_folder


def test_folders_of_one_second_get_different_names(tmp_path: Path) -> None:
    assert len({make_folder(tmp_path, "incast-sfc") for _ in range(3)}) == 3


@pytest.mark.root
def test_under_sudo_new_files_and_folders_belong_to_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_UID", "1234")
    monkeypatch.setenv("SUDO_GID", "1234")
    folder = make_folder(tmp_path / "new" / "runs", "incast-sfc")
    (folder / "result.json").write_text("{}")
    give_to_caller(folder)
    created = (tmp_path / "new", tmp_path / "new" / "runs", folder, folder / "logs", folder / "result.json")
    assert {path.stat().st_uid for path in created} == {1234}
    assert tmp_path.stat().st_uid == 0
