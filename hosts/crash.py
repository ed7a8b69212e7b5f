# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Single-line descriptions of exceptions raised by the host engine or one of its algorithms.

A description names the class, the exception, the file and the line.
"""

from __future__ import annotations

import ast
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_ENGINE = ROOT / "hosts" / "transport"
_ALGORITHMS = tuple(_ENGINE / name for name in ("congestion", "flow_control", "loss_recovery"))
_MOST_CHARACTERS = 200


@dataclass(frozen=True)
class Place:
    """A line of code that was running when an exception was raised."""

    path: Path
    line: int
    function: str

    @property
    def is_engine(self) -> bool:
        """Whether the line is in the host engine and not in one of the algorithms that the engine calls."""
        parents = self.path.parents
        return _ENGINE in parents and not any(folder in parents for folder in _ALGORITHMS)

    def __str__(self) -> str:
        path = self.path.relative_to(ROOT) if ROOT in self.path.parents else self.path
        return f"{path}:{self.line}"


def engine_crash(error: BaseException) -> str | None:
    """Describe an exception that the host engine or an algorithm in it raised; None for any other exception.

    The line is the innermost one of the algorithm's file, or the engine's if no algorithm was running.
    """
    places = [_place(frame) for frame in traceback.extract_tb(error.__traceback__)]
    last_engine_index = max((number for number, place in enumerate(places) if place.is_engine), default=None)
    if last_engine_index is None:
        return None
    callees = places[last_engine_index + 1 :]
    algorithm_places = [place for place in callees if place.path == callees[0].path]
    place = (algorithm_places or [places[last_engine_index]])[-1]
    return f"{_qualified_name(place)} raised {error_summary(error)} ({place})"


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


def _place(frame: traceback.FrameSummary) -> Place:
    """Return the place of a frame. File names in compiled code are relative to the root of the repository."""
    return Place(ROOT / frame.filename, frame.lineno or 0, frame.name)


def _qualified_name(place: Place) -> str:
    """Return `Class.method` of a line, read from its source file, because a traceback has only the method's name."""
    try:
        tree = ast.parse(place.path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):  # the file was edited while the run was going on
        return place.function
    names: list[str] = []
    body: list[ast.stmt] = tree.body
    while (inner := next((statement for statement in body if _defines(statement, place.line)), None)) is not None:
        assert isinstance(inner, (ast.ClassDef, ast.FunctionDef))
        names.append(inner.name)
        body = inner.body
    return ".".join(names) or place.function


def _defines(statement: ast.stmt, line: int) -> bool:
    """Return whether a statement is the class or function that a line is in."""
    return isinstance(statement, (ast.ClassDef, ast.FunctionDef)) and (
        statement.lineno <= line <= (statement.end_lineno or 0)
    )
