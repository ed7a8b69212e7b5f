# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""docs/stored/reproduction.json: the findings of each experiment at each scale that docs/reproduction/ shows.

The runs themselves are not stored. There is one summary per experiment and scale: of several findings, complete ones
are preferred, then those whose messages arrive for longer, then newer ones.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reproduction.catalogue import EXPERIMENTS
from reproduction.record import ClaimFinding, Reproduction, StoredReproduction
from scenarios.model.scenario import ScaleName
from telemetry.atomic_file import replace_text
from testbed.errors import UsageError

STORE = Path(__file__).resolve().parents[1] / "docs" / "stored" / "reproduction.json"
SCALES: tuple[ScaleName, ...] = ("ci", "laptop", "paper")

_SCHEMA: Literal["sfc-testbed/reproduction-summaries/1"] = "sfc-testbed/reproduction-summaries/1"
_LENGTH = "arrivals_us"
_MADE = re.compile(r"\d{8}-\d{6}")


class Summary(BaseModel):
    """An experiment at a scale, claim by claim."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    experiment: str
    scale: ScaleName
    title: str
    paper_place: str
    claims: tuple[ClaimFinding, ...]
    runs: int = Field(ge=0)
    """How many."""
    verdicts: tuple[str, ...]
    """Of these runs, each once."""
    failures: tuple[str, ...]
    notes: tuple[str, ...]
    arrivals_us: float | None = None
    """How long messages kept arriving, where that was less than the scale's own time."""
    command: str
    made: str = ""
    """When, as its folder's name tells: YYYYMMDD-HHMMSS. Empty: before anybody kept it."""
    walls_s: tuple[float, ...] = ()
    """What each of the runs took; empty: before anybody kept it."""

    @property
    def held(self) -> int:
        """Claims that hold."""
        return sum(claim.holds for claim in self.claims)

    @property
    def weight(self) -> tuple[bool, float, str]:
        """What makes it count before others of its place: that it is whole, that messages kept arriving longer, that it
        is newer."""
        return not self.failures, math.inf if self.arrivals_us is None else self.arrivals_us, self.made

    @property
    def place(self) -> tuple[str, str]:
        """What a summary takes the place of another by."""
        return self.experiment, self.scale


class _Store(BaseModel):
    schema_name: Literal["sfc-testbed/reproduction-summaries/1"] = Field(default=_SCHEMA, alias="schema")
    summaries: tuple[Summary, ...]


def summary_of(stored: StoredReproduction) -> Summary | None:
    """None where it reproduces nothing: by another P4 program, or with other settings than a shorter run's."""
    found = stored.reproduction
    own_us = own_arrivals_us(found.experiment, found.scale)
    length_us = _given_length_us(found) if found.changed else own_us
    is_short = found.scale == "paper" and length_us is not None and own_us is not None and length_us < own_us
    if found.program is not None or not (length_us == own_us or is_short):
        return None
    return Summary(
        experiment=found.experiment,
        scale=found.scale,
        title=found.title,
        paper_place=found.paper_place,
        claims=found.claims,
        runs=len(found.runs),
        verdicts=tuple(sorted({run.verdict for run in found.runs})),
        failures=found.failures,
        notes=found.notes,
        arrivals_us=length_us if is_short else None,
        command=found.command,
        made=made.group() if (made := _MADE.search(stored.folder.name)) else "",
        walls_s=tuple(round(run.wall_s, 2) for run in found.runs if run.wall_s is not None),
    )


def _given_length_us(found: Reproduction) -> float:
    """The one setting that was given, if it is how long messages keep arriving; not a number if it is another."""
    [first, *others] = found.changed
    key, _, value = first.partition("=")
    return float(value) if key == _LENGTH and not others else math.nan


def own_arrivals_us(experiment: str, scale: ScaleName) -> float | None:
    """How long messages keep arriving at a scale; None where that is no setting of the experiment."""
    arrivals_us = EXPERIMENTS[experiment].scenario.scales[scale].workload.get(_LENGTH)
    return None if arrivals_us is None else float(arrivals_us)


def merged(stored: Iterable[Summary], new: Iterable[Summary]) -> tuple[Summary, ...]:
    """One of each experiment and scale, in the catalogue's order, in whatever order they are given. What the catalogue
    has no more is left out."""
    found: dict[tuple[str, str], Summary] = {}
    for each in (*stored, *new):
        if each.place not in found or found[each.place].weight <= each.weight:
            found[each.place] = each
    return tuple(found[name, scale] for name in EXPERIMENTS for scale in SCALES if (name, scale) in found)


def read_summaries(path: Path = STORE) -> tuple[Summary, ...]:
    """Those that are stored; none where there is no file. UsageError if it cannot be read."""
    if not path.exists():
        return ()
    try:
        return _Store.model_validate_json(path.read_text(encoding="utf-8")).summaries
    except (OSError, ValidationError) as error:
        raise UsageError(f"{path}: cannot be read ({error.__class__.__name__})") from error


def write_summaries(summaries: Iterable[Summary], path: Path = STORE) -> None:
    """In place of those that were stored."""
    content = _Store(summaries=tuple(summaries)).model_dump(mode="json", by_alias=True)
    replace_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
