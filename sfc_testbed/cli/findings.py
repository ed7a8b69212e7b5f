# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The stored findings about the paper's claims, on the terminal: `reproduce --show`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from sfc_testbed.analysis.formatting import NOTHING, amount, three_digits
from sfc_testbed.analysis.report.terminal_tables import styled_outcome
from sfc_testbed.analysis.results.outcome import DEPENDS, FAILS, HOLDS, tally
from sfc_testbed.analysis.terminal import PROSE, Fitted
from sfc_testbed.cli.output import console, say, say_json
from sfc_testbed.place import command_name, typed_here
from sfc_testbed.reproduction.remarks import read_remarks
from sfc_testbed.reproduction.summaries import Summary, by_experiment, largest, sets_that_hold
from sfc_testbed.testbed.errors import UsageError

_SET_HEADINGS = ("scale", "seeds", "hold", "fail", "depend", "ours", "runs", "time per run", "total", "made")


def print_json(summaries: Sequence[Summary]) -> None:
    """Print sets as a list, as docs/stored/reproduction.json has them."""
    documents = [summary.model_dump(mode="json") for summary in summaries]
    say_json(json.dumps(documents, indent=2, ensure_ascii=False) + "\n")


def print_overview(summaries: Sequence[Summary]) -> None:
    """Print a row for each experiment: the largest of its sets."""
    shown = [largest(own) for own in by_experiment(summaries).values()]
    rows = [(summary.paper_place, summary.experiment, *_set_cells(summary)) for summary in shown]
    console.print(_table("stored results", ("figure", "experiment", *_SET_HEADINGS), rows, keys=2))
    say(f"{tally(finding.outcome_text for summary in shown for finding in summary.claims)}")
    say(f"claims of an experiment: {command_name()} reproduce NAME --show")


def print_findings(
    sets: Sequence[Summary], matching: Sequence[Summary], seeds: Sequence[int] | None, *, in_full: bool
) -> None:
    """Print the claims of the largest matching set, and all sets of the experiment.

    `seeds` adds the values with these seeds, an empty sequence those with all seeds. `in_full` adds the claims in every
    set, tables of figures, reasons why claims do not hold, and notes. UsageError for a seed that the set does not have.
    """
    shown = largest(matching)
    console.print(_claims(shown, sets, seeds))
    for failure in shown.failures:
        console.print(f"! failed: {failure}", style="yellow")
    rows = [("*" if summary is shown else "", *_set_cells(summary)) for summary in sets]
    console.print(_table("stored sets (*: shown above)", ("", *_SET_HEADINGS), rows, keys=2))
    if in_full:
        console.print(_claims_by_set(sets))
        for table in shown.tables:
            console.print(_table(table.caption, table.headings, table.rows))
            console.print()
        _print_reasons(shown.experiment)
        for note in shown.current_notes:
            console.print(f"! {note}", style="yellow")
    say(f"repeat: {typed_here(shown.command)}")
    page = f"page: docs/reproduction/{shown.experiment}.md"
    say(page if in_full else f"{page}; reasons, their tests and tables of figures: --full")


def _claims(shown: Summary, sets: Sequence[Summary], seeds: Sequence[int] | None) -> Fitted:
    chosen = () if seeds is None else tuple(seeds) or shown.seeds
    missing = [seed for seed in chosen if seed not in shown.seeds]
    if missing:
        stored = ", ".join(map(str, shown.seeds))
        raise UsageError(
            f"--seeds: {shown.experiment}, scale {shown.heading}, has no seed {missing[0]}; stored: {stored}"
        )
    rows: list[tuple[str | Text, ...]] = []
    for number, finding in enumerate(shown.claims, start=1):
        by_seed = dict(zip(shown.seeds, finding.values, strict=True))
        values = (by_seed[seed] for seed in chosen)
        rows.append(
            (
                str(number),
                finding.claim,
                finding.paper,
                finding.measured,
                styled_outcome(finding.outcome_text),
                sets_that_hold(finding.claim, sets),
                *(NOTHING if value is None else three_digits(value) for value in values),
            )
        )
    headings = ("", "claim", "paper", "measured", "outcome", "sets", *(f"seed {seed}" for seed in chosen))
    title = f"{shown.experiment} ({shown.paper_place}), scale {shown.heading}, {amount(len(shown.seeds), 'seed')}"
    return _table(title, headings, rows, prose=("claim", "paper", "measured"))


def _claims_by_set(sets: Sequence[Summary]) -> Fitted:
    """Return a table with the median and the outcome of each claim in every set."""
    findings = [{finding.claim: finding for finding in summary.claims} for summary in sets]
    rows = [
        (claim, *(f"{own[claim].brief}: {own[claim].outcome}" if claim in own else NOTHING for own in findings))
        for claim in dict.fromkeys(claim for own in findings for claim in own)
    ]
    headings = ("claim", *(summary.heading for summary in sets))
    return _table("claims in every stored set", headings, rows, prose=headings)


def _set_cells(summary: Summary) -> tuple[str, ...]:
    day = f"{summary.made[:4]}-{summary.made[4:6]}-{summary.made[6:8]}" if summary.made else NOTHING
    papers = [finding.outcome for finding in summary.claims if not finding.is_ours]
    ours = [finding.outcome for finding in summary.claims if finding.is_ours]
    return (
        summary.heading,
        str(len(summary.seeds)),
        *(str(papers.count(outcome)) for outcome in (HOLDS, FAILS, DEPENDS)),
        f"{ours.count(HOLDS)} of {len(ours)}" if ours else NOTHING,
        str(summary.runs),
        *_wall_times(summary),
        day,
    )


def _wall_times(summary: Summary) -> tuple[str, str]:
    """Return the range of the runs' wall times, and their sum; `-` if they are unknown."""
    if not summary.walls_s:
        return NOTHING, NOTHING
    shortest, longest = (_wall(pick(summary.walls_s)) for pick in (min, max))
    return shortest if shortest == longest else f"{shortest} to {longest}", _wall(sum(summary.walls_s))


def _wall(duration_s: float) -> str:
    """Format a duration, such as 12 s, 3.4 min, 2.3 h."""
    for unit_s, unit in ((3600.0, "h"), (60.0, "min")):
        if duration_s >= unit_s:
            return f"{three_digits(duration_s / unit_s)} {unit}"
    return f"{three_digits(duration_s)} s"


def _print_reasons(experiment: str) -> None:
    """Print the reasons why claims do not hold, with the commands of their tests."""
    remarks = read_remarks().get(experiment)
    for reason in remarks.reasons if remarks else ():
        for claim in reason.claims:
            console.print(claim, style="bold")
        console.print(f"cause: {reason.cause}")
        console.print(f"test: {reason.test}")
        for run in reason.runs:
            say(f"  {command_name()} {run}")
        console.print()


def _table(
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str | Text]],
    prose: Sequence[str] = (),
    keys: int = 1,
) -> Fitted:
    table = Table(title=Text(title), title_style="bold", box=SIMPLE_HEAD, padding=(0, 1))
    for heading in headings:
        table.add_column(heading, ratio=PROSE if heading in prose else None)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    return Fitted(table, keys)
