# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The outcome of a claim over one or several seeds, and counts of outcomes in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

Outcome = Literal["holds", "fails", "depends on the seed"]

HOLDS: Final = "holds"
FAILS: Final = "fails"
DEPENDS: Final = "depends on the seed"
OURS: Final = " (ours)"
"""Marks the outcome of a claim that is not one of the paper's."""

_VERBS: Final[Mapping[Outcome, tuple[str, str]]] = {
    HOLDS: ("holds", "hold"),
    FAILS: ("fails", "fail"),
    DEPENDS: ("depends", "depend"),
}


def outcome_of(holds: Sequence[bool]) -> Outcome:
    """Return the outcome of a claim that was checked once for each seed."""
    if all(holds):
        return HOLDS
    return DEPENDS if any(holds) else FAILS


def shown(outcome: Outcome, *, is_ours: bool) -> str:
    """Return an outcome as tables show it, such as `holds (ours)`."""
    return f"{outcome}{OURS if is_ours else ''}"


def tally(outcomes: Iterable[str]) -> str:
    """Count outcomes as `shown` returns them, such as `7 claims of the paper: 5 hold, 2 fail; 1 of ours: 1 holds`."""
    papers, ours = _separated(outcomes)
    total = f"{len(papers)} {'claim' if len(papers) == 1 else 'claims'} of the paper"
    parts = [f"{total}: {_counts(papers)}"] if papers else []
    parts += [f"{len(ours)} of ours: {_counts(ours)}"] if ours else []
    return "; ".join(parts)


def tally_in_sentences(outcomes: Iterable[str]) -> str:
    """Count outcomes in full sentences, such as `Of 7 claims of the paper, 5 hold and 2 fail.`."""
    papers, ours = _separated(outcomes)
    return " ".join(
        _sentence(group, owner) for group, owner in ((papers, "of the paper"), (ours, "of our own")) if group
    )


def _sentence(outcomes: Sequence[str], owner: str) -> str:
    if set(outcomes) == {HOLDS} and len(outcomes) > 1:
        return f"{'Both' if len(outcomes) == 2 else f'All {len(outcomes)}'} claims {owner} hold."
    if len(outcomes) == 1:
        return f"The only claim {owner} {_counts(outcomes).removeprefix('1 ')}."
    *first, last = _counts(outcomes).split(", ")
    counted = f"{', '.join(first)} and {last}" if first else last
    return f"Of {len(outcomes)} claims {owner}, {counted}."


def brief_tally(outcomes: Iterable[str]) -> str:
    """Count outcomes without totals, such as `5 hold, 2 fail; ours: 1 holds`."""
    papers, ours = _separated(outcomes)
    parts = [_counts(papers)] if papers else []
    parts += [f"ours: {_counts(ours)}"] if ours else []
    return "; ".join(parts)


def _separated(outcomes: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the outcomes of the paper's claims and of ours, without the mark."""
    every = list(outcomes)
    ours = [outcome.removesuffix(OURS) for outcome in every if outcome.endswith(OURS)]
    return [outcome for outcome in every if not outcome.endswith(OURS)], ours


def _counts(outcomes: Sequence[str]) -> str:
    counts = Counter(outcomes)
    return ", ".join(
        f"{counts[outcome]} {predicate(outcome, counts[outcome])}" for outcome in _VERBS if counts[outcome]
    )


def predicate(outcome: Outcome, claims: int) -> str:
    """Return the predicate of a sentence about claims with an outcome, such as `hold` or `depends on the seed`."""
    return f"{_VERBS[outcome][claims != 1]}{' on the seed' if outcome == DEPENDS else ''}"
