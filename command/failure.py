# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What nobody expected: the traceback goes to a file, a line about it to the terminal."""

from __future__ import annotations

import shlex
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path


def save_traceback(error: BaseException, words: Sequence[str]) -> Path | None:
    """A new file, for its owner's eyes only, with what was typed and the traceback; None where none can be written."""
    lines = [f"runner.py {shlex.join(words)}\n\n", *traceback.format_exception(error)]
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", errors="backslashreplace", prefix="sfc-testbed-", suffix=".txt", delete=False
        ) as file:
            file.writelines(lines)
    except OSError:
        return None
    return Path(file.name)


def unexpected(error: BaseException, words: Sequence[str]) -> str:
    """One line that says what happened and where the rest of it is."""
    saved = save_traceback(error, words)
    where = "its traceback could not be saved" if saved is None else f"its traceback is in {saved}"
    return f"unexpected {_said(error)}; {where}; please report it with that file and the command"


def _said(error: BaseException) -> str:
    """The kind of error, and the first line of its text if it has one."""
    kind = type(error).__name__
    try:
        first = next(iter(str(error).splitlines()), "")
    except Exception:
        first = ""
    return f"{kind} ({first[:200]})" if first else kind
