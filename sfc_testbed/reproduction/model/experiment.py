# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The description of an experiment: a scenario, its runs at each scale, the paper's claims about them, and figures.

An experiment is data and starts no run. `reproduction.reproduce` makes the runs, and `reproduction.judge` checks the
claims against their `Results`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, Protocol

from sfc_testbed.analysis.formatting import format_number
from sfc_testbed.analysis.results.quantities import NotMeasured as NotMeasured
from sfc_testbed.request.spec import RunConfig
from sfc_testbed.scenarios.model.scenario import ScaleName, Scenario

if TYPE_CHECKING:  # these load slowly, and every process that loads an extension with claims imports this module
    from sfc_testbed.analysis.plots.description import Plot
    from sfc_testbed.analysis.results.stored import Run

ClockName = Literal["real", "virtual"]


GO_BACK_N = {"transport.loss_recovery": "go-back-n", "transport.loss_recovery_parameters": {}}
"""The loss recovery of the paper's testbed, which replaces the scheme's own."""


TESTBED = {**GO_BACK_N, "transport.congestion_parameters": {"window_based": True}}
"""The hosts of the paper's testbed: go-back-N, and NICs whose DCQCN sets a window of at least one packet."""


def config_of(run: Run) -> RunConfig:
    """Return the configuration of a run. Raise NotMeasured if it could not be read."""
    if run.config is None:
        raise NotMeasured("the run's configuration cannot be read")
    return run.config


@dataclass(frozen=True)
class Axis:
    """An axis of a sweep: for each value (a number or a short text) the `--set` keys that produce it."""

    name: str
    values: Mapping[Any, Mapping[str, Any]]

    @classmethod
    def of(cls, name: str, key: str, values: Sequence[Any]) -> Axis:
        """Return an axis over the values of one key."""
        return cls(name, {value: {key: value} for value in values})


@dataclass(frozen=True)
class Point:
    """The description of one run: a scheme and a place, which is a value on every axis."""

    scheme: str
    place: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """`--set` keys and values. `duration_ms`, `topology`, `load_balancing` and `faults` become the run's options
    `--duration`, `--topology`, `--load-balancing` and `--fault`. `scenario` replaces the experiment's scenario."""
    seed: int = 1
    clock: ClockName = "virtual"
    dilation: int | None = None
    """The dilation of a real-clock run; None: chosen for the machine."""

    @property
    def label(self) -> str:
        """The scheme, the place and a seed other than 1, such as `sfc+none, degree 16, seed 2`."""
        seed = [f"seed {self.seed}"] if self.seed != 1 else []
        return ", ".join([self.scheme, *(f"{name} {value}" for name, value in self.place.items()), *seed])


@dataclass(frozen=True)
class Grid:
    """The runs of an experiment at one scale: every scheme at every place."""

    schemes: tuple[str, ...]
    axes: tuple[Axis, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    clock: ClockName = "virtual"
    seed: int = 1
    dilation: int | None = None

    def points(self) -> Iterator[Point]:
        """Yield the runs place by place, with all schemes at each place."""
        for values in product(*(axis.values.items() for axis in self.axes)):
            place = {axis.name: value for axis, (value, _) in zip(self.axes, values, strict=True)}
            settings = {**self.settings, **{key: value for _, keys in values for key, value in keys.items()}}
            for scheme in self.schemes:
                yield Point(scheme, place, settings, self.seed, self.clock, self.dilation)


@dataclass(frozen=True)
class Grids:
    """Several grids that together are the runs of one experiment."""

    parts: tuple[Grid, ...]

    def points(self) -> Iterator[Point]:
        """Yield the runs of all parts, in their order."""
        for part in self.parts:
            yield from part.points()


@dataclass(frozen=True)
class Measurement:
    """A run of an experiment, with its point: the scheme and the value on every axis."""

    point: Point
    run: Run


@dataclass(frozen=True)
class Results:
    """The runs of an experiment at one scale, with one seed."""

    scale: ScaleName
    measurements: tuple[Measurement, ...]

    def of(self, scheme: str) -> tuple[Measurement, ...]:
        """Return the runs of a scheme in axis order. NotMeasured if there is none."""
        measurements = tuple(measurement for measurement in self.measurements if measurement.point.scheme == scheme)
        if not measurements:
            raise NotMeasured(f"{scheme} was not run")
        return measurements

    def at(self, scheme: str, place: Mapping[str, Any]) -> Run:
        """Return the first run of a scheme at a place, which may leave out axes. NotMeasured if there is none."""
        for measurement in self.of(scheme):
            if place.items() <= measurement.point.place.items():
                return measurement.run
        raise NotMeasured(f"{scheme} was not run at {dict(place)}")


@dataclass(frozen=True)
class Evidence:
    """The texts that explain a measured value; each may be empty."""

    values: str = ""
    """The values that it compares, such as `8 MB vs. 24 MB`."""
    required: str = ""
    """Its limits, such as `at most 16 MB`."""
    selection: str = ""
    """The rule by which it was chosen, such as `worst of 7 points`."""
    point: str = ""
    """The run or the place that was chosen."""

    def __str__(self) -> str:
        """Return the texts in parentheses, after a space."""
        required = f"required: {self.required}" if self.required else ""
        chosen = ": ".join(filter(None, (self.selection, self.point)))
        texts = "; ".join(filter(None, (self.values, required, chosen)))
        return f" ({texts})" if texts else ""


@dataclass(frozen=True)
class Measured:
    """The result of a claim's check: the value that decides it (None without one), whether it holds, and a text."""

    value: float | None
    holds: bool
    text: str
    write: Callable[[float], str] | None = format_number
    """Formats the value, for the range over several seeds. None: no range, because the text has other values."""
    evidence: Evidence = Evidence()

    @property
    def full_text(self) -> str:
        return f"{self.text}{self.evidence}"


class Claim(Protocol):
    """A statement of the paper, or one of ours, and the check of runs against it."""

    @property
    def claim(self) -> str:
        """The claim in our words, with its limits."""

    @property
    def paper(self) -> str:
        """The paper's value or wording."""

    @property
    def is_ours(self) -> bool:
        """Whether our set-up decides the claim, or it tests our simulator. It is then not one of the paper's."""

    @property
    def only_at(self) -> tuple[ScaleName, ...]:
        """The scales at which the claim can fail; empty: all."""

    def check(self, results: Results) -> Measured:
        """Check the runs. NotMeasured if they cannot decide the claim."""


def judge(claim: Claim, results: Results) -> Measured:
    """Check a claim. A claim that could not be measured does not hold."""
    try:
        return claim.check(results)
    except NotMeasured as error:
        return Measured(None, False, f"not measured: {error}")


@dataclass(frozen=True)
class FigureSpec:
    """The figure of an experiment, on the paper's axes."""

    caption: str
    draw: Callable[[Results], Plot]


class MeasuredFigure(Protocol):
    """A figure of a run, such as a quantity of a claim."""

    @property
    def name(self) -> str: ...

    @property
    def measure(self) -> Callable[[Run], float]:
        """Measures a run. NotMeasured if the run has too little data."""

    @property
    def write(self) -> Callable[[float], str]:
        """Formats the value."""


@dataclass(frozen=True)
class Column:
    """A column of a table: a figure of the runs at a place."""

    heading: str
    figure: MeasuredFigure
    where: Mapping[str, Any] = field(default_factory=dict)
    scheme: str = ""
    """The scheme of the runs, in a table whose rows have none."""


@dataclass(frozen=True)
class TableSpec:
    """A table of an experiment, with a row for each scheme, for each place, or for each scheme at each place."""

    caption: str
    columns: tuple[Column, ...]
    schemes: tuple[str, ...]
    places: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The places by their name in the table's first column."""
    places_heading: str = ""


@dataclass(frozen=True)
class Experiment:
    """An experiment of the paper's evaluation."""

    title: str
    paper: str
    """The place in the paper, such as `Fig. 1`, numbered as in its LaTeX source."""
    scenario: Scenario
    grids: Mapping[ScaleName, Grid | Grids]
    claims: tuple[Claim, ...]
    figure: FigureSpec | None = None
    tables: tuple[TableSpec, ...] = ()
    notes: tuple[str, ...] = ()
    """Information that a reader needs to judge the values, such as the derivation of a smaller scale."""
    is_in_validate_all: bool = True
    """Whether `validate all` compares its pairs of runs; not if other experiments have the same workloads."""
    shows: str = ""
    """A description of the paper's figure and of the paper's conclusions from it."""

    @property
    def name(self) -> str:
        return self.scenario.name
