# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a comparison means, in one sentence: what the other traffic gains, what the buffer holds, what the incast pays.

Computed from the runs alone, so it says as readily that nothing was gained, or that the runs cannot be relied on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.formatting import format_bytes, format_number, three_digits
from analysis.metrics.figures import Interval

SAME_WITHIN = 0.05
"""As far as the same flows may differ between the two clocks (docs/fidelity.md); with several seeds their interval
decides instead."""


@dataclass(frozen=True)
class Ratio:
    """Of a scheme's figure over the base's."""

    value: float
    interval: Interval | None = None

    @property
    def sign(self) -> int:
        """1: higher, -1: lower, 0: no difference that the runs can show."""
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


@dataclass(frozen=True)
class Contrast:
    """A scheme against the base, and the ratios of their figures by name."""

    base: Side
    scheme: Side
    ratios: Mapping[str, Ratio | None]
    traffic_class: str
    seeds: int = 1


def sentence(contrast: Contrast) -> str | None:
    """One sentence; None where the runs have no figure in common."""
    held = contrast.ratios.get("max_buffer_bytes")
    parts = [*_others(contrast), *([_HELD[held.sign]] if held else []), *_incast(contrast)]
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
    if not parts:
        return None
    told = "; ".join(parts)
    over = f", over {contrast.seeds} seeds [95 % confidence]" if contrast.seeds > 1 else ""
    said = f"{contrast.scheme.scheme} against {contrast.base.scheme}{over}: {told} ({'; '.join(details)})."
    return f"{_doubt(contrast)}{said}"


def _doubt(contrast: Contrast) -> str:
    sides = (contrast.base, contrast.scheme)
    doubtful = [f"{side.scheme} is {side.verdict}" for side in sides if side.verdict != "faithful"]
    return f"Not to be relied on, {' and '.join(doubtful)}: " if doubtful else ""


def _others(contrast: Contrast) -> list[str]:
    """What the class that the comparison is about feels, in its tail where it is large enough to have one."""
    tail, middle = contrast.ratios.get("p99_slowdown"), contrast.ratios.get("p50_slowdown")
    name = f"{contrast.traffic_class} flows"
    told = [f"the slowest {name} {_FEEL[tail.sign]}"] if tail else []
    if middle:
        told.append(f"the middle {'ones' if tail else name} {_FEEL[middle.sign]}")
    return told


def _incast(contrast: Contrast) -> list[str]:
    """What the incast pays: as a whole, and its median flow where that fares otherwise."""
    last, middle = contrast.ratios.get("incast_last_slowdown"), contrast.ratios.get("incast_p50_slowdown")
    if last is None:
        return []
    differs = middle is not None and middle.sign not in (0, last.sign)
    return [_DONE[last.sign] + (f", its median flow {_WHEN[middle.sign]}" if middle and differs else "")]


_FEEL = {-1: "finish sooner", 0: "show no clear difference", 1: "finish later"}
_HELD = {
    -1: "the fullest switch holds less",
    0: "the fullest switch shows no clear difference",
    1: "the fullest switch holds more",
}
_DONE = {-1: "the incast is done sooner", 0: "the incast is done at about the same time", 1: "the incast is done later"}
_WHEN = {-1: "sooner", 1: "later"}


def _detail(contrast: Contrast, name: str, title: str) -> str | None:
    ratio, value, base = contrast.ratios.get(name), contrast.scheme.figures.get(name), contrast.base.figures.get(name)
    if ratio is None or value is None or base is None:
        return None
    shown = format_bytes if name.endswith("_bytes") else format_number
    return f"{title} {shown(value)} for {shown(base)}, {ratio}"
