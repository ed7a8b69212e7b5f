# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that `runner.py clean` removes sockets of killed switches and temporary folders of killed processes."""

import os
import socket
from pathlib import Path

import pytest

from os_helpers.temporary import temporary_folder
from sfc_testbed.cli.app import main
from sfc_testbed.testbed.system import run_ids


def test_clean_removes_unused_sockets(
    public_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(public_folder))
    monkeypatch.setattr(run_ids, "STATE_ROOT", public_folder / "no-runs")
    monkeypatch.setenv("XDG_CACHE_HOME", str(public_folder / "no-cache"))
    monkeypatch.chdir(public_folder)  # a socket's name is short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("softswitch-s1-0.control")
    os.utime("softswitch-s1-0.control", (0.0, 0.0))
    assert main(["clean"]) == 0
    assert not list(public_folder.glob("*.control"))
    assert capsys.readouterr().out == "removed 1 sockets of killed softswitch processes\n"


@pytest.mark.parametrize("prefix", ["sfc-testbed-", "softswitch-"])
def test_clean_removes_abandoned_folders(
    prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(run_ids, "STATE_ROOT", tmp_path / "no-runs")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no-cache"))
    (tmp_path / f"{prefix}{'0' * 16}").mkdir()
    (tmp_path / f"{prefix}notes").mkdir()
    with temporary_folder(prefix):
        assert main(["clean"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == [f"{prefix}notes"]
    assert capsys.readouterr().out == "removed 1 temporary folders of killed processes\n"
