# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Cumulative distributions of message sizes: the file format, the named workloads, and sampling.

The format is CSV with the columns `size_bytes,cumulative_percent,steps`. Sizes and percentages rise, from 0 % to 100 %.
Between two rows the size is linear in the percentage. A row with `steps` n > 1 is followed by n - 1 further points,
equally spaced in percent and in 1 / size, as Google's RPC table is inside each octave (docs/sources.md#message-sizes).
A `#` begins a comment line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.model.flow import MAX_SIZE_BYTES, MAX_TAG_CHARACTERS
from wire.input.bounded_file import FileRefused, read_bounded_text
from wire.input.quantities import in_unit
from wire.input.validation import shortened, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


DATA = Path(__file__).parent / "data"
COLUMNS = ("size_bytes", "cumulative_percent", "steps")
WORKLOADS = ("hadoop", "rpc", "websearch", "storage")
"""The distributions that come with the testbed."""

MAX_POINTS = 100_000
"""The most points of a distribution, with steps expanded."""
MAX_FILE_BYTES = 10_000_000
_WHOLE = re.compile(r"[0-9]{1,15}")
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{0,30})?([eE][+-]?[0-9]{1,2})?")


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

    @property
    def tag(self) -> str:
        """The traffic class of messages of these sizes: the name, or for a path the file name without its suffixes."""
        tag = self.name.rpartition("/")[2].partition(".")[0]
        return tag if tag.isprintable() and 1 <= len(tag) <= MAX_TAG_CHARACTERS else "sizes"

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
    """Build a distribution from rows of the format. SizeError names the row that is invalid or does not rise."""
    if len(knots) < 2 or knots[0].percent != 0 or knots[-1].percent != 100:
        raise SizeError(f"sizes {name}: a distribution needs at least two rows, from 0 to 100 percent")
    places = [f"row {row}" if knot.line is None else f"line {knot.line}" for row, knot in enumerate(knots, start=1)]
    for number, (lower, upper) in enumerate(pairwise(knots)):
        if upper.size_bytes < lower.size_bytes or upper.percent < lower.percent:
            place, before = places[number + 1], places[number]
            raise SizeError(f"sizes {name}: {place} is below {before}; both columns must rise")
        if lower.steps < 1 or (lower.steps > 1 and lower.size_bytes == 0):
            raise SizeError(f"sizes {name}: {places[number]} has an invalid number of steps")
    if not 1 <= knots[-1].size_bytes <= MAX_SIZE_BYTES:
        raise SizeError(f"sizes {name}: the largest size must be 1 B to {MAX_SIZE_BYTES} B, not {knots[-1].size_bytes}")
    if sum(knot.steps for knot in knots) > MAX_POINTS:
        raise SizeError(f"sizes {name}: a distribution has at most {MAX_POINTS} points, with steps expanded")
    points = [point for lower, upper in pairwise(knots) for point in _between(lower, upper)]
    points.append((knots[-1].size_bytes, knots[-1].percent))
    return SizeDistribution(name, tuple(size for size, _ in points), tuple(percent for _, percent in points))


def _between(lower: Knot, upper: Knot) -> Iterator[tuple[int, float]]:
    yield lower.size_bytes, lower.percent
    for step in range(1, lower.steps):
        part = step / lower.steps
        inverse = 1 / lower.size_bytes + (1 / upper.size_bytes - 1 / lower.size_bytes) * part
        yield round(1 / inverse), lower.percent + (upper.percent - lower.percent) * part


def parse_sizes(name: str, lines: Iterable[str]) -> SizeDistribution:
    """Parse the CSV format. SizeError names the invalid line."""
    numbered = _numbered(lines)
    first, header = next(numbered, (1, ""))
    if header.strip() != ",".join(COLUMNS):
        raise SizeError(f"sizes {name}: line {first}: the first row must be {','.join(COLUMNS)}")
    knots = []
    for number, row in numbered:
        try:
            size, percent, steps = row.split(",")
            knots.append(Knot(_size_bytes(size.strip()), _number(percent), _whole(steps), number))
        except ValueError as error:
            raise SizeError(f"sizes {name}: line {number}: not a row of three numbers: {shown(row)}") from error
    return from_knots(name, knots)


@cache
def load_sizes(name: str) -> SizeDistribution:
    """Load a named distribution, or a file in the CSV format or in the HPCC simulator's `size percent` lines."""
    path = DATA / f"{name}.csv" if name in WORKLOADS else Path(name)
    try:
        lines = read_bounded_text(path, MAX_FILE_BYTES).splitlines()
    except FileNotFoundError as error:
        raise SizeError(
            f"sizes: unknown workload or file {shown(name)}; choose from {', '.join(WORKLOADS)}, or give a file's path"
        ) from error
    except FileRefused as error:
        raise SizeError(f"sizes {shortened(name)}: the file {error}") from error
    _, first = next(_numbered(lines), (1, ""))
    return parse_sizes(name, lines) if "," in first else parse_hpcc_cdf(name, lines)


def parse_hpcc_cdf(name: str, lines: Iterable[str]) -> SizeDistribution:
    """Parse the HPCC simulator's CDF file: `size cumulative_percent` on each line."""
    knots = []
    for number, line in _numbered(lines):
        try:
            size, percent = map(_number, line.split())
        except ValueError as error:
            raise SizeError(f"sizes {name}: line {number}: not `size percent`: {shown(line.strip())}") from error
        knots.append(Knot(int(size), percent, line=number))
    return from_knots(name, knots)


def _numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are neither empty nor comments, with their numbers."""
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line


def _size_bytes(text: str) -> int:
    return _whole(text if _WHOLE.fullmatch(text) else str(in_unit(text, "bytes")))


def _whole(text: str) -> int:
    if not _WHOLE.fullmatch(text.strip()):
        raise ValueError("not a whole number")
    return int(text)


def _number(text: str) -> float:
    """Parse a number of ASCII digits without sign, infinity or NaN, a stricter syntax than that of float()."""
    if not _NUMBER.fullmatch(text.strip()):
        raise ValueError("not a number")
    return float(text)


def format_hpcc_cdf(distribution: SizeDistribution) -> str:
    """Format the distribution as the HPCC simulator's CDF file."""
    points = zip(distribution.sizes, distribution.percents, strict=True)
    return "".join(f"{size} {percent:.6g}\n" for size, percent in points)
