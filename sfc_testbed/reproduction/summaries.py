# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""docs/stored/reproduction.json: the findings of each experiment, which `reproduce --show` and docs/reproduction/ show.

The runs themselves are not stored. There is one summary per experiment, scale, preset of the HPCC simulator, and
time for which messages arrive; each is one line of the file. Findings about other claims than the current ones are left
out. Complete findings are preferred, then findings with more seeds, and newer ones.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sfc_testbed.analysis.formatting import NOTHING
from sfc_testbed.analysis.results.outcome import HOLDS
from sfc_testbed.hosts.transport.congestion.presets import DEFAULT_PRESET, PRESETS, Preset
from sfc_testbed.place import STORED
from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.record import ClaimFinding, FigureTable, StoredReproduction
from sfc_testbed.scenarios.model.scenario import ScaleName
from sfc_testbed.telemetry.atomic_file import replace_text
from sfc_testbed.testbed.errors import UsageError

STORE = STORED / "reproduction.json"
SCALES: tuple[ScaleName, ...] = ("ci", "laptop", "paper")

SEEDS = 3
"""Findings with fewer seeds are shown only where there are no others."""
_SCHEMA: Literal["sfc-testbed/reproduction-summaries/3"] = "sfc-testbed/reproduction-summaries/3"
_LENGTH = "arrivals_us"
_CONGESTION = "transport.congestion_parameters"
Place = tuple[str, str, str, float | None]

_UNFINISHED = re.compile(r"[\d,]+ of [\d,]+ runs? did not finish ")
_MADE = re.compile(r"\d{8}-\d{6}")


class Summary(BaseModel):
    """The findings of an experiment at a scale."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    experiment: str
    scale: ScaleName
    title: str
    paper_place: str
    claims: tuple[ClaimFinding, ...]
    runs: int = Field(ge=0)
    """The number of runs."""
    verdicts: tuple[str, ...]
    """The different verdicts of these runs."""
    failures: tuple[str, ...]
    notes: tuple[str, ...]
    tables: tuple[FigureTable, ...] = ()
    arrivals_us: float | None = None
    """The time for which messages arrive, if it is shorter than the scale's."""
    preset: Preset = DEFAULT_PRESET
    """The parameter set of the HPCC simulator."""
    seeds: tuple[int, ...] = (1,)
    command: str
    made: str = ""
    """The time of the reproduction from its folder's name, YYYYMMDD-HHMMSS; empty: unknown."""
    walls_s: tuple[float, ...] = ()
    """The wall time of each run; empty: unknown."""

    @property
    def weight(self) -> tuple[bool, int, str]:
        """The sort key that decides which summary is kept: complete, with more seeds, and newer."""
        return not self.failures, len(self.seeds), self.made

    @property
    def place(self) -> Place:
        """The experiment, scale, preset, and shortened time of arrivals; one summary is kept for each."""
        return self.experiment, self.scale, self.preset, self.arrivals_us

    @property
    def heading(self) -> str:
        """The scale, a shortened time for which messages arrive, and a preset other than the default."""
        length = "" if self.arrivals_us is None else f", {self.arrivals_us / 1000:g} ms"
        preset = "" if self.preset == DEFAULT_PRESET else f", {self.preset}"
        return f"{self.scale}{length}{preset}"

    @property
    def current_notes(self) -> tuple[str, ...]:
        """The experiment's notes in their current wording, and the stored note about flows that did not finish."""
        unfinished = (note for note in self.notes if _UNFINISHED.match(note))
        return *EXPERIMENTS[self.experiment].notes, *unfinished

    @property
    def answers_current_claims(self) -> bool:
        """Whether the findings are about exactly the claims that this release has at the scale."""
        experiment = EXPERIMENTS.get(self.experiment)
        claims = experiment.claims if experiment else ()
        return {claim.claim for claim in claims if not claim.only_at or self.scale in claim.only_at} == {
            finding.claim for finding in self.claims
        }


class _Store(BaseModel):
    schema_name: Literal["sfc-testbed/reproduction-summaries/3"] = Field(default=_SCHEMA, alias="schema")
    summaries: tuple[Summary, ...]


def summary_of(stored: StoredReproduction) -> Summary | None:
    """Summarize a reproduction.

    None if it does not reproduce the paper: it used another P4 program, or changed a setting other than the preset of
    the HPCC simulator and the time for which messages arrive. At scale paper this time may be shortened.
    """
    reproduction = stored.reproduction
    scale_us = own_arrivals_us(reproduction.experiment, reproduction.scale)
    changed = dict(setting.split("=", 1) for setting in reproduction.changed)
    congestion = json.loads(changed.pop(_CONGESTION, "{}"))
    preset = congestion.pop("preset", DEFAULT_PRESET)
    length = changed.pop(_LENGTH, None)
    length_us = math.nan if changed or congestion else scale_us if length is None else float(length)
    is_short = reproduction.scale == "paper" and length_us is not None and scale_us is not None and length_us < scale_us
    if reproduction.program is not None or not (length_us == scale_us or is_short):
        return None
    return Summary(
        experiment=reproduction.experiment,
        scale=reproduction.scale,
        title=reproduction.title,
        paper_place=reproduction.paper_place,
        claims=reproduction.claims,
        runs=len(reproduction.runs),
        verdicts=tuple(sorted({run.verdict for run in reproduction.runs})),
        failures=reproduction.failures,
        notes=reproduction.notes,
        tables=reproduction.tables,
        arrivals_us=length_us if is_short else None,
        preset=preset,
        seeds=reproduction.seeds,
        command=reproduction.command,
        made=made.group() if (made := _MADE.search(stored.folder.name)) else "",
        walls_s=tuple(round(run.wall_s, 2) for run in reproduction.runs if run.wall_s is not None),
    )


def own_arrivals_us(experiment: str, scale: ScaleName) -> float | None:
    """Return the longest time for which messages arrive in a run at a scale; None if no run has this setting."""
    row = EXPERIMENTS[experiment]
    of_scenario = row.scenario.scales[scale].workload.get(_LENGTH)
    times_us = [
        point.settings.get(_LENGTH, None if "scenario" in point.settings else of_scenario)
        for point in row.grids[scale].points()
    ]
    return max((float(time_us) for time_us in times_us if time_us is not None), default=None)


def merged(stored: Iterable[Summary], new: Iterable[Summary]) -> tuple[Summary, ...]:
    """Return one summary per place, in the catalogue's order, if it answers today's claims."""
    best: dict[Place, Summary] = {}
    for summary in (*stored, *new):
        is_better = summary.place not in best or best[summary.place].weight <= summary.weight
        if is_better and summary.answers_current_claims:
            best[summary.place] = summary
    names = list(EXPERIMENTS)
    return tuple(sorted(best.values(), key=lambda summary: (names.index(summary.experiment), *_order(summary))))


def _order(summary: Summary) -> tuple[int, int, float]:
    return SCALES.index(summary.scale), PRESETS.index(summary.preset), length_us_of(summary)


def largest(summaries: Iterable[Summary]) -> Summary:
    """Return the summary that stands for several of an experiment, and that its page shows.

    At least SEEDS seeds count first, then the scale, the default preset, and the time for which messages arrive.
    """
    return max(
        summaries,
        key=lambda summary: (
            len(summary.seeds) >= SEEDS,
            SCALES.index(summary.scale),
            summary.preset == DEFAULT_PRESET,
            length_us_of(summary),
        ),
    )


def matching(
    summaries: Sequence[Summary],
    experiment: str | None = None,
    scale: str | None = None,
    preset: str | None = None,
    arrivals_ms: float | None = None,
) -> list[Summary]:
    """Return the summaries of an experiment, scale, preset and time of arrivals; None: any.

    UsageError, which names what is stored, if there are none.
    """
    own = [summary for summary in summaries if experiment in (None, summary.experiment)]
    chosen = [
        summary
        for summary in own
        if scale in (None, summary.scale)
        and preset in (None, summary.preset)
        and (arrivals_ms is None or math.isclose(length_us_of(summary), arrivals_ms * 1000))
    ]
    if not chosen:
        wish = (
            scale and f"scale {scale}",
            preset and f"preset {preset}",
            arrivals_ms and f"arrivals of {arrivals_ms:g} ms",
        )
        words = ", ".join(word for word in (experiment, *wish) if word)
        stored = "; ".join(dict.fromkeys(summary.heading for summary in own)) or NOTHING
        raise UsageError(f"no results are stored for {words}; stored: {stored}")
    return chosen


def by_experiment(summaries: Iterable[Summary]) -> dict[str, list[Summary]]:
    """Return the summaries of each experiment, in their order."""
    grouped: dict[str, list[Summary]] = {}
    for summary in summaries:
        grouped.setdefault(summary.experiment, []).append(summary)
    return grouped


def sets_that_hold(claim: str, summaries: Sequence[Summary]) -> str:
    """Return in how many of the stored sets a claim holds with every seed, such as `5/7`."""
    outcomes = [finding.outcome for summary in summaries for finding in summary.claims if finding.claim == claim]
    return f"{outcomes.count(HOLDS)}/{len(outcomes)}"


def length_us_of(summary: Summary) -> float:
    """Return the time for which messages arrive; 0 if the experiment does not have this setting."""
    return summary.arrivals_us or own_arrivals_us(summary.experiment, summary.scale) or 0.0


def read_summaries(path: Path = STORE) -> tuple[Summary, ...]:
    """Read the stored summaries; none if the file does not exist. UsageError if it cannot be read."""
    if not path.exists():
        return ()
    try:
        return _Store.model_validate_json(path.read_text(encoding="utf-8")).summaries
    except (OSError, ValidationError) as error:
        raise UsageError(f"{path}: cannot be read ({error.__class__.__name__})") from error


def write_summaries(summaries: Iterable[Summary], path: Path = STORE) -> None:
    """Replace the stored summaries."""
    rows = (summary.model_dump(mode="json", exclude_defaults=True) for summary in summaries)
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    replace_text(path, f'{{"schema":"{_SCHEMA}","summaries":[\n{lines}\n]}}\n')
