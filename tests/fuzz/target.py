# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The description of a fuzz target: its cases, and the check for each case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from hypothesis.strategies import SearchStrategy

Case: TypeAlias = dict[str, Any]
"""A test case as a JSON object, so that it can be saved in a file and repeated."""

STEPS = "steps"
"""The key of a case's list of steps, which minimisation shortens."""


class Finding(AssertionError):
    """A violated requirement. Findings with the same `kind` count as the same defect."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind


@dataclass(frozen=True)
class Target:
    """A place where the testbed reads external input."""

    name: str
    input_name: str
    """Description of a single input, for tables."""
    check: Callable[[Case], int]
    """Runs a case and returns its number of inputs; raises an exception for a finding."""
    examples: int
    """Number of cases that the test suite runs."""
    cases: Callable[[], SearchStrategy[Case]] | None = None
    """Strategy with which hypothesis generates and minimises cases."""
    batch: Callable[[int], Case] | None = None
    """Fast alternative to `cases`: generates many inputs under STEPS from a random number. `tests.fuzz.cases.smallest`
    minimises its findings."""
    is_sanitized: bool = False
    """Whether the process runs C code built with ASan and UBSan, whose libraries must be loaded."""
    share: int = 1
    """Share of the time, relative to the other targets."""
    floor: int = 0
    """Minimum number of inputs in ten minutes of all targets."""


def kind_of(error: BaseException) -> str:
    """Return the kind of a finding, or an error's type and its innermost function outside libraries.

    Two errors with the same cause have the same kind.
    """
    if isinstance(error, Finding):
        return error.kind
    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if "site-packages" not in code.co_filename and "/lib/python" not in code.co_filename:
            place = f"{code.co_filename.rpartition('/')[2]}:{code.co_name}"
        trace = trace.tb_next
    return f"{type(error).__name__} in {place}"
