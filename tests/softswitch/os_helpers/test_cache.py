# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that only its user can write to the cache, because its content is executed, also by root."""

from __future__ import annotations

import grp
import os
import pwd
import time
from contextlib import nullcontext
from grp import struct_group
from pathlib import Path

import pytest

from os_helpers.cache import CacheRefused, forget_unused, private_cache
from softswitch.build import build_library
from softswitch.p4c import program_folder
from softswitch_tests.pipeline.harness import PROGRAMS
from tests.conftest import Refused

RUN = ["run", "incast", "--clock", "virtual", "--set", "degree=2", "--set", "message_bytes=2000"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of a cache for this test, which does not exist yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "sfc-testbed"


def test_the_cache_is_private_whatever_the_umask(cache: Path) -> None:
    umask = os.umask(0)
    try:
        build_library(PROGRAMS / "l3.json")
    finally:
        os.umask(umask)
    assert cache.stat().st_mode & 0o777 == cache.parent.stat().st_mode & 0o777 == 0o700
    cache.chmod(0o755)
    assert private_cache() == cache
    assert cache.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o702])
def test_a_cache_that_others_may_write_to_is_refused(mode: int, cache: Path, refused: Refused) -> None:
    """The content may come from other users. Nothing is created, and the mode is not changed."""
    cache.mkdir(parents=True)
    cache.chmod(mode)
    refused(RUN, "others may write to")
    assert cache.stat().st_mode & 0o777 == mode


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_refuses_a_cache_of_another_user(cache: Path, refused: Refused) -> None:
    """A sudo that keeps HOME leads to the cache of another user."""
    cache.mkdir(parents=True, mode=0o700)
    os.chown(cache, 65534, 65534)
    refused(RUN, "belongs to user 65534, not to 0")


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_cache_below_a_folder_that_others_may_write_to_is_refused(
    mode: int, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    """Other users could replace the cache or a folder above it. A sticky folder such as /tmp prevents that."""
    members = struct_group(("staff", "x", os.getgid(), ["another"]))
    monkeypatch.setattr(grp, "getgrgid", lambda group: members)
    private_cache()
    for parent in (cache.parent, tmp_path):
        parent.chmod(mode)
        refused(RUN, f"is in {parent}, which others may write to (mode {mode:o})")
        refused(RUN, f"run chmod go-w {parent}, or set XDG_CACHE_HOME")
        parent.chmod(mode | 0o1000)
        assert private_cache() == cache
        parent.chmod(0o755)


@pytest.mark.parametrize(("members", "is_refused"), [([], False), (["another"], True)])
def test_a_folder_that_the_users_own_group_may_write_to_is_used(
    members: list[str], is_refused: bool, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs create ~/.cache with mode 775 under umask 002, Ubuntu's default."""
    group = struct_group((pwd.getpwuid(os.geteuid()).pw_name, "x", os.getgid(), members))
    monkeypatch.setattr(grp, "getgrgid", lambda number: group)
    cache.parent.mkdir()
    cache.parent.chmod(0o775)
    with pytest.raises(CacheRefused, match="which others may write to") if is_refused else nullcontext():
        assert private_cache() == cache


@pytest.mark.root
def test_root_executes_nothing_below_another_users_folder(cache: Path, refused: Refused) -> None:
    """A sudo that keeps HOME leads to such a folder. The command creates no file in it."""
    cache.parent.mkdir()
    os.chown(cache.parent, 65534, 65534)
    refused(RUN, f"is in {cache.parent}, which belongs to user 65534")
    refused(RUN, "set XDG_CACHE_HOME to a folder of your own")


def test_a_link_to_the_cache_is_followed_once(cache: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    cache.parent.mkdir()
    cache.symlink_to(elsewhere)
    assert private_cache() == elsewhere


@pytest.mark.parametrize("kind", ["file", "loop"])
def test_a_cache_that_is_not_a_folder_is_refused(kind: str, cache: Path) -> None:
    cache.parent.mkdir()
    if kind == "file":
        cache.touch()
    else:
        cache.symlink_to(cache)
    with pytest.raises(CacheRefused, match="set XDG_CACHE_HOME to another folder"):
        private_cache()


def test_entries_that_were_not_read_for_months_are_removed(cache: Path) -> None:
    month_ago_s = time.time() - 30 * 86_400
    for name, used_s in (("old.so", 0.0), ("read.so", month_ago_s), ("engine-old", 0.0), ("engine-read", month_ago_s)):
        path = private_cache() / name
        inner = path / "nic.so" if name.startswith("engine") else path
        inner.parent.mkdir(exist_ok=True)
        inner.touch()
        for entry in (inner, path):
            os.utime(entry, (used_s if entry == inner else 0.0, 0.0))
    forget_unused()
    assert sorted(path.name for path in cache.iterdir()) == ["engine-read", "read.so"]


def test_unused_programs_are_removed_independently(cache: Path) -> None:
    programs = program_folder()
    remains = programs / ".left-by-a-dead-one"
    remains.mkdir()
    part = f"{remains.name}/part.json"
    for name, used_s in (("source-old.json", 0.0), ("source-read.json", time.time()), (part, 0.0)):
        (programs / name).touch()
        os.utime(programs / name, (used_s, 0.0))
    os.utime(remains, (0.0, 0.0))
    forget_unused()
    assert [path.name for path in programs.iterdir()] == ["source-read.json"]
    (programs / "source-read.json").unlink()
    os.utime(programs, (0.0, 0.0))
    forget_unused()
    assert list(cache.iterdir()) == [programs]
