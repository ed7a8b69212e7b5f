# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for root's copy of the engine compiled by the owner of the tree."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from os_helpers.cache import CACHE_NAME, cache_dir
from os_helpers.kept import is_whole, seal
from sfc_testbed.native import first_use

OWNER = 1234
NAME = "engine-of-a-test"

pytestmark = pytest.mark.root


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Create a build in the cache of the user who owns the tree. Root's cache is empty."""
    tree, home = tmp_path / "tree", tmp_path / "home"
    folder = home / ".cache" / CACHE_NAME / NAME
    folder.mkdir(parents=True)
    tree.mkdir()
    (folder / "manifest.json").write_text("{}")
    seal(folder)
    for path in (tree, folder, *folder.iterdir()):
        os.chown(path, OWNER, OWNER)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "root"))
    monkeypatch.setattr(first_use, "ROOT", tree)
    users = {OWNER: SimpleNamespace(pw_name="owner", pw_dir=str(home)), 0: pwd.getpwuid(0)}
    monkeypatch.setattr(pwd, "getpwuid", users.__getitem__)
    yield folder


def test_root_copies_the_build_of_the_trees_owner(build: Path) -> None:
    assert first_use.adopt_build(NAME)
    assert (cache_dir() / NAME / "manifest.json").read_text() == "{}"
    assert is_whole(cache_dir() / NAME)
    assert [path.name for path in cache_dir().iterdir()] == [NAME]


def test_other_builds_are_not_copied(build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The build is of other sources, of another user, or damaged; the tree is root's; XDG_CACHE_HOME names a cache."""
    assert not first_use.adopt_build("engine-of-other-sources")
    assert list(cache_dir().iterdir()) == []
    for place, owner in ((build, OWNER + 1), (tmp_path / "tree", 0)):
        os.chown(place, owner, owner)
        assert not first_use.adopt_build(NAME)
        os.chown(place, OWNER, OWNER)
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: OWNER)
        assert not first_use.adopt_build(NAME)
    with monkeypatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path / "root" / ".cache"))
        assert not first_use.adopt_build(NAME)
    (build / "manifest.json").write_text("")
    assert not first_use.adopt_build(NAME)


def test_a_damaged_build_of_root_is_replaced(build: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "root" / ".cache" / CACHE_NAME / NAME
    damaged.mkdir(parents=True)
    damaged.parent.chmod(0o700)
    assert first_use.adopt_build(NAME)
    assert is_whole(damaged)
