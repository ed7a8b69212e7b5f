# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The page of one experiment: commands, claims and figures by scale, and the reasons why claims do not hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from analysis.formatting import NOTHING, markdown_table
from analysis.results.outcome import HOLDS
from reproduction.catalogue import EXPERIMENTS
from reproduction.document.parts import (
    SOURCE,
    SUMMARY_PAGE,
    Pictures,
    durations_place,
    figure_lines,
    outcome_of,
    table_lines,
    tally_of,
    wall_times,
)
from reproduction.durations import duration_table, have_several_durations, over_durations
from reproduction.summaries import Summary, own_arrivals_us


class Remark(BaseModel):
    """A reason why a claim does not hold, and the test of this reason."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: str
    found: str
    """The result of the runs, whether they confirm the reason or refute it."""
    runs: tuple[str, ...] = Field(min_length=1)
    """The runs that tested the reason, as typed after `./runner.py`."""


def experiment_page(scales: Sequence[Summary], remarks: Mapping[str, Remark], pictures: Pictures) -> str:
    """Return an experiment's page: commands, result, the paper's figure, then findings by scale and reasons."""
    first = scales[0]
    experiment = EXPERIMENTS[first.experiment]
    lines = [f"{SOURCE}# {first.experiment} ({first.paper_place})", ""]
    lines += [f"{first.title}. These commands repeat the experiment:", "", "```sh"]
    lines += [*(summary.command for summary in scales), "```", ""]
    lines += [f"- {summary.heading}: {tally_of([summary])}" for summary in scales]
    lines += ["", f"All experiments: [summary]({SUMMARY_PAGE}).", ""]
    lines += ["## In the paper", "", experiment.shows]
    if first.notes:
        lines += ["", "## In this reproduction", "", *(f"- {note}" for note in first.notes)]
    for summary in scales:
        lines += ["", f"## {summary.heading.capitalize()}"]
        lines += _shortened(summary)
        lines += figure_lines(summary, pictures)
        lines += table_lines(summary)
        rows = [(finding.claim, finding.paper, finding.measured, outcome_of(finding)) for finding in summary.claims]
        lines += ["", markdown_table(("claim", "paper", "measured", "outcome"), rows)]
        verdicts = f"Verdict of the {summary.runs} runs: {', '.join(summary.verdicts) or NOTHING}."
        seeds = f"Seeds: {', '.join(map(str, summary.seeds))}. " if len(summary.seeds) > 1 else ""
        lines += [f"{seeds}{verdicts}{_run_times(summary)}"]
        lines += [f"Failed: {failure}" for failure in summary.failures]
    lines += _over_durations(scales, pictures)
    return "\n".join([*lines, *_reasons(scales, remarks)]) + "\n"


def _over_durations(summaries: Sequence[Summary], pictures: Pictures) -> list[str]:
    """Return the section that compares durations and presets at scale paper; no line if there is only one."""
    places = over_durations(summaries)
    if not places:
        return []
    compared = "over durations and presets" if have_several_durations(places) else "with both presets"
    lines = ["", f"## Scale paper {compared}", ""]
    place = durations_place(places[0].experiment)
    if place in pictures:
        lines += [f"![The claims over the time for which messages arrive]({pictures[place]})", ""]
    return [*lines, duration_table(places)]


def _shortened(summary: Summary) -> list[str]:
    """Return a sentence on a run time that is shorter than the scale's; no line if it is not."""
    scale_us = own_arrivals_us(summary.experiment, summary.scale)
    if summary.arrivals_us is None or scale_us is None:
        return []
    return ["", f"Messages arrive for {summary.arrivals_us / 1000:g} ms instead of {scale_us / 1000:g} ms."]


def _run_times(summary: Summary) -> str:
    """Return a sentence on the runs' wall times; empty if they are unknown."""
    if not summary.walls_s:
        return ""
    per_run, total = wall_times(summary)
    return f" Time per run: {per_run}; total: {total}."


def _reasons(scales: Sequence[Summary], remarks: Mapping[str, Remark]) -> list[str]:
    """Return the section on claims that do not hold; claims with the same remark are one list item."""
    failed_at: dict[str, list[str]] = {}
    for summary in scales:
        for finding in summary.claims:
            if finding.outcome != HOLDS:
                failed_at.setdefault(finding.claim, []).append(summary.heading)
    by_remark: dict[Remark | None, list[str]] = {}
    for claim, failed_scales in failed_at.items():
        by_remark.setdefault(remarks.get(claim), []).append(f"*{claim}* ({', '.join(failed_scales)})")
    lines = ["", "## Why claims do not hold", ""] if failed_at else []
    for remark, claims in by_remark.items():
        if remark is None:
            lines.append(f"- {'; '.join(claims)}: the reason is unknown.")
            continue
        lines += [f"- {'; '.join(claims)}", "", f"  Reason: {remark.reason}", "", f"  Test: {remark.found}", ""]
        lines += ["  ```sh", *(f"  ./runner.py {run}" for run in remark.runs), "  ```"]
    return lines
