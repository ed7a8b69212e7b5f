# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs cases of one target in this process, and collects their number and the findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.strategies import SearchStrategy

from tests.fuzz.cases import smallest
from tests.fuzz.target import Case, Target, kind_of

_BITS = 63


class TimeIsOver(BaseException):
    """Raised by `before` to end all trials. A BaseException, so that the code under test does not handle it."""


@dataclass
class Tried:
    """The results of trials."""

    inputs: int = 0
    found: dict[str, tuple[Case, BaseException]] = field(default_factory=dict)
    """The smallest case of each kind of finding, and the exception that it raised."""


def try_cases(
    target: Target, examples: int, number: int | None, tried: Tried, before: Callable[[Case], None] = lambda case: None
) -> None:
    """Run `examples` cases, generated from the seed `number` or, if it is None, always the same cases.

    `before` is called with each case. Kinds of findings that are in `tried.found` already are ignored.
    """
    if target.batch is not None:
        _try_batches(target, target.batch, examples, number, tried, before)
    elif target.cases is not None:
        _try_drawn(target, target.cases(), examples, number, tried, before)


def fails_with(target: Target, case: Case) -> str | None:
    """Return the kind of the case's finding, or None if it passes."""
    try:
        target.check(case)
    except Exception as error:
        return kind_of(error)
    return None


def _try_batches(
    target: Target,
    batch: Callable[[int], Case],
    examples: int,
    number: int | None,
    tried: Tried,
    before: Callable[[Case], None],
) -> None:
    random = Random(number or 0)
    for _ in range(examples):
        case = batch(random.getrandbits(_BITS))
        before(case)
        try:
            tried.inputs += target.check(case)
        except Exception as error:
            kind = kind_of(error)
            if kind not in tried.found:
                tried.found[kind] = (_cut(target, kind, case), error)


def _try_drawn(
    target: Target,
    cases: SearchStrategy[Case],
    examples: int,
    number: int | None,
    tried: Tried,
    before: Callable[[Case], None],
) -> None:
    last: list[tuple[str, Case, BaseException]] = []

    def run(case: Case) -> None:
        before(case)
        try:
            tried.inputs += target.check(case)
        except Exception as error:
            kind = kind_of(error)
            if kind not in tried.found:
                last[:] = [(kind, case, error)]
                raise

    wrapped = settings(
        max_examples=examples,
        derandomize=number is None,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )(given(cases)(run))
    try:
        (wrapped if number is None else seed(number)(wrapped))()
    except Exception:
        if not last:
            raise
    finally:
        for kind, case, error in last:
            tried.found[kind] = (case, error)


def _cut(target: Target, kind: str, case: Case) -> Case:
    return smallest(case, lambda shorter: fails_with(target, shorter) == kind)
