# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""validation.json: the results of comparing live runs with virtual runs, in model units."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from sfc_testbed.analysis.metrics.figures import Figure, Figures
from sfc_testbed.analysis.results.result import MAX_FILE_BYTES, Level, ResultError
from sfc_testbed.request.bounded_file import FileRefused, read_bounded_text
from sfc_testbed.request.spec import variant_of
from sfc_testbed.request.stored_versions import version_in, version_refused
from sfc_testbed.telemetry.atomic_file import replace_text

FILE_NAME = "validation.json"
_VERSION = 1
SCHEMA: Literal["sfc-testbed/validation/1"] = "sfc-testbed/validation/1"


class MetricFinding(Figures):
    """A figure on both clocks. Difference and tolerance are in the figure's unit."""

    metric: str
    """The metric's name, followed by a dot and the traffic class if the figure is for one class."""
    unit: str
    virtual: Figure | None
    live: Figure | None
    """The figures of the two runs. One of them may be None: that run has too few samples for the figure."""
    difference: Figure | None
    """live - virtual."""
    share: Figure | None
    """The difference as a share of the virtual figure; None where that is 0."""
    tolerance: Figure | None
    within: bool
    spread: tuple[Figure, Figure] | None = None
    """The lowest and highest figure of the virtual runs, with and without jitter; None: no run with jitter."""

    @property
    def name(self) -> str:
        """The metric's name without the traffic class."""
        return self.metric.partition(".")[0]

    @property
    def traffic_class(self) -> str:
        """The traffic class; empty for a figure of the whole run."""
        return self.metric.partition(".")[2]

    @property
    def is_reached(self) -> bool:
        """Whether the live figure is within the range of the virtual runs with jitter."""
        return self.spread is not None and self.live is not None and self.spread[0] <= self.live <= self.spread[1]

    @property
    def is_nothing(self) -> bool:
        """Whether the figure is zero on both clocks."""
        return self.virtual == 0 and self.live == 0


class ValidatedRun(Figures):
    """A scenario under a scheme, on both clocks."""

    scenario: str
    scheme: str
    load_balancing: str | None = None
    """The name of the requested load balancing of both runs; None for the scheme's own."""
    program: str | None = None
    """The name of the P4 program of both runs; None for the testbed's own, as in result.json."""
    switch: str
    """The switch of the live run; the virtual run always uses softswitch."""
    scale: str
    place: str
    """The values on the axes of the experiment, as text; empty for the unchanged scenario."""
    seed: int
    dilation: int
    """The dilation of the live run."""
    dilation_given: bool = False
    """Whether the user set the dilation, for a point on the curve of error against lateness."""
    host_lateness: Figure | None = None
    switch_lateness: Figure | None = None
    """The P99 lateness of hosts and of switches in the live run, as a share of the base RTT; None: not measured."""
    verdict: Level
    """The worse verdict of the two runs."""
    verdict_reasons: tuple[str, ...]
    metrics: tuple[MetricFinding, ...]
    virtual_command: str
    live_command: str
    virtual_folder: str
    live_folder: str
    """The names of the run folders, which are beside validation.json."""
    live_wall_s: Figure | None
    jitter_ns: int = 0
    """The highest jitter per link in the virtual runs for `spread`; it equals the P99 lateness of the live run."""
    jitter_runs: int = 0

    @property
    def label(self) -> str:
        """Scenario, scheme and place, such as `incast sfc, degree 8`."""
        run = f"{self.scenario} {variant_of(self.scheme, self.load_balancing, self.program)}"
        return ", ".join(part for part in (run, self.place) if part)

    @property
    def lateness(self) -> float | None:
        """The higher P99 lateness of hosts and switches; None unless both were measured."""
        if self.host_lateness is None or self.switch_lateness is None:
            return None
        return max(self.host_lateness, self.switch_lateness)

    @property
    def peak_error(self) -> float | None:
        """The error of the peak buffer, as a share of the virtual figure."""
        return next((finding.share for finding in self.metrics if finding.name == "peak_buffer_bytes"), None)

    @property
    def worst_p95(self) -> MetricFinding | None:
        """The P95 slowdown with the largest error among the traffic classes."""
        findings = [
            finding for finding in self.metrics if finding.name == "fct_slowdown_p95" and finding.share is not None
        ]
        return max(findings, key=lambda finding: abs(finding.share or 0), default=None)

    @property
    def outside(self) -> tuple[MetricFinding, ...]:
        """The figures outside their tolerance."""
        return tuple(finding for finding in self.metrics if not finding.within)


class Validation(Figures):
    """The content of validation.json."""

    schema_name: Literal["sfc-testbed/validation/1"] = Field(default=SCHEMA, alias="schema")
    runs: tuple[ValidatedRun, ...]
    failures: tuple[str, ...] = ()
    """Runs that could not be compared, and why."""
    left_out: tuple[str, ...] = ()
    """Runs that were left out, and why: unsupported by the switch, or longer than the time limit."""

    @property
    def is_trusted(self) -> bool:
        """Whether every run could be compared and none is invalid."""
        return not self.failures and all(run.verdict != "invalid" for run in self.runs)

    @property
    def is_within(self) -> bool:
        """Whether every figure of every run is within its tolerance."""
        return not any(run.outside for run in self.runs)


def is_validation(folder: Path) -> bool:
    """Return whether a folder was written by `validate`."""
    return (folder / FILE_NAME).exists()


def write_validation(path: Path, validation: Validation) -> None:
    """Write validation.json atomically."""
    replace_text(path, validation.to_json())


def read_validation(path: Path) -> Validation:
    """Read validation.json. Raises ResultError with the file and the reason if it cannot be read."""
    try:
        content = json.loads(read_bounded_text(path, MAX_FILE_BYTES))
        version = version_in(content.get("schema") if isinstance(content, dict) else None, "validation")
        if version not in (None, _VERSION):
            raise ResultError(f"{path}: {version_refused('validation', version, _VERSION)}")
        return Validation.model_validate(content)
    except FileNotFoundError as error:
        raise ResultError(f"{path}: no such file") from error
    except FileRefused as error:
        raise ResultError(f"{path}: it {error}") from error
    except (ValidationError, ValueError, RecursionError) as error:
        raise ResultError(f"{path}: not a validation that this release can read") from error
