# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Unexpected errors: the traceback is written to a file, and one line names it."""

from __future__ import annotations

import shlex
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from os_helpers.visible import visible
from sfc_testbed.place import PACKAGE, ROOT, is_clone, program, shown
from sfc_testbed.request.extensions import place_in_extensions


def save_traceback(error: BaseException, words: Sequence[str]) -> Path | None:
    """Write the command and the traceback to a new file that only its owner can read; None if that is impossible."""
    lines = [f"{program()} {shlex.join(words)}\n\n", *traceback.format_exception(error)]
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", errors="backslashreplace", prefix="sfc-testbed-", suffix=".txt", delete=False
        ) as file:
            file.writelines(visible(line, keep="\n\t") for line in lines)
    except OSError:
        return None
    return Path(file.name)


def unexpected(error: BaseException, words: Sequence[str]) -> str:
    """Return one line with the kind of error and the file with its traceback."""
    saved = save_traceback(error, words)
    where = "its traceback could not be saved" if saved is None else f"its traceback is in {saved}"
    return (
        f"unexpected {_kind_and_message(error)}{_place(error)}; {where}; "
        "if this is not in code of your own, please report it with that file and the command"
    )


def _place(error: BaseException) -> str:
    """Return the innermost line in the clone, which may be code that the user added, or in the installed package."""
    sources = ROOT if is_clone() else PACKAGE
    own = place_in_extensions(error)
    if own is not None:
        return f" in {own}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = ROOT / frame.filename  # compiled code has relative names
        if path.is_file() and path.is_relative_to(sources) and not path.relative_to(sources).parts[0].startswith("."):
            return f" in {shown(path)}:{frame.lineno}"
    return ""


def _kind_and_message(error: BaseException) -> str:
    """Return the kind of error and the first line of its message."""
    kind = type(error).__name__
    try:
        first = next(iter(str(error).splitlines()), "")
    except Exception:
        first = ""
    return f"{kind} ({first[:200]})" if first else kind
