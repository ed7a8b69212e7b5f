# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The one-sentence meaning of a comparison: its effect on other traffic, the peak buffer, and the incast.

The sentence is computed from the runs alone, so it also reports no gain, or runs that are not reliable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.formatting import format_bytes, format_number, three_digits
from analysis.metrics.figures import Interval

SAME_WITHIN = 0.05
"""The relative difference below which two values count as equal: the tolerance between the two clocks
(docs/fidelity.md). With several seeds, the confidence interval decides instead."""


@dataclass(frozen=True)
class Ratio:
    """The ratio of a scheme's figure to the base scheme's."""

    value: float
    interval: Interval | None = None

    @property
    def sign(self) -> int:
        """The direction of the difference: 1 higher, -1 lower, 0 not significant."""
        low, high = self.interval or (self.value * (1 - SAME_WITHIN), self.value * (1 + SAME_WITHIN))
        return 1 if low > 1 else -1 if high < 1 else 0

    def __str__(self) -> str:
        if self.interval is None:
            return f"{three_digits(self.value)}x"
        low, high = map(three_digits, self.interval)
        return f"{three_digits(self.value)}x [{low} to {high}]"


@dataclass(frozen=True)
class Side:
    """A scheme's figures by name."""

    scheme: str
    figures: Mapping[str, float | None]
    verdict: str
    unfinished: tuple[int, int] = (0, 0)
    """The number of flows that did not finish, and of all flows."""


@dataclass(frozen=True)
class Contrast:
    """The figures of a scheme and of the base scheme, and their ratios by name."""

    base: Side
    scheme: Side
    ratios: Mapping[str, Ratio | None]
    traffic_class: str
    seeds: int = 1


def sentence(contrast: Contrast) -> str | None:
    """Return the meaning of a comparison, first what did not finish; None if the runs have no figure in common."""
    buffer = contrast.ratios.get("max_buffer_bytes")
    parts = [*_others(contrast), *([_BUFFER_EFFECTS[buffer.sign]] if buffer else []), *_incast(contrast)]
    details = [
        detail
        for name, title in (
            ("p99_slowdown", f"P99 slowdown of {contrast.traffic_class} flows"),
            ("p50_slowdown", "their P50"),
            ("max_buffer_bytes", "peak buffer"),
            ("incast_p50_slowdown", "P50 of the incast"),
            ("incast_last_slowdown", "its last flow"),
        )
        if (detail := _detail(contrast, name, title))
    ]
    unfinished = _unfinished(contrast)
    if not parts:
        return unfinished or None
    effects = "; ".join(parts)
    over = f", over {contrast.seeds} seeds [95 % confidence]" if contrast.seeds > 1 else ""
    text = f"{contrast.scheme.scheme} compared with {contrast.base.scheme}{over}: {effects} ({'; '.join(details)})."
    return f"{unfinished}{' ' if unfinished else ''}{_doubt(contrast)}{text}"


def _unfinished(contrast: Contrast) -> str:
    """Return the work that either scheme did not finish, as a sentence; empty if both finished all flows."""
    if not contrast.scheme.unfinished[0] and not contrast.base.unfinished[0]:
        return ""
    scheme, base = (_finished(side) for side in (contrast.scheme, contrast.base))
    return f"{scheme} ({base})."


def _finished(side: Side) -> str:
    count, total = side.unfinished
    return (
        f"{side.scheme} did not finish {count:,} of {total:,} flows" if count else f"{side.scheme} finished all flows"
    )


def _doubt(contrast: Contrast) -> str:
    sides = (contrast.base, contrast.scheme)
    doubtful = [f"{side.scheme} is {side.verdict}" for side in sides if side.verdict != "faithful"]
    return f"Not reliable ({' and '.join(doubtful)}): " if doubtful else ""


def _others(contrast: Contrast) -> list[str]:
    """Return the effect on the main traffic class, in its tail (if large enough for a P99) and at its median."""
    tail, middle = contrast.ratios.get("p99_slowdown"), contrast.ratios.get("p50_slowdown")
    name = f"{contrast.traffic_class} flows"
    effects = [f"the slowest {name} {_FLOW_EFFECTS[tail.sign]}"] if tail else []
    if middle:
        effects.append(f"the median {'flows' if tail else name} {_FLOW_EFFECTS[middle.sign]}")
    return effects


def _incast(contrast: Contrast) -> list[str]:
    """Return the effect on the incast's completion, and on its median flow if that differs."""
    last, middle = contrast.ratios.get("incast_last_slowdown"), contrast.ratios.get("incast_p50_slowdown")
    if last is None:
        return []
    differs = middle is not None and middle.sign not in (0, last.sign)
    return [_INCAST_EFFECTS[last.sign] + (f", its median flow {_WHEN[middle.sign]}" if middle and differs else "")]


_FLOW_EFFECTS = {-1: "finish earlier", 0: "show no clear difference", 1: "finish later"}
_BUFFER_EFFECTS = {
    -1: "the peak buffer is smaller",
    0: "the peak buffer shows no clear difference",
    1: "the peak buffer is larger",
}
_INCAST_EFFECTS = {
    -1: "the incast completes earlier",
    0: "the incast completes at about the same time",
    1: "the incast completes later",
}
_WHEN = {-1: "earlier", 1: "later"}


def _detail(contrast: Contrast, name: str, title: str) -> str | None:
    ratio, value, base = contrast.ratios.get(name), contrast.scheme.figures.get(name), contrast.base.figures.get(name)
    if ratio is None or value is None or base is None:
        return None
    formatted = format_bytes if name.endswith("_bytes") else format_number
    return f"{title} {formatted(value)} vs. {formatted(base)}, {ratio}"
