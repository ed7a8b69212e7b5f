# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""reproduction.json: the findings about an experiment's claims, and the runs behind them."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_serializer

from sfc_testbed.analysis.formatting import format_ratio
from sfc_testbed.analysis.report.html_pages import REPORT_FILE
from sfc_testbed.analysis.results.outcome import FAILS, HOLDS, Outcome, shown
from sfc_testbed.analysis.results.result import MAX_FILE_BYTES, Level
from sfc_testbed.place import command_name
from sfc_testbed.reproduction.model.experiment import Evidence
from sfc_testbed.request.bounded_file import read_bounded_text
from sfc_testbed.request.spec import P4Program
from sfc_testbed.request.stored_versions import version_in, version_refused
from sfc_testbed.scenarios.model.scenario import ScaleName
from sfc_testbed.testbed.errors import UsageError

FILE_NAME = "reproduction.json"
_VERSION = 3
SCHEMA = f"sfc-testbed/reproduction/{_VERSION}"
_FACTOR = re.compile(r" times (lower|better) ")
"""The direction of a claim about a factor, whose measured ratio is the inverse of the factor."""
_OPPOSITES = {"lower": "higher", "better": "worse"}


class ClaimFinding(BaseModel):
    """The finding about one claim."""

    model_config = ConfigDict(frozen=True)

    claim: str
    paper: str
    text: str
    """The measured value as text. With several seeds this is the median (of an even number, the larger of the two
    middle values)."""
    evidence: Evidence = Evidence()
    range_over_seeds: str = ""
    """The lowest and the highest value, or `the same`; empty with one seed, or if a value is missing."""
    value: float | None
    """The median over the seeds; None if a run or a value is missing."""
    values: tuple[float | None, ...]
    """The value with each seed."""
    outcome: Outcome
    is_ours: bool = False
    """Whether it is our own claim, not the paper's."""

    @property
    def outcome_text(self) -> str:
        """The outcome as tables show it."""
        return shown(self.outcome, is_ours=self.is_ours)

    @property
    def measured(self) -> str:
        """The measured value with its evidence, and its range over several seeds."""
        seeds = f"; {self.range_over_seeds} over {len(self.values)} seeds" if self.range_over_seeds else ""
        return f"{self.text}{self.evidence}{seeds}"

    @property
    def brief(self) -> str:
        """The measured value alone, such as `0.35x`; its inverse, such as `2.9x lower`, if the claim names a factor."""
        if self._direction is None or not self.value:
            return self.text
        if self.value < 1:
            return f"{format_ratio(1 / self.value)} {self._direction}"
        return f"{format_ratio(self.value)} {_OPPOSITES[self._direction]}"

    @property
    def brief_range(self) -> str:
        """The range of `brief` over the seeds."""
        if self._direction is None:
            return self.range_over_seeds
        factors = sorted(1 / value for value in self.values if value)
        return f"{format_ratio(factors[0])} to {format_ratio(factors[-1])}"

    @property
    def _direction(self) -> str | None:
        """The direction of a claim about a factor whose ratio was measured: `lower` or `better`."""
        direction = _FACTOR.search(self.claim)
        return direction[1] if direction and self.value and self.text == format_ratio(self.value) else None


class FigureTable(BaseModel):
    """A table of measured figures; a cell is the median over the seeds."""

    model_config = ConfigDict(frozen=True)

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class RunOfExperiment(BaseModel):
    """A run on which the findings are based."""

    model_config = ConfigDict(frozen=True)

    label: str
    scheme: str
    folder: str
    command: str
    verdict: Level
    wall_s: float | None = None
    """The wall time of the run; None: not measured."""


class Reproduction(BaseModel):
    """The content of reproduction.json: the findings of an experiment at a scale."""

    model_config = ConfigDict(frozen=True)

    schema_name: str = Field(default=SCHEMA, serialization_alias="schema")
    experiment: str
    title: str
    paper_place: str
    scale: ScaleName
    claims: tuple[ClaimFinding, ...]
    runs: tuple[RunOfExperiment, ...]
    failures: tuple[str, ...]
    notes: tuple[str, ...]
    tables: tuple[FigureTable, ...] = ()
    seeds: tuple[int, ...] = (1,)
    clock: str | None = None
    """The clock, if it differs from the experiment's."""
    changed: tuple[str, ...] = ()
    """Settings that the user changed. The findings then test a reason and do not reproduce the paper."""
    program: P4Program | None = None
    """The P4 program of the switches; None: the testbed's own. Another program does not reproduce the paper either."""

    @field_serializer("program")
    def _stored_program(self, program: P4Program | None) -> dict[str, str | None] | None:
        """Store the fields that config.json has too."""
        return None if program is None else program.as_dict()

    @property
    def command(self) -> str:
        """The command that repeats the reproduction."""
        words = [command_name(), "reproduce", self.experiment, "--scale", self.scale]
        words += ["--seed", str(self.seeds[0])] if len(self.seeds) == 1 else ["--seeds", ",".join(map(str, self.seeds))]
        words += ["--clock", self.clock] if self.clock else []
        words += ["--p4", self.program.path] if self.program else []
        return shlex.join([*words, *(word for setting in self.changed for word in ("--set", setting))])

    @property
    def departures(self) -> tuple[str, ...]:
        """The changed settings and program, as an experiment's page names them."""
        program = () if self.program is None else (f"P4 program {self.program.path}, SHA-256 {self.program.sha256}",)
        return *(f"setting: {setting}" for setting in self.changed), *program

    @property
    def all_hold(self) -> bool:
        return all(finding.outcome == HOLDS for finding in self.claims)


@dataclass(frozen=True)
class StoredReproduction:
    """A reproduction and its folder."""

    reproduction: Reproduction
    folder: Path

    @property
    def page(self) -> Path:
        return self.folder / REPORT_FILE


def is_reproduction(folder: Path) -> bool:
    """Return whether `reproduce` wrote a folder."""
    return (folder / FILE_NAME).exists()


def read_reproduction(folder: Path) -> StoredReproduction:
    """Read a folder of `reproduce`, also of an older release. UsageError if its file is missing, damaged or too new."""
    path = folder / FILE_NAME
    try:
        content = json.loads(read_bounded_text(path, MAX_FILE_BYTES))
        version = version_in(content.pop("schema"), "reproduction")
        if version is None:
            raise UsageError(f"{path}: not a reproduction of this testbed")
        if not 1 <= version <= _VERSION:
            raise UsageError(f"{path}: {version_refused('reproduction', version, _VERSION)}")
        if version == 1:
            _add_seeds(content)
        if version < 3:
            for claim in content["claims"]:
                claim["text"] = claim.pop("measured")
        return StoredReproduction(Reproduction(**content), folder)
    except RecursionError as error:
        raise UsageError(f"{path}: nested too deeply to be read") from error
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise UsageError(f"{path}: cannot be read ({error.__class__.__name__})") from error


def _add_seeds(content: dict[str, Any]) -> None:
    """Convert a reproduction of the first version, which had one seed, and claims that hold or fail."""
    content["seeds"] = (content.pop("seed", 1),)
    for claim in content["claims"]:
        claim["values"] = (claim["value"],)
        claim["outcome"] = HOLDS if claim.pop("holds") else FAILS
