# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Replaces a file in one step, so that a reader (or Ctrl-C) never meets half of one. Knows nothing of the content.

No file is written through a symbolic link inside a folder of results: a stranger may have made the folder.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path


class LinkRefused(OSError):
    """A symbolic link is in place of a file or folder of results."""

    def __init__(self, path: Path) -> None:
        said = "a symbolic link, which may lead out of the folder of results; remove the link"
        super().__init__(errno.ELOOP, said, str(path))


def check_no_link(*paths: Path) -> None:
    """Raise LinkRefused if one of the paths is a symbolic link."""
    for path in paths:
        if path.is_symlink():
            raise LinkRefused(path)


def open_no_link(path: Path, flags: int) -> int:
    """Open a file for writing, make it if need be, and return its descriptor. LinkRefused for a symbolic link."""
    try:
        return os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise LinkRefused(path) from error
        raise


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Lets `write` fill a temporary file beside `path` and renames it over `path` once it is whole.

    If `write` raises, the temporary file is removed, `path` is as before, and the error goes on. A link in place of
    either file is replaced and not followed.
    """
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    try:
        write(partial)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def replace_text(path: Path, text: str) -> None:
    """Replaces `path` by `text` (UTF-8, line ends as given) in one step."""
    replace_file(path, lambda partial: partial.write_bytes(text.encode()))
