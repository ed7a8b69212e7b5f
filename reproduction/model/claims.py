# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The kinds of claim that the paper makes, each a small class. Over an axis a claim must hold at every place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analysis.formatting import format_ratio
from analysis.results.stored import Run
from reproduction.model.experiment import Measured, Measurement, NotMeasured, Results
from reproduction.model.quantities import Quantity


@dataclass(frozen=True)
class Ratio:
    """A quantity of one scheme over that of another, at the same place, lies between two bounds."""

    claim: str
    paper: str
    of: Quantity
    scheme: str
    base: str
    at_least: float | None = None
    at_most: float | None = None
    where: Mapping[str, Any] = field(default_factory=dict)

    def check(self, results: Results) -> Measured:
        found = []
        for each in _chosen(results, self.scheme, self.where):
            value, base = (self.of.measure(run) for run in (each.run, results.at(self.base, each.point.place)))
            if not base:
                raise NotMeasured(f"{self.of.name} of {self.base} is zero")
            found.append((value / base, f"{self.of.write(value)} against {self.of.write(base)}", each))
        worst = _worst([ratio for ratio, *_ in found], self.at_least, self.at_most)
        ratio, words, each = found[worst]
        text = f"{format_ratio(ratio)} ({words}{_place(each, found)})"
        return Measured(ratio, _between(ratio, self.at_least, self.at_most), text)


@dataclass(frozen=True)
class Bound:
    """A quantity of a scheme lies between bounds: numbers, or formulas of the run (how a claim scales)."""

    claim: str
    paper: str
    of: Quantity
    scheme: str
    at_least: float | Callable[[Run], float] | None = None
    at_most: float | Callable[[Run], float] | None = None
    where: Mapping[str, Any] = field(default_factory=dict)

    def check(self, results: Results) -> Measured:
        found = []
        for each in _chosen(results, self.scheme, self.where):
            value = self.of.measure(each.run)
            low, high = (_at(bound, each.run) for bound in (self.at_least, self.at_most))
            found.append((value, low, high, each))
        value, low, high, each = min(found, key=lambda one: _margin(*one[:3]))
        wanted = " and ".join(
            f"{word} {self.of.write(bound)}"
            for word, bound in (("at least", low), ("at most", high))
            if bound is not None
        )
        return Measured(
            value, _between(value, low, high), f"{self.of.write(value)} (wanted {wanted}{_place(each, found)})"
        )


@dataclass(frozen=True)
class Linear:
    """A quantity grows in proportion to an axis: the straight line through its values explains them."""

    claim: str
    paper: str
    of: Quantity
    scheme: str
    axis: str
    least_r2: float = 0.9
    where: Mapping[str, Any] = field(default_factory=dict)

    def check(self, results: Results) -> Measured:
        chosen = _chosen(results, self.scheme, self.where)
        slope, r2 = _line(chosen, self.of, self.axis)
        text = f"{self.of.write(slope)} a step of {self.axis}, R² {r2:.3f} over {len(chosen)} places"
        return Measured(r2, r2 >= self.least_r2 and slope > 0, text)


@dataclass(frozen=True)
class SteeperThan:
    """Along an axis, a quantity grows faster under one scheme than under another, at least by a factor."""

    claim: str
    paper: str
    of: Quantity
    steep: str
    flat: str
    axis: str
    at_least: float
    where: Mapping[str, Any] = field(default_factory=dict)

    def check(self, results: Results) -> Measured:
        steep, flat = (
            _line(_chosen(results, scheme, self.where), self.of, self.axis)[0] for scheme in (self.steep, self.flat)
        )
        text = f"{self.of.write(steep)} against {self.of.write(flat)} a step of {self.axis}"
        return Measured(steep / flat if flat else None, steep > 0 and steep >= self.at_least * flat, text)


@dataclass(frozen=True)
class Spread:
    """A quantity of a scheme changes little over an axis: highest over lowest."""

    claim: str
    paper: str
    of: Quantity
    scheme: str
    at_most: float
    where: Mapping[str, Any] = field(default_factory=dict)

    def check(self, results: Results) -> Measured:
        values = [self.of.measure(each.run) for each in _chosen(results, self.scheme, self.where)]
        low, high = min(values), max(values)
        ratio = high / low if low else float("inf")
        return Measured(ratio, ratio <= self.at_most, f"{self.of.write(low)} to {self.of.write(high)}")


@dataclass(frozen=True)
class SameDistribution:
    """Each of several quantities, such as quantiles of one distribution, is alike under two schemes."""

    claim: str
    paper: str
    each_of: tuple[Quantity, ...]
    scheme: str
    base: str
    within: float
    where: Mapping[str, Any] = field(default_factory=dict)

    def check(self, results: Results) -> Measured:
        found = []
        for each in _chosen(results, self.scheme, self.where):
            for quantity in self.each_of:
                value, base = (quantity.measure(run) for run in (each.run, results.at(self.base, each.point.place)))
                if not base:
                    raise NotMeasured(f"{quantity.name} of {self.base} is zero")
                found.append((value / base, f"{quantity.name}: {quantity.write(value)} against {quantity.write(base)}"))
        ratio, words = max(found, key=lambda one: abs(one[0] - 1))
        text = f"{format_ratio(ratio)} ({words}; the farthest of {len(found)})"
        return Measured(ratio, abs(ratio - 1) <= self.within, text)


@dataclass(frozen=True)
class Judged:
    """A claim that needs its own arithmetic."""

    claim: str
    paper: str
    judge: Callable[[Results], Measured]

    def check(self, results: Results) -> Measured:
        return self.judge(results)


def _chosen(results: Results, scheme: str, where: Mapping[str, Any]) -> list[Measurement]:
    chosen = [each for each in results.of(scheme) if where.items() <= each.point.place.items()]
    if not chosen:
        raise NotMeasured(f"{scheme} was not run at {dict(where)}")
    return chosen


def _line(chosen: list[Measurement], of: Quantity, axis: str) -> tuple[float, float]:
    """Slope and R² of the least-squares line."""
    if len(chosen) < 3:
        raise NotMeasured(f"a line over {axis} needs three places, there are {len(chosen)}")
    places = np.array([float(each.point.place[axis]) for each in chosen])
    values = np.array([of.measure(each.run) for each in chosen])
    slope, offset = np.polyfit(places, values, 1)
    spread = float(((values - values.mean()) ** 2).sum())
    error = float(((values - (slope * places + offset)) ** 2).sum())
    return float(slope), 1 - error / spread if spread else 0.0


def _at(bound: float | Callable[[Run], float] | None, run: Run) -> float | None:
    return bound(run) if callable(bound) else bound


def _between(value: float, low: float | None, high: float | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _margin(value: float, low: float | None, high: float | None) -> float:
    """How far inside its bounds a value lies, as a share of the nearer one; negative: outside."""
    margins = [(value - low) / (abs(low) or 1.0)] if low is not None else []
    margins += [(high - value) / (abs(high) or 1.0)] if high is not None else []
    return min(margins, default=0.0)


def _worst(ratios: list[float], low: float | None, high: float | None) -> int:
    """The place at which the claim is nearest to failing, or fails most."""
    if high is not None and (low is None or max(ratios) > high):
        return int(np.argmax(ratios))
    return int(np.argmin(ratios))


def _place(each: Measurement, found: list[Any]) -> str:
    if len(found) == 1:
        return ""
    where = ", ".join(f"{name} {value}" for name, value in each.point.place.items())
    return f"; at {where}, the worst of {len(found)}"
