# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Single-line descriptions of exceptions raised by the host engine or one of its algorithms.

A description names the class, the exception, the file and the line.
"""

from __future__ import annotations

import ast
import sys
import traceback
from pathlib import Path

from sfc_testbed.place import PACKAGE, ROOT, shown

_ENGINE = (PACKAGE / "hosts" / "transport").resolve()
_ALGORITHMS = tuple(_ENGINE / name for name in ("congestion", "flow_control", "loss_recovery"))
_MOST_CHARACTERS = 200


def engine_crash(error: BaseException) -> str | None:
    """Describe an exception that the host engine or an algorithm in it raised; None for any other exception.

    The line is the innermost one of the algorithm's file, or the engine's if no algorithm was running.
    """
    frames = traceback.extract_tb(error.__traceback__)
    last_engine_index = max((number for number, frame in enumerate(frames) if _is_engine(frame)), default=None)
    if last_engine_index is None:
        return None
    callees = frames[last_engine_index + 1 :]
    algorithm_frames = [frame for frame in callees if frame.filename == callees[0].filename]
    frame = (algorithm_frames or [frames[last_engine_index]])[-1]
    return f"{_qualified_name(frame)} raised {error_summary(error)} ({shown(_path(frame))}:{frame.lineno})"


def print_crash(error: BaseException) -> bool:
    """Print the traceback of an exception in the host engine to stderr, its description as the last line.

    Returns False, and prints nothing, if the exception came from elsewhere.
    """
    crash = engine_crash(error)
    if crash is not None:
        traceback.print_exception(error)
        print(crash, file=sys.stderr)
    return crash is not None


def error_summary(error: BaseException) -> str:
    """Return the kind of an exception and the first line of its text, as Python prints them."""
    kind = type(error).__name__
    try:
        first = next(iter(str(error).splitlines()), "")
    except Exception:  # __str__ of a user's exception class may itself raise
        first = ""
    return f"{kind}: {first[:_MOST_CHARACTERS]}" if first else kind


def _path(frame: traceback.FrameSummary) -> Path:
    """Return the source file of a frame. File names in compiled code are relative to `ROOT`."""
    return (ROOT / frame.filename).resolve()


def _is_engine(frame: traceback.FrameSummary) -> bool:
    """Return whether a frame is in the host engine and not in one of the algorithms that the engine calls."""
    parents = _path(frame).parents
    return _ENGINE in parents and not any(folder in parents for folder in _ALGORITHMS)


def _qualified_name(frame: traceback.FrameSummary) -> str:
    """Return `Class.method` of a frame, read from its source file, because a traceback has only the method's name."""
    try:
        tree = ast.parse(_path(frame).read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):  # the file was edited while the run was going on
        return frame.name
    names: list[str] = []
    body: list[ast.stmt] = tree.body
    while (
        inner := next((statement for statement in body if _defines(statement, frame.lineno or 0)), None)
    ) is not None:
        assert isinstance(inner, (ast.ClassDef, ast.FunctionDef))
        names.append(inner.name)
        body = inner.body
    return ".".join(names) or frame.name


def _defines(statement: ast.stmt, line: int) -> bool:
    """Return whether a statement is the class or function that a line is in."""
    return isinstance(statement, (ast.ClassDef, ast.FunctionDef)) and (
        statement.lineno <= line <= (statement.end_lineno or 0)
    )
