# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Whatever shape the system's refusal takes, the limit behind it is named; other errors are left alone."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from testbed.system.out_of_room import out_of_room, whole_files


def _raised(inner: Exception, outer: Exception) -> Exception:
    try:
        try:
            raise inner
        except Exception as error:
            raise outer from error
    except Exception as error:
        return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOSPC, "full"), "free on the file system of"),
        (OSError(errno.EDQUOT, "quota"), "quota"),
        (OSError(errno.EMFILE, "many"), "ulimit -n"),
        (OSError(errno.ENFILE, "many"), "fs.file-max"),
        (OSError(errno.EFBIG, "big"), "ulimit -f"),
        (OSError(errno.ENOMEM, "none"), "no memory left"),
        (MemoryError(), "no memory left"),
        (RuntimeError("can't start new thread"), "ulimit -u"),
        (OSError(errno.EAGAIN, "fork"), "ulimit -u"),
        (ValueError("parquet: underlying IO error: No space left on device (os error 28)"), "no room left"),
        (ValueError("unwrap() on an Err value: Os { code: 24, kind: TooManyOpenFiles }"), "ulimit -n"),
        (_raised(OSError(errno.ENOSPC, "full"), KeyError("x")), "no room left"),
    ],
    ids=repr,
)
def test_the_limit_is_named(error: Exception, expected: str, tmp_path: Path) -> None:
    """By its number, its text, or what led to it."""
    said = out_of_room(error, [tmp_path])
    assert said is not None
    assert expected in said
    assert said.isprintable()


@pytest.mark.parametrize(
    "error",
    [OSError(errno.EACCES, "no"), OSError("no number"), ValueError("28"), RuntimeError("thread"), KeyError(28)],
    ids=repr,
)
def test_other_errors_are_not_taken_for_one(error: Exception) -> None:
    """They stay what they are."""
    assert out_of_room(error) is None


def test_the_place_is_the_one_that_the_error_names(tmp_path: Path) -> None:
    """With what is free there; a file that does not exist stands for its folder."""
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "gone" / "file"))
    assert str(out_of_room(error)).endswith(f"on the file system of {tmp_path}")


def test_files_that_were_begun_are_not_whole(tmp_path: Path) -> None:
    """Only finished ones have their names."""
    for name in ("flows.parquet", ".queues.parquet.partial"):
        (tmp_path / name).write_text("x")
    (tmp_path / "logs").mkdir()
    assert whole_files(tmp_path) == ["flows.parquet"]
