# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Message sizes as cumulative distributions: our file format, the named workloads, sampling. Knows no network.

The format is CSV: `size_bytes,cumulative_percent,steps`, rising in both, from 0 % to 100 %. Between two rows the size
is linear in the percentage; a row with `steps` n > 1 is followed by n - 1 further points, equally spaced in percent and
in 1 / size (how Google's RPC table is made inside each octave,
docs/sources.md#message-sizes). A `#` begins a comment line.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


DATA = Path(__file__).parent / "data"
COLUMNS = ("size_bytes", "cumulative_percent", "steps")
WORKLOADS = ("hadoop", "rpc", "websearch", "storage")
"""The distributions that come with the testbed."""


class SizeError(ValueError):
    """A distribution that cannot be used, said in one line."""


@dataclass(frozen=True)
class Knot:
    """A row of the format."""

    size_bytes: int
    percent: float
    steps: int = 1


@dataclass(frozen=True)
class SizeDistribution:
    """Points of a cumulative distribution, sizes in bytes."""

    name: str
    sizes: tuple[int, ...]
    percents: tuple[float, ...]

    @property
    def mean_bytes(self) -> float:
        """The exact mean of the linear interpolation: each segment weighs its percentage at its middle."""
        segments = zip(pairwise(self.sizes), pairwise(self.percents), strict=True)
        return sum((high - low) / 100 * (first + last) / 2 for (first, last), (low, high) in segments)

    def sample(self, count: int, random: np.random.Generator) -> NDArray[np.int64]:
        """Sizes drawn independently: linear between points, rounded down, at least 1 B (as the HPCC generator does)."""
        import numpy as np

        drawn = np.interp(random.uniform(0, 100, count), self.percents, self.sizes)
        return np.maximum(drawn.astype(np.int64), 1)

    def share_at_most(self, size_bytes: float) -> float:
        """The share of messages of at most this size, 0 to 1."""
        import numpy as np

        return float(np.interp(size_bytes, self.sizes, self.percents)) / 100


def from_knots(name: str, knots: Sequence[Knot]) -> SizeDistribution:
    """A distribution from the rows of our format. SizeError, naming the row, unless it rises from 0 to 100 %."""
    if len(knots) < 2 or knots[0].percent != 0 or knots[-1].percent != 100:
        raise SizeError(f"sizes {name}: a distribution needs at least two rows, from 0 to 100 percent")
    for number, (here, after) in enumerate(pairwise(knots), start=1):
        if after.size_bytes < here.size_bytes or after.percent < here.percent:
            raise SizeError(f"sizes {name}: row {number + 1} is below row {number}; both columns must rise")
        if here.steps < 1 or (here.steps > 1 and here.size_bytes == 0):
            raise SizeError(f"sizes {name}: row {number} has a number of steps that cannot be")
    points = [point for here, after in pairwise(knots) for point in _between(here, after)]
    points.append((knots[-1].size_bytes, knots[-1].percent))
    return SizeDistribution(name, tuple(size for size, _ in points), tuple(percent for _, percent in points))


def _between(here: Knot, after: Knot) -> Iterator[tuple[int, float]]:
    yield here.size_bytes, here.percent
    for step in range(1, here.steps):
        part = step / here.steps
        inverse = 1 / here.size_bytes + (1 / after.size_bytes - 1 / here.size_bytes) * part
        yield round(1 / inverse), here.percent + (after.percent - here.percent) * part


def parse_sizes(name: str, lines: Iterable[str]) -> SizeDistribution:
    """Reads our format. SizeError names the line that is wrong."""
    rows = csv.reader(line for line in lines if line.strip() and not line.startswith("#"))
    if tuple(next(rows, ())) != COLUMNS:
        raise SizeError(f"sizes {name}: the first row must be {','.join(COLUMNS)}")
    knots = []
    for row in rows:
        try:
            size, percent, steps = row
            knots.append(Knot(int(size), float(percent), int(steps)))
        except ValueError as error:
            raise SizeError(f"sizes {name}: not a row of three numbers: {','.join(row)}") from error
    return from_knots(name, knots)


@cache
def load_sizes(name: str) -> SizeDistribution:
    """A named distribution, or one from a file: our format, or the HPCC simulator's `size percent` lines."""
    if name in WORKLOADS:
        path = DATA / f"{name}.csv"
    else:
        path = Path(name)
        if not path.is_file():
            raise SizeError(f"sizes: there is no {name!r}; there are {', '.join(WORKLOADS)}, or the path of a file")
    lines = path.read_text(encoding="utf-8").splitlines()
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return parse_sizes(name, lines) if "," in first else parse_hpcc_cdf(name, lines)


def parse_hpcc_cdf(name: str, lines: Iterable[str]) -> SizeDistribution:
    """Reads the HPCC simulator's CDF file: `size cumulative_percent` on each line."""
    knots = []
    for line in lines:
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            size, percent = map(float, words)
        except ValueError as error:
            raise SizeError(f"sizes {name}: not `size percent`: {line.strip()}") from error
        knots.append(Knot(int(size), percent))
    return from_knots(name, knots)


def format_hpcc_cdf(distribution: SizeDistribution) -> str:
    """The distribution as the HPCC simulator's CDF file."""
    points = zip(distribution.sizes, distribution.percents, strict=True)
    return "".join(f"{size} {percent:.6g}\n" for size, percent in points)
