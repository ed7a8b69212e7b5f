# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for run folders: their names, and their owner, who is the user who called sudo."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sfc_testbed.testbed.recording.folder import give_to_caller, make_folder
from sfc_testbed.testbed.system.caller import caller


@pytest.fixture(autouse=True)
def _as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)


def test_sudo_names_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_UID", "1234")
    monkeypatch.setenv("SUDO_GID", "5678")
    assert caller() == (1234, 5678)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert caller() is None


@pytest.mark.parametrize(
    ("user", "group"),
    [
        ("abc", "1234"),
        ("1234", "abc"),
        ("1234", None),
        (None, "1234"),
        ("", ""),
        ("-1", "1234"),
        ("4294967295", "1234"),
        ("99999999999999999999", "1234"),
        ("9" * 5000, "1234"),
        ("١٢٣", "1234"),
        ("0", "0"),
    ],
)
def test_files_remain_roots_without_valid_ids_from_sudo(
    user: str | None, group: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variables are part of the environment, so they may contain anything."""
    for name, word in (("SUDO_UID", user), ("SUDO_GID", group)):
        monkeypatch.delenv(name, raising=False)
        if word is not None:
            monkeypatch.setenv(name, word)
    chown_calls: list[object] = []
    monkeypatch.setattr(os, "chown", lambda *words, **options: chown_calls.append(words))
    give_to_caller(make_folder(tmp_path / "runs", "incast-sfc"))
    assert caller() is None
    assert chown_calls == []


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
