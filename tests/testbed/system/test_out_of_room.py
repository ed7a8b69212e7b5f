# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for messages about limits: every form of such an error names its limit, and other errors give no message."""

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
    """The limit follows from the error number, from the text, or from the cause of the error."""
    message = out_of_room(error, [tmp_path])
    assert message is not None
    assert expected in message
    assert message.isprintable()


@pytest.mark.parametrize(
    "error",
    [OSError(errno.EACCES, "no"), OSError("no number"), ValueError("28"), RuntimeError("thread"), KeyError(28)],
    ids=repr,
)
def test_other_errors_give_no_message(error: Exception) -> None:
    assert out_of_room(error) is None


def test_the_message_names_the_file_system_of_the_file_in_the_error(tmp_path: Path) -> None:
    """If the file does not exist, its closest existing folder is named."""
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "gone" / "file"))
    assert str(out_of_room(error)).endswith(f"on the file system of {tmp_path}")


def test_incomplete_files_are_not_whole_files(tmp_path: Path) -> None:
    for name in ("flows.parquet", ".queues.parquet.partial"):
        (tmp_path / name).write_text("x")
    (tmp_path / "logs").mkdir()
    assert whole_files(tmp_path) == ["flows.parquet"]
