# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Replaces a file in one step, so that a reader (or Ctrl-C) never meets half of one. Knows nothing of the content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Lets `write` fill a temporary file beside `path` and renames it over `path` once it is whole.

    If `write` raises, the temporary file is removed, `path` is as before, and the error goes on.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        write(partial)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def replace_text(path: Path, text: str) -> None:
    """Replaces `path` by `text` (UTF-8, line ends as given) in one step."""
    replace_file(path, lambda partial: partial.write_bytes(text.encode()))
