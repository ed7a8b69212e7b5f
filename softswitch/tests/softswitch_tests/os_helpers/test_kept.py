# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for entries of the cache that carry a digest of their content."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from os_helpers.kept import DIGESTS, CacheGone, is_whole, kept_file, make_file, seal


def _write(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text)


def _refuse(path: Path) -> None:
    raise AssertionError(f"{path} is made again")


def test_a_file_is_made_once(tmp_path: Path) -> None:
    path = kept_file(tmp_path, "a-b", ".so", _write("content"))
    assert path.read_text() == "content"
    assert kept_file(tmp_path, "a-b", ".so", _refuse) == path
    assert list(tmp_path.iterdir()) == [path]


def test_names_with_common_prefixes_or_pattern_characters_are_distinguished(tmp_path: Path) -> None:
    names = [("a", ""), ("a", ".so"), ("a-b", ".so"), ("a[b]*", ".so"), ("a[b]*", "")]
    paths = [kept_file(tmp_path, name, suffix, _write("same")) for name, suffix in names]
    assert len(set(paths)) == len(names)
    assert [kept_file(tmp_path, name, suffix, _refuse) for name, suffix in names] == paths


def test_a_file_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        kept_file(tmp_path, "a", ".so", _refuse)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_removed_raises_cache_gone(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with pytest.raises(CacheGone, match="cache was removed"):
        kept_file(cache, "a", ".so", _write("content"))
    cache.mkdir()

    def remove(path: Path) -> None:
        shutil.rmtree(cache)
        path.write_text("content")

    with pytest.raises(CacheGone, match="cache was removed"):
        make_file(cache, "a", ".so", remove)


def _sealed(tmp_path: Path) -> Path:
    folder = tmp_path / "engine"
    folder.mkdir()
    for name in ("a.so", "manifest.json"):
        (folder / name).write_text(name)
    seal(folder)
    return folder


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut": lambda folder: (folder / "a.so").write_text("a.s"),
    "changed": lambda folder: (folder / "a.so").write_text("b.so"),
    "gone": lambda folder: (folder / "a.so").unlink(),
    "more": lambda folder: (folder / "b.so").touch(),
    "manifest": lambda folder: (folder / "manifest.json").write_text("{}"),
    "digests": lambda folder: (folder / DIGESTS).write_bytes((folder / DIGESTS).read_bytes()[:-9]),
    "no-digests": lambda folder: (folder / DIGESTS).unlink(),
    "digests-of-another-kind": lambda folder: (folder / DIGESTS).write_text('["a.so", "manifest.json"]'),
    "digests-of-nothing": lambda folder: (folder / DIGESTS).write_text("3"),
    "empty": lambda folder: [path.unlink() for path in folder.iterdir()],  # type: ignore[func-returns-value]
    "empty-and-sealed": lambda folder: [
        DAMAGES["empty"](folder),
        (folder / DIGESTS).write_text("{}"),
    ],
    "folder-in-place-of-a-file": lambda folder: [(folder / "a.so").unlink(), (folder / "a.so").mkdir()],  # type: ignore[func-returns-value]
    "all-gone": shutil.rmtree,
    "file-in-place-of-the-folder": lambda folder: [shutil.rmtree(folder), folder.touch()],  # type: ignore[func-returns-value]
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_folder_is_not_whole(damage: str, tmp_path: Path) -> None:
    folder = _sealed(tmp_path)
    assert is_whole(folder)
    DAMAGES[damage](folder)
    assert not is_whole(folder)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("name", ["a.so", DIGESTS, "."])
def test_a_folder_that_cannot_be_read_is_not_whole(name: str, tmp_path: Path) -> None:
    folder = _sealed(tmp_path)
    (folder / name).chmod(0)
    is_readable = is_whole(folder)
    (folder / name).chmod(0o700)
    assert not is_readable


def test_a_copy_of_a_folder_is_whole(tmp_path: Path) -> None:
    """If the times of files have changed, their content is compared."""
    folder = _sealed(tmp_path)
    for path in folder.iterdir():
        os.utime(path, (0, 0))
    assert is_whole(folder)
    (folder / "a.so").write_text("A.so")
    assert not is_whole(folder)
