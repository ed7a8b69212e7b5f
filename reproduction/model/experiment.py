# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What an experiment is: a scenario, the runs it asks for at each scale, the paper's claims about them, and figures.

Data only. It starts no run; whoever does hands back `Results`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, Protocol

from matplotlib.figure import Figure

from analysis.results.stored import Run
from scenarios.model.scenario import ScaleName, Scenario

ClockName = Literal["real", "virtual"]


class NotMeasured(Exception):
    """A claim needs a run or a figure that there is not; the text says which."""


@dataclass(frozen=True)
class Axis:
    """Something that is swept: for each value (a number or a short text) the `--set` keys that bring it about."""

    name: str
    values: Mapping[Any, Mapping[str, Any]]

    @classmethod
    def of(cls, name: str, key: str, values: Sequence[Any]) -> Axis:
        """An axis over one key."""
        return cls(name, {value: {key: value} for value in values})


@dataclass(frozen=True)
class Point:
    """One run: a scheme at a place on every axis."""

    scheme: str
    place: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """`--set` keys; `duration_ms` and `topology` are the run's `--duration` and `--topology`."""
    seed: int = 1
    clock: ClockName = "virtual"
    dilation: int | None = None
    """Of a real-clock run; None: chosen for the machine."""

    @property
    def label(self) -> str:
        """The scheme and where it stands, such as `sfc+none, degree 16`."""
        return ", ".join([self.scheme, *(f"{name} {value}" for name, value in self.place.items())])


@dataclass(frozen=True)
class Grid:
    """Runs of an experiment at one scale: every scheme at every place."""

    schemes: tuple[str, ...]
    axes: tuple[Axis, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    clock: ClockName = "virtual"
    seed: int = 1
    dilation: int | None = None

    def points(self) -> Iterator[Point]:
        """The runs, schemes changing fastest."""
        for chosen in product(*(axis.values.items() for axis in self.axes)):
            place = {axis.name: value for axis, (value, _) in zip(self.axes, chosen, strict=True)}
            settings = {**self.settings, **{key: value for _, keys in chosen for key, value in keys.items()}}
            for scheme in self.schemes:
                yield Point(scheme, place, settings, self.seed, self.clock, self.dilation)


@dataclass(frozen=True)
class Grids:
    """Several grids whose runs are one experiment's."""

    parts: tuple[Grid, ...]

    def points(self) -> Iterator[Point]:
        """The runs of all parts."""
        for part in self.parts:
            yield from part.points()


@dataclass(frozen=True)
class Measurement:
    """A point and the run that was made of it."""

    point: Point
    run: Run


@dataclass(frozen=True)
class Results:
    """All runs of an experiment at one scale."""

    scale: ScaleName
    measurements: tuple[Measurement, ...]

    def of(self, scheme: str) -> tuple[Measurement, ...]:
        """The runs of a scheme in axis order. NotMeasured if there is none."""
        found = tuple(each for each in self.measurements if each.point.scheme == scheme)
        if not found:
            raise NotMeasured(f"{scheme} was not run")
        return found

    def at(self, scheme: str, place: Mapping[str, Any]) -> Run:
        """The run of a scheme at a place, which may name some of the axes. NotMeasured if there is none."""
        for each in self.of(scheme):
            if place.items() <= each.point.place.items():
                return each.run
        raise NotMeasured(f"{scheme} was not run at {dict(place)}")


@dataclass(frozen=True)
class Measured:
    """What a claim's check found: the figure it turns on (None without one), whether it holds, and words for both."""

    value: float | None
    holds: bool
    text: str


class Claim(Protocol):
    """One sentence of the paper, and how runs are held against it."""

    @property
    def claim(self) -> str:
        """What is claimed, in our words."""

    @property
    def paper(self) -> str:
        """What the paper measured or says."""

    def check(self, results: Results) -> Measured:
        """Holds the runs against it. NotMeasured where they cannot tell."""


def judge(claim: Claim, results: Results) -> Measured:
    """The check's finding; a claim that could not be measured does not hold."""
    try:
        return claim.check(results)
    except NotMeasured as error:
        return Measured(None, False, f"not measured: {error}")


@dataclass(frozen=True)
class FigureSpec:
    """A figure of an experiment, on the paper's axes."""

    name: str
    caption: str
    draw: Callable[[Results], Figure]


@dataclass(frozen=True)
class Experiment:
    """An experiment of the paper's evaluation."""

    title: str
    paper: str
    """Where in the paper: `Fig. 1`, by the numbers that its LaTeX source gives."""
    scenario: Scenario
    grids: Mapping[ScaleName, Grid | Grids]
    claims: tuple[Claim, ...]
    figures: tuple[FigureSpec, ...] = ()
    """The paper's own first."""
    notes: tuple[str, ...] = ()
    """What a reader must know to judge the figures, such as how a smaller scale was derived."""
    shows: str = ""
    """What the paper's figure shows, and what the paper reads from it."""

    @property
    def name(self) -> str:
        return self.scenario.name
