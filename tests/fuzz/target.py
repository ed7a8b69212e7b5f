# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a fuzz target is: cases, and what must hold for each of them. Knows none of the targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from hypothesis.strategies import SearchStrategy

Case: TypeAlias = dict[str, Any]
"""What is tried, as JSON can hold it: so it can be kept in a file and tried again for ever."""

STEPS = "steps"
"""The key of the list that can be cut down to find what of it matters."""


class Finding(AssertionError):
    """Something that must hold did not. `kind` names it, so that the same thing found again is known."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind


@dataclass(frozen=True)
class Target:
    """One place where something comes in."""

    name: str
    what: str
    """Of what one input is, for people."""
    check: Callable[[Case], int]
    """Tries a case and gives the number of inputs in it; raises for what must not be."""
    examples: int
    """Cases that the test suite tries."""
    cases: Callable[[], SearchStrategy[Case]] | None = None
    """Where hypothesis draws each input, and makes what it found small."""
    batch: Callable[[int], Case] | None = None
    """Instead of that: many inputs under STEPS from one number, fast; what is found is cut down by halves."""
    is_sanitized: bool = False
    """Runs C built for ASan and UBSan inside the process, which must have them loaded."""
    share: int = 1
    """Of the time of all targets."""
    floor: int = 0
    """Inputs that ten minutes of all targets must not fall short of."""


def kind_of(error: BaseException) -> str:
    """The same for two errors of the same cause: their type and where in the tree they came from."""
    if isinstance(error, Finding):
        return error.kind
    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if "site-packages" not in code.co_filename and "/lib/python" not in code.co_filename:
            place = f"{code.co_filename.rpartition('/')[2]}:{code.co_name}"
        trace = trace.tb_next
    return f"{type(error).__name__} in {place}"
