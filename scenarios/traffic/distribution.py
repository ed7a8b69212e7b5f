# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Cumulative distributions of message sizes: points, mean and sampling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from sfc_testbed.scenarios.model.flow import MAX_SIZE_BYTES, MAX_TAG_CHARACTERS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MAX_POINTS = 100_000
"""The most points of a distribution, with steps expanded."""
_PERCENT = 100
_FRACTION = 1
_DIGITS = 10
"""The decimal places of a percentage that was a fraction, so that 0.29 is 29 % and not 28.999999999999996 %."""
_ROUNDING = 1e-6
"""The largest relative error of the last share of a file: programs write rounded sums."""


class SizeError(ValueError):
    """An invalid distribution; the message is one line."""


@dataclass(frozen=True)
class Knot:
    """A row of a distribution file."""

    size_bytes: int
    percent: float
    steps: int = 1
    line: int | None = None
    """The number of the row's line in its file."""


@dataclass(frozen=True)
class SizeDistribution:
    """Points of a cumulative distribution, sizes in bytes."""

    name: str
    sizes: tuple[int, ...]
    percents: tuple[float, ...]
    notes: tuple[str, ...] = ()
    """Parts of a sentence about how the file was read, where its format leaves a choice."""

    @property
    def tag(self) -> str:
        """The traffic class of messages of these sizes: the name, or for a path the file name without its suffixes."""
        tag = self.name.rpartition("/")[2].partition(".")[0]
        return tag if tag.isprintable() and 1 <= len(tag) <= MAX_TAG_CHARACTERS else "sizes"

    @property
    def note(self) -> str | None:
        """A sentence about how the file was read; None if its format leaves no choice."""
        return f"Sizes {self.name}: {'; '.join(self.notes)}." if self.notes else None

    @property
    def mean_bytes(self) -> float:
        """The exact mean of the linear interpolation: each segment weighs its percentage at its middle."""
        segments = zip(pairwise(self.sizes), pairwise(self.percents), strict=True)
        return sum((high - low) / 100 * (first + last) / 2 for (first, last), (low, high) in segments)

    def sample(self, count: int, random: np.random.Generator) -> NDArray[np.int64]:
        """Draw independent sizes: linear between points, rounded down, at least 1 B, as the HPCC generator does."""
        import numpy as np

        sizes = np.interp(random.uniform(0, 100, count), self.percents, self.sizes)
        return np.maximum(sizes.astype(np.int64), 1)


def from_knots(name: str, knots: Sequence[Knot]) -> SizeDistribution:
    """Build a distribution from rows of the format. SizeError names the row that is invalid or does not rise.

    Shares may be fractions of 1. If the first share is not 0, that share of the messages has the first size.
    """
    if not knots:
        raise SizeError(f"sizes {name}: a distribution needs at least one row of a size and its share")
    places = [f"row {row}" if knot.line is None else f"line {knot.line}" for row, knot in enumerate(knots, start=1)]
    for number, (lower, upper) in enumerate(pairwise(knots)):
        if upper.size_bytes < lower.size_bytes or upper.percent < lower.percent:
            place, before = places[number + 1], places[number]
            raise SizeError(f"sizes {name}: {place} is below {before}; both columns must rise")
    for place, knot in zip(places[:-1], knots, strict=False):
        if knot.steps < 1 or (knot.steps > 1 and knot.size_bytes == 0):
            raise SizeError(f"sizes {name}: {place} has an invalid number of steps")
    if not 1 <= knots[-1].size_bytes <= MAX_SIZE_BYTES:
        raise SizeError(f"sizes {name}: the largest size must be 1 B to {MAX_SIZE_BYTES} B, not {knots[-1].size_bytes}")
    if sum(knot.steps for knot in knots) > MAX_POINTS:
        raise SizeError(f"sizes {name}: a distribution has at most {MAX_POINTS} points, with steps expanded")
    whole = _whole_of(knots[-1].percent)
    if whole is None:
        raise SizeError(
            f"sizes {name}: {places[-1]} ends at {knots[-1].percent:g}; the last share must be 100 (percent) or 1 "
            "(fraction), so add a row for the largest size"
        )
    notes = _notes(knots, places[0], whole)
    points = _points(list(_in_percent(knots, whole)))
    return SizeDistribution(name, tuple(size for size, _ in points), tuple(percent for _, percent in points), notes)


def _whole_of(last: float) -> int | None:
    """Return the share of all messages, 1 or 100, from the last share; None if it is neither."""
    return next((whole for whole in (_FRACTION, _PERCENT) if abs(last / whole - 1) <= _ROUNDING), None)


def _notes(knots: Sequence[Knot], first: str, whole: int) -> tuple[str, ...]:
    notes = []
    if whole == _FRACTION:
        notes.append("the shares end at 1 and are read as fractions, not as percentages")
    if knots[0].percent:
        share = knots[0].percent * _PERCENT / whole
        notes.append(f"{first} begins at {share:g} %, so this fraction of the messages has {knots[0].size_bytes} B")
    return tuple(notes)


def _in_percent(knots: Sequence[Knot], whole: int) -> Iterator[Knot]:
    """Yield the rows with shares from 0 to 100 percent."""
    factor = _PERCENT // whole
    if knots[0].percent:
        yield replace(knots[0], percent=0.0, steps=1)
    for knot in knots[:-1]:
        percent = knot.percent if whole == _PERCENT else round(knot.percent * factor, _DIGITS)
        yield replace(knot, percent=min(percent, _PERCENT))
    yield replace(knots[-1], percent=float(_PERCENT))


def _points(knots: Sequence[Knot]) -> list[tuple[int, float]]:
    """Return the points, with steps expanded.

    Between two sizes that differ by 1 B there is no size, so the share of this row has the larger size.
    """
    points = [point for lower, upper in pairwise(knots) for point in _between(lower, upper)]
    points.append((knots[-1].size_bytes, knots[-1].percent))
    result = points[:1]
    for (size, percent), upper in pairwise(points):
        if upper[0] == size + 1 and upper[1] > percent:
            result.append((upper[0], percent))
        result.append(upper)
    return result


def _between(lower: Knot, upper: Knot) -> Iterator[tuple[int, float]]:
    yield lower.size_bytes, lower.percent
    for step in range(1, lower.steps):
        part = step / lower.steps
        inverse = 1 / lower.size_bytes + (1 / upper.size_bytes - 1 / lower.size_bytes) * part
        yield round(1 / inverse), lower.percent + (upper.percent - lower.percent) * part
