# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Replaces a file in one step, so that neither a reader nor Ctrl-C ever sees a partial file.

Files in a folder of results are never written through a symbolic link, since another user may have created the folder.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path


class LinkRefused(OSError):
    """A path that should be a file or folder of results is a symbolic link."""

    def __init__(self, path: Path) -> None:
        reason = "a symbolic link, which may lead out of the folder of results; remove the link"
        super().__init__(errno.ELOOP, reason, str(path))


def check_no_link(*paths: Path) -> None:
    """Raise LinkRefused if one of the paths is a symbolic link."""
    for path in paths:
        if path.is_symlink():
            raise LinkRefused(path)


def open_no_link(path: Path, flags: int) -> int:
    """Open a file, create it if necessary, and return its descriptor. Raise LinkRefused for a symbolic link."""
    try:
        return os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise LinkRefused(path) from error
        raise


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Call `write` with the path of a temporary file beside `path`, then rename that file to `path`.

    If `write` raises, remove the temporary file, leave `path` unchanged and raise the error again. If either path is a
    symbolic link, the link is replaced and not followed.
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
    """Replace the content of `path` by `text` (UTF-8, line ends unchanged) in one step."""
    replace_file(path, lambda partial: partial.write_bytes(text.encode()))
