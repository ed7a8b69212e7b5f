# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""validation.json: what came out when live runs were held against virtual ones. In model units."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from analysis.formatting import variant_of
from analysis.metrics.figures import Figure, Figures
from analysis.results.result import MAX_FILE_BYTES, Level, ResultError
from telemetry.atomic_file import replace_text
from wire.input.bounded_file import FileRefused, read_bounded_text

FILE_NAME = "validation.json"
SCHEMA: Literal["sfc-testbed/validation/1"] = "sfc-testbed/validation/1"


class MetricFinding(Figures):
    """One figure on both clocks; difference and tolerance are in its unit."""

    metric: str
    """Its name; with a point and the traffic class where it has one."""
    unit: str
    virtual: Figure | None
    live: Figure | None
    """None, here and above: that run cannot carry the figure, and the other can."""
    difference: Figure | None
    """live - virtual."""
    share: Figure | None
    """The difference as a share of the virtual figure; None where that is 0."""
    tolerance: Figure | None
    within: bool
    spread: tuple[Figure, Figure] | None = None
    """Lowest and highest of the virtual runs, plain and with jitter; None: there was no run with jitter."""

    @property
    def name(self) -> str:
        """Of the metric, without the traffic class."""
        return self.metric.partition(".")[0]

    @property
    def traffic_class(self) -> str:
        """Empty: of the run as a whole."""
        return self.metric.partition(".")[2]

    @property
    def is_reached(self) -> bool:
        """Jitter alone moves the virtual figure as far as the live one is."""
        return self.spread is not None and self.live is not None and self.spread[0] <= self.live <= self.spread[1]

    @property
    def is_nothing(self) -> bool:
        """Neither clock saw any of it."""
        return self.virtual == 0 and self.live == 0


class ValidatedRun(Figures):
    """A scenario under a scheme, on both clocks."""

    scenario: str
    scheme: str
    program: str | None = None
    """As in result.json, on both clocks."""
    switch: str
    """Of the live run; the virtual one is always of softswitch."""
    scale: str
    place: str
    """Where on the axes of its experiment; empty: the scenario as it is."""
    seed: int
    dilation: int
    """Of the live run."""
    dilation_given: bool = False
    """By whoever asked for the run: a point on the curve of error against lateness, not what the testbed chooses."""
    host_lateness: Figure | None = None
    switch_lateness: Figure | None = None
    """P99 of the live run, as a share of the base RTT. None: not measured."""
    verdict: Level
    """The worse one of the two."""
    verdict_reasons: tuple[str, ...]
    metrics: tuple[MetricFinding, ...]
    virtual_command: str
    live_command: str
    virtual_folder: str
    live_folder: str
    """Names of the run folders, beside validation.json."""
    live_wall_s: Figure | None
    jitter_ns: int = 0
    """Each link's at most in the runs that `spread` is of: the live run's lateness (P99)."""
    jitter_runs: int = 0

    @property
    def label(self) -> str:
        """`incast sfc`, and the place where there is one."""
        what = f"{self.scenario} {variant_of(self.scheme, self.program)}"
        return ", ".join(part for part in (what, self.place) if part)

    @property
    def lateness(self) -> float | None:
        """The later one of hosts and switches; None unless both were measured."""
        if self.host_lateness is None or self.switch_lateness is None:
            return None
        return max(self.host_lateness, self.switch_lateness)

    @property
    def peak_error(self) -> float | None:
        """Of the peak buffer, as a share of the virtual one."""
        return next((found.share for found in self.metrics if found.name == "peak_buffer_bytes"), None)

    @property
    def worst_p95(self) -> MetricFinding | None:
        """The P95 slowdown that is furthest off."""
        found = [each for each in self.metrics if each.name == "fct_slowdown_p95" and each.share is not None]
        return max(found, key=lambda each: abs(each.share or 0), default=None)

    @property
    def outside(self) -> tuple[MetricFinding, ...]:
        """Figures that miss their tolerance."""
        return tuple(each for each in self.metrics if not each.within)


class Validation(Figures):
    """validation.json."""

    schema_name: Literal["sfc-testbed/validation/1"] = Field(default=SCHEMA, alias="schema")
    runs: tuple[ValidatedRun, ...]
    failures: tuple[str, ...] = ()
    """Runs that could not be compared, and why."""
    left_out: tuple[str, ...] = ()
    """What was left out: the switch cannot do it, or it would have taken longer than somebody wanted to wait."""

    @property
    def is_trusted(self) -> bool:
        """No run failed or is invalid."""
        return not self.failures and all(run.verdict != "invalid" for run in self.runs)

    @property
    def is_within(self) -> bool:
        """Every figure of every run."""
        return not any(run.outside for run in self.runs)

    def to_json(self) -> str:
        """The text of the file, newline at its end."""
        return json.dumps(self.model_dump(mode="json", by_alias=True), indent=2, ensure_ascii=False) + "\n"


def is_validation(folder: Path) -> bool:
    """Whether a folder is one of `validate`."""
    return (folder / FILE_NAME).exists()


def write_validation(path: Path, validation: Validation) -> None:
    """In one step."""
    replace_text(path, validation.to_json())


def read_validation(path: Path) -> Validation:
    """Raises ResultError, whose message names the file and the reason."""
    try:
        return Validation.model_validate_json(read_bounded_text(path, MAX_FILE_BYTES))
    except FileNotFoundError as error:
        raise ResultError(f"{path}: no such file") from error
    except FileRefused as error:
        raise ResultError(f"{path}: it {error}") from error
    except (ValidationError, ValueError, RecursionError) as error:
        raise ResultError(f"{path}: not a validation of this release") from error
