# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The one-sentence meaning of a comparison: its effect on completion, other traffic, the peak buffer, and the incast.

The sentence is computed from the runs alone, so it also reports no gain, or runs that are not reliable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sfc_testbed.analysis.formatting import format_bytes, format_interval, format_number, format_us, three_digits
from sfc_testbed.analysis.metrics.figures import Interval
from sfc_testbed.analysis.metrics.flows import ALL_CLASSES
from sfc_testbed.analysis.results.over_seeds import Estimate

SAME_WITHIN = 0.05
"""The relative difference below which two values count as equal: the tolerance between the two clocks
(docs/fidelity.md). With seeds that disagree, the confidence interval decides instead."""


@dataclass(frozen=True)
class Ratio:
    """The ratio of a scheme's figure to the base scheme's."""

    value: float
    interval: Interval | None = None
    is_constant: bool = False
    """Whether the ratio is the same with each of several seeds."""

    @classmethod
    def of(cls, estimate: Estimate) -> Ratio:
        """Return the ratio that was estimated from several seeds."""
        return cls(estimate.mean, estimate.interval, estimate.is_constant)

    @property
    def sign(self) -> int:
        """The direction of the difference: 1 higher, -1 lower, 0 not significant.

        An interval counts as printed, with three digits: a sentence does not call [1 to 1] a difference.
        """
        if self.interval is None:
            low, high = self.value * (1 - SAME_WITHIN), self.value * (1 + SAME_WITHIN)
        else:
            low, high = (float(f"{end:.3g}") for end in self.interval)
        return 1 if low > 1 else -1 if high < 1 else 0

    def __str__(self) -> str:
        if self.is_constant:
            return f"{three_digits(self.value)}x with every seed"
        if self.interval is None:
            return f"{three_digits(self.value)}x"
        return f"{three_digits(self.value)}x{format_interval(self.interval)}"


@dataclass(frozen=True)
class Side:
    """A scheme's figures by name."""

    scheme: str
    figures: Mapping[str, float | None]
    verdict: str
    unfinished: tuple[int, int] = (0, 0)
    """The number of flows that did not finish, and of all flows."""
    intervals: Mapping[str, Interval | None] = field(default_factory=dict)
    """The bootstrap intervals of figures of a single run."""


@dataclass(frozen=True)
class Completion:
    """The completion time of a traffic class in both runs."""

    traffic_class: str
    took_us: float
    base_us: float
    ratio: Ratio


@dataclass(frozen=True)
class Contrast:
    """The figures of a scheme and of the base scheme, and their ratios by name."""

    base: Side
    scheme: Side
    ratios: Mapping[str, Ratio | None]
    traffic_class: str
    completions: Sequence[Completion] = ()
    seeds: int = 1
    is_constant: bool = False
    """Whether the seed changes none of the figures."""


def sentence(contrast: Contrast) -> str | None:
    """Return the meaning of a comparison, first what did not finish; None if the runs have no figure in common."""
    buffer = contrast.ratios.get("max_buffer_bytes")
    parts = [
        *map(_completed, contrast.completions),
        *_others(contrast),
        *([_BUFFER_EFFECTS[buffer.sign]] if buffer else []),
        *_incast(contrast),
    ]
    details = [_completion_detail(completion, contrast) for completion in contrast.completions]
    details += [
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
    over = "" if contrast.seeds == 1 else f", {_over(contrast)}"
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


def _over(contrast: Contrast) -> str:
    if contrast.is_constant:
        return f"the same with each of {contrast.seeds} seeds"
    return f"over {contrast.seeds} seeds [95 % confidence]"


def _doubt(contrast: Contrast) -> str:
    sides = (contrast.base, contrast.scheme)
    doubtful = [f"{side.scheme} is {side.verdict}" for side in sides if side.verdict != "faithful"]
    return f"Not reliable ({' and '.join(doubtful)}): " if doubtful else ""


def _name(completion: Completion) -> str:
    return "all flows" if completion.traffic_class == ALL_CLASSES else completion.traffic_class


def _completed(completion: Completion) -> str:
    """Return the effect on the completion time of a traffic class."""
    if completion.ratio.sign == 0:
        return f"the completion of {_name(completion)} shows no clear difference"
    verb = "complete" if completion.traffic_class == ALL_CLASSES else "completes"
    return f"{_name(completion)} {verb} {_WHEN[completion.ratio.sign]}"


def _others(contrast: Contrast) -> list[str]:
    """Return the effect on the main traffic class, in its tail (if large enough for a P99) and at its median."""
    tail, middle = contrast.ratios.get("p99_slowdown"), contrast.ratios.get("p50_slowdown")
    name = f"{contrast.traffic_class} flows"
    effects = [f"the slowest {name} {_FLOW_EFFECTS[tail.sign]}{_overlap(contrast, tail.sign)}"] if tail else []
    if middle:
        effects.append(f"the median {'flows' if tail else name} {_FLOW_EFFECTS[middle.sign]}")
    return effects


def _overlap(contrast: Contrast, sign: int) -> str:
    """Return a remark if the intervals of both P99 overlap, because chance may then explain their difference."""
    intervals = [side.intervals.get("p99_slowdown") for side in (contrast.base, contrast.scheme)]
    known = [interval for interval in intervals if interval is not None]
    if not sign or len(known) < len(intervals) or max(low for low, _ in known) > min(high for _, high in known):
        return ""
    return " (perhaps by chance: the intervals overlap)"


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
    0: "the completion of the incast shows no clear difference",
    1: "the incast completes later",
}
_WHEN = {-1: "earlier", 1: "later"}


def _detail(contrast: Contrast, name: str, title: str) -> str | None:
    ratio, value, base = contrast.ratios.get(name), contrast.scheme.figures.get(name), contrast.base.figures.get(name)
    if ratio is None or value is None or base is None:
        return None
    formatted = format_bytes if name.endswith("_bytes") else format_number
    intervals = [_tail_interval(name, side) for side in (contrast.scheme, contrast.base)]
    values = " vs. ".join(f"{formatted(figure)}{text}" for figure, text in zip((value, base), intervals, strict=True))
    return f"{title} {values}, {_factor(ratio, contrast)}"


def _tail_interval(name: str, side: Side) -> str:
    """Return the interval of a P99, which few flows decide. Other figures have theirs on the page."""
    return format_interval(side.intervals.get(name)) if name == "p99_slowdown" else ""


def _completion_detail(completion: Completion, contrast: Contrast) -> str:
    times = f"{format_us(completion.took_us)} vs. {format_us(completion.base_us)}"
    return f"completion of {_name(completion)} {times}, {_factor(completion.ratio, contrast)}"


def _factor(ratio: Ratio, contrast: Contrast) -> str:
    """Return a ratio as text. If the seed changes nothing at all, the sentence has said so already."""
    return f"{three_digits(ratio.value)}x" if contrast.is_constant else str(ratio)
