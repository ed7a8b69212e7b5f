# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The kinds of claim that the paper makes, one class each. A claim over an axis must hold at every point of it.

This module loads nothing slow, because every process that loads an extension with claims imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sfc_testbed.analysis.formatting import format_ratio
from sfc_testbed.analysis.results.quantities import NotMeasured, Quantity, quantity_of
from sfc_testbed.reproduction.model.experiment import Claim, Evidence, Measured, Measurement, Results
from sfc_testbed.request.arguments import checked_class
from sfc_testbed.request.table import Table
from sfc_testbed.scenarios.model.scenario import ScaleName

if TYPE_CHECKING:
    from sfc_testbed.analysis.results.stored import Run

CLAIMS: Table[tuple[Claim, ...]] = Table("claims")
"""The claims of extensions, by the order in which they were added."""

LEAST_R2 = 0.9
"""R² of a line from which a relation counts as linear."""


def is_claim(value: object) -> bool:
    """Return whether a value of a user's file is a claim."""
    return all(isinstance(getattr(value, part, None), str) for part in ("claim", "paper")) and hasattr(value, "check")


@dataclass(frozen=True)
class Statement:
    """The texts of a claim, and where it counts."""

    claim: str
    """The claim in our words, with its limits."""
    paper: str
    """The paper's value or wording."""
    is_ours: bool = field(default=False, kw_only=True)
    """Whether our set-up decides the claim, or it tests our simulator. It is then not one of the paper's."""
    only_at: tuple[ScaleName, ...] = field(default=(), kw_only=True)
    """The scales at which the claim can fail; empty: all."""


@checked_class
@dataclass(frozen=True)
class Ratio(Statement):
    """A claim that the ratio of a quantity under two schemes lies between two bounds at every point."""

    of: Quantity | str
    scheme: str
    base: str
    at_least: float | None = None
    at_most: float | None = None
    where: Mapping[str, Any] = field(default_factory=dict)

    def check(self, results: Results) -> Measured:
        ratios = []
        for measurement in _chosen(results, self.scheme, self.where):
            ratios.append((*_ratio(quantity_of(self.of), measurement, results, self.base), measurement))
        worst = _worst([ratio for ratio, *_ in ratios], self.at_least, self.at_most)
        ratio, values, measurement = ratios[worst]
        holds = _between(ratio, self.at_least, self.at_most)
        evidence = Evidence(values, "", *_place(measurement, len(ratios)))
        return Measured(ratio, holds, format_ratio(ratio), format_ratio, evidence)


@checked_class
@dataclass(frozen=True)
class Bound(Statement):
    """A claim that a quantity of a scheme lies between two bounds: numbers, or functions of the run."""

    of: Quantity | str
    scheme: str
    at_least: float | Callable[[Run], float] | None = None
    at_most: float | Callable[[Run], float] | None = None
    where: Mapping[str, Any] = field(default_factory=dict)

    def check(self, results: Results) -> Measured:
        of, bounded = quantity_of(self.of), []
        for measurement in _chosen(results, self.scheme, self.where):
            value = of.measure(measurement.run)
            low, high = (_at(bound, measurement.run) for bound in (self.at_least, self.at_most))
            bounded.append((value, low, high, measurement))
        value, low, high, measurement = min(bounded, key=lambda row: _margin(*row[:3]))
        evidence = Evidence("", _required(low, high, of.write), *_place(measurement, len(bounded)))
        return Measured(value, _between(value, low, high), of.write(value), of.write, evidence)


@checked_class
@dataclass(frozen=True)
class Linear(Statement):
    """A claim that a quantity grows linearly with an axis: R² of the fitted line is at least LEAST_R2."""

    of: Quantity | str
    scheme: str
    axis: str
    where: Mapping[str, Any] = field(default_factory=dict)

    def check(self, results: Results) -> Measured:
        chosen = _chosen(results, self.scheme, self.where)
        of = quantity_of(self.of)
        slope, r2 = _line(chosen, of, self.axis)
        text = f"{of.write(slope)} per unit of {self.axis}, R² {r2:.3f}"
        evidence = Evidence(selection=f"over {len(chosen)} points")
        return Measured(r2, r2 >= LEAST_R2 and slope > 0, text, "{:.3f}".format, evidence)


@checked_class
@dataclass(frozen=True)
class SlopeRatio(Statement):
    """A claim that the slopes of a quantity over an axis under two schemes have a ratio between two bounds."""

    of: Quantity | str
    scheme: str
    base: str
    axis: str
    at_least: float | None = None
    at_most: float | None = None
    where: Mapping[str, Any] = field(default_factory=dict)

    def check(self, results: Results) -> Measured:
        of = quantity_of(self.of)
        slope, base = (
            _line(_chosen(results, scheme, self.where), of, self.axis)[0] for scheme in (self.scheme, self.base)
        )
        values = f"{of.write(slope)} vs. {of.write(base)} per unit of {self.axis}"
        if slope <= 0 or base <= 0:
            return Measured(None, False, values)
        ratio = slope / base
        holds = _between(ratio, self.at_least, self.at_most)
        return Measured(ratio, holds, format_ratio(ratio), format_ratio, Evidence(values))


@checked_class
@dataclass(frozen=True)
class Spread(Statement):
    """A claim that a quantity of a scheme changes little over an axis: its highest value over its lowest is limited."""

    of: Quantity | str
    scheme: str
    at_most: float
    where: Mapping[str, Any] = field(default_factory=dict)

    def check(self, results: Results) -> Measured:
        of = quantity_of(self.of)
        values = [of.measure(measurement.run) for measurement in _chosen(results, self.scheme, self.where)]
        low, high = min(values), max(values)
        ratio = high / low if low else float("inf")
        text = f"{of.write(low)} to {of.write(high)}"
        return Measured(ratio, ratio <= self.at_most, text, format_ratio)


@checked_class
@dataclass(frozen=True)
class NoneLower(Statement):
    """A claim that no quantity, such as a percentile of a distribution, is lower than under another scheme."""

    each_of: Sequence[Quantity | str]
    scheme: str
    base: str
    at_least: float
    where: Mapping[str, Any] = field(default_factory=dict)

    def check(self, results: Results) -> Measured:
        ratios = []
        for measurement in _chosen(results, self.scheme, self.where):
            for quantity in map(quantity_of, self.each_of):
                ratio, values = _ratio(quantity, measurement, results, self.base)
                ratios.append((ratio, quantity.name, values))
        ratio, name, values = min(ratios)
        evidence = Evidence(values, "", f"lowest of {len(ratios)}", name)
        return Measured(ratio, ratio >= self.at_least, format_ratio(ratio), format_ratio, evidence)


@checked_class
@dataclass(frozen=True)
class Judged(Statement):
    """A claim with a check of its own."""

    judge: Callable[[Results], Measured]

    def check(self, results: Results) -> Measured:
        return self.judge(results)


def _chosen(results: Results, scheme: str, where: Mapping[str, Any]) -> list[Measurement]:
    chosen = [measurement for measurement in results.of(scheme) if where.items() <= measurement.point.place.items()]
    if not chosen:
        raise NotMeasured(f"{scheme} was not run at {dict(where)}")
    return chosen


def _ratio(of: Quantity, measurement: Measurement, results: Results, base: str) -> tuple[float, str]:
    """Return a run's quantity divided by the base scheme's quantity at the same place, and both values as text."""
    value, divisor = of.measure(measurement.run), of.measure(results.at(base, measurement.point.place))
    if not divisor:
        raise NotMeasured(f"{of.name} of {base} is zero")
    return value / divisor, f"{of.write(value)} vs. {of.write(divisor)}"


def _line(chosen: list[Measurement], of: Quantity, axis: str) -> tuple[float, float]:
    """Return the slope and R² of the least-squares line."""
    import numpy as np

    if len(chosen) < 3:
        raise NotMeasured(f"a line over {axis} needs three points, but there are {len(chosen)}")
    positions = np.array([float(measurement.point.place[axis]) for measurement in chosen])
    values = np.array([of.measure(measurement.run) for measurement in chosen])
    slope, offset = np.polyfit(positions, values, 1)
    spread = float(((values - values.mean()) ** 2).sum())
    error = float(((values - (slope * positions + offset)) ** 2).sum())
    return float(slope), 1 - error / spread if spread else 0.0


def _at(bound: float | Callable[[Run], float] | None, run: Run) -> float | None:
    return bound(run) if callable(bound) else bound


def _between(value: float, low: float | None, high: float | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _margin(value: float, low: float | None, high: float | None) -> float:
    """Return the distance to the nearer bound, as a share of this bound; negative if the value is outside."""
    margins = [(value - low) / (abs(low) or 1.0)] if low is not None else []
    margins += [(high - value) / (abs(high) or 1.0)] if high is not None else []
    return min(margins, default=0.0)


def _worst(ratios: list[float], low: float | None, high: float | None) -> int:
    """Return the index of the ratio that is nearest to failing the claim, or that fails it most."""
    if high is not None and (low is None or max(ratios) > high):
        return ratios.index(max(ratios))
    return ratios.index(min(ratios))


def _required(low: float | None, high: float | None, write: Callable[[float], str]) -> str:
    """Return the limits as text; empty without a limit."""
    if low is None:
        return "" if high is None else f"at most {write(high)}"
    return f"at least {write(low)}" if high is None else f"{write(low)} to {write(high)}"


def worst_of(points: int, fails: int) -> str:
    """Return the selection of the worst of several points, of which some fail; empty for one point."""
    return f"worst of {points}, {fails} outside" if points > 1 else ""


def _place(worst: Measurement, points: int) -> tuple[str, str]:
    """Return the selection and the place of the worst point; empty texts if it is the only one."""
    if points == 1:
        return "", ""
    return f"worst of {points} points", ", ".join(f"{name} {value}" for name, value in worst.point.place.items())
