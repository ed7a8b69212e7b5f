# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads untrusted files: regular files with a limited length, most of them with UTF-8 text.

Other kinds of files are refused, since reading an idle pipe would block and reading a device may never end.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from sfc_testbed.request.errors import UsageError


class FileRefused(ValueError):
    """The file cannot be read as text. The message completes a sentence that begins with the file's name."""


def read_bounded_text(path: Path, most_bytes: int) -> str:
    """Return the text of a file of at most `most_bytes`, without the byte order mark with which spreadsheets begin it.

    Raise FileNotFoundError if the file does not exist, and FileRefused if it is too long, not UTF-8 or no regular file.
    """
    content = read_bounded_bytes(path, most_bytes)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileRefused(f"is not UTF-8 text (byte {error.start})") from error


def read_named_text(named_by: str, path: Path, most_bytes: int) -> str:
    """Return the text of a file that an option names. UsageError that begins with `named_by` if it cannot be read."""
    try:
        return read_bounded_text(path, most_bytes)
    except FileNotFoundError as error:
        raise UsageError(f"{named_by}: {error.strerror}") from error
    except FileRefused as error:
        raise UsageError(f"{named_by} {error}") from error


def read_bounded_bytes(path: Path, most_bytes: int) -> bytes:
    """Return the content of a file of at most `most_bytes`, with the same errors, except about UTF-8."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise FileRefused(f"cannot be read ({reason})") from error
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise FileRefused("is not a regular file")
        with os.fdopen(file, "rb", closefd=False) as opened:
            content = opened.read(most_bytes + 1)
    finally:
        os.close(file)
    if len(content) > most_bytes:
        raise FileRefused(f"has more than {most_bytes} B")
    return content
