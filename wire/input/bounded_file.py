# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads text that somebody else wrote: a regular file, no longer than it may be, UTF-8. Knows nothing of the content.

A pipe nobody writes into would be waited for, a device read without end.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path


class FileRefused(ValueError):
    """What is there cannot be read as text; the rest of a sentence that begins with the file."""


def read_bounded_text(path: Path, most_bytes: int) -> str:
    """The text of a file of at most so many bytes. FileRefused if it is none, FileNotFoundError if there is nothing."""
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
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise FileRefused(f"is not UTF-8 text (byte {error.start})") from error
