# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes docs/fidelity.md from docs/stored/fidelity.json: `python -m analysis.report.fidelity [--check] [FOLDER...]`.

The runs in every validation.json below the folders, which `validate` has written, are added to
docs/stored/fidelity.json. A new run replaces the stored run with the same scenario, place, scheme, switch and scale.
Runs whose dilation was given are replaced for each dilation and seed: they form the curve of error against lateness.
Without folders, the document and the curve are written from the stored runs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from analysis.formatting import markdown_table
from analysis.plots.canvas import write_png
from analysis.plots.lateness import plot_error_against_lateness
from analysis.report.error_curve import PICTURE, curve_points, error_section
from analysis.report.validation import (
    HEADINGS,
    SPREAD_HEADING,
    SUMMARY_HEADINGS,
    finding_cells,
    headings,
    row_cells,
    spread_cell,
    spread_sentence,
    summary_cells,
    tolerance_rows,
)
from analysis.results.result import ResultError
from analysis.validation.record import FILE_NAME, ValidatedRun, Validation, read_validation, write_validation
from native.visible import visible
from telemetry.atomic_file import replace_text

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "fidelity.md"
STORE = DOCUMENT.parent / "stored" / "fidelity.json"

_HEAD = """<!-- Made by `python -m analysis.report.fidelity` from docs/stored/fidelity.json; do not edit. -->
# Live runs compared with virtual runs

To compare the live testbed with the virtual clock, run `sudo ./runner.py validate SCENARIO|all`. It runs the same flow
list twice: on the virtual clock, which is never late, and on live Mininet. The tables below have each figure, the
difference (live - virtual, as a share of the virtual figure) and the tolerance. A figure outside its tolerance has "no"
in the last column.

**The tolerances were fixed before the first comparison**, each with its reason. If there are two, the larger one
applies. One rule was added later, after a live run without any BTS was accepted for a virtual run with eight: a fixed
tolerance is at most half of the figure.

A scenario of the paper runs with the settings of its experiment, at the last place on its axes. Each pair was measured
with the code of its time. If a mechanism has changed since ([the paper, mechanism by mechanism](paper.md)), the command
now gives other figures on both clocks. The comparison shows the difference between the clocks.

The tables have the last run of each pair. The 17 pairs on softswitch that were outside a tolerance on 2026-11-22 were
run again with `--spread`, and 7 of them were then within all tolerances.
"""
_BEYOND = """A live figure may be outside its tolerance because the testbed is wrong, or because it is one of many
possible outcomes. `--spread N` tests this with N more virtual runs of the same flows. In these runs, every link adds a
random delay of at most the P99 lateness of the live run, from a few ns to several hundred. The last columns show the
lowest and highest difference from the plain virtual run, and whether the live figure is between them. This is the case
for {reached} of {all} figures. For the others, such delays are no explanation.
"""
_NO_RUN = (
    "No run is stored yet. Add runs with `python -m analysis.report.fidelity FOLDER...` from folders of `validate`."
)


def merged(stored: Iterable[ValidatedRun], new: Iterable[ValidatedRun]) -> tuple[ValidatedRun, ...]:
    """Return all runs in order of their first appearance. New runs replace stored runs of the same identity."""
    runs = {_identity(run): run for run in stored}
    runs.update({_identity(run): run for run in new})
    return tuple(runs.values())


def _identity(run: ValidatedRun) -> tuple[str | int, ...]:
    given_settings = (run.dilation, run.seed) if run.dilation_given else ()
    return run.scenario, run.place, run.scheme, run.switch, run.scale, *given_settings


def runs_below(folders: Sequence[Path]) -> Iterator[ValidatedRun]:
    """Yield the runs in every validation.json, oldest file first. Runs with a user's P4 program are left out.

    Raises ResultError if there is no file, or if a file cannot be read.
    """
    files = (path for folder in folders for path in folder.rglob(FILE_NAME))
    paths = sorted(files, key=lambda path: path.stat().st_mtime)
    if not paths:
        raise ResultError(f"no {FILE_NAME} below {', '.join(map(str, folders))}")
    for path in paths:
        yield from (run for run in read_validation(path).runs if run.program is None)


def document(runs: Sequence[ValidatedRun]) -> str:
    """Return the text of docs/fidelity.md."""
    parts = [_HEAD, "## Tolerances\n", markdown_table(("figure", "meaning", "tolerance", "reason"), tolerance_rows())]
    parts += error_section(runs)
    chosen = [run for run in runs if not run.dilation_given]
    if not chosen:
        return "\n".join([*parts, _NO_RUN, ""])
    for scale in dict.fromkeys(run.scale for run in chosen):
        of_scale = [run for run in chosen if run.scale == scale]
        parts += [
            f"## Scale {scale}\n",
            _counts(of_scale),
            markdown_table(SUMMARY_HEADINGS, [summary_cells(run) for run in of_scale]),
            *_beyond([run for run in of_scale if run.jitter_runs]),
        ]
        parts += [_details(run) for run in of_scale]
    return "\n".join(parts)


def _counts(runs: Sequence[ValidatedRun]) -> str:
    verdicts = [run.verdict for run in runs]
    counted = ", ".join(f"{verdicts.count(level)} {level}" for level in dict.fromkeys(verdicts))
    within = sum(not run.outside for run in runs)
    return f"Verdicts of {len(runs)} pairs of runs: {counted}. Within all tolerances: {within}.\n"


def _beyond(runs: Sequence[ValidatedRun]) -> Iterator[str]:
    """Yield a table of the figures outside their tolerances, with the effect of jitter on the virtual figure."""
    rows = [
        (
            run.label,
            run.switch,
            *finding_cells(finding)[:-1],
            spread_cell(finding),
            "yes" if finding.is_reached else "no",
        )
        for run in runs
        for finding in run.outside
    ]
    if rows:
        reached = sum(finding.is_reached for run in runs for finding in run.outside)
        yield "### Outside the tolerances\n"
        yield _BEYOND.format(reached=reached, all=len(rows))
        yield markdown_table(("run", "switch", *HEADINGS[:-1], SPREAD_HEADING, "reached"), rows)


def _details(run: ValidatedRun) -> str:
    rows = [row_cells(run, finding) for finding in run.metrics if not finding.is_nothing]
    reasons = [f"- {reason}" for reason in run.verdict_reasons]
    lines = [f"### {run.label}, {run.switch}, scale {run.scale}", "", f"**{run.verdict}**: `{run.live_command}`", ""]
    spread = [spread_sentence(run), ""] if run.jitter_runs else []
    return "\n".join([*lines, *reasons, *([""] if reasons else []), *spread, markdown_table(headings(run), rows)])


def main(arguments: Sequence[str]) -> int:
    """Add the runs in the folders and write the document, or check that the document is current (--check)."""
    parser = argparse.ArgumentParser(prog="python -m analysis.report.fidelity")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit with 1 if the document is not current"
    )
    parser.add_argument("folders", nargs="*", type=Path, help="folders written by validate")
    options = parser.parse_args(arguments)
    try:
        runs = read_validation(STORE).runs if STORE.exists() else ()
        if options.folders:
            runs = merged(runs, runs_below(options.folders))
            write_validation(STORE, Validation(runs=runs))
    except ResultError as error:
        sys.stderr.write(f"{visible(str(error))}\n")
        return 2
    text = document(runs)
    if options.check:
        is_current = DOCUMENT.exists() and DOCUMENT.read_text(encoding="utf-8") == text
        return 0 if is_current else 1
    points = curve_points(runs)
    if points:
        write_png(plot_error_against_lateness(points), DOCUMENT.parent / PICTURE)
    replace_text(DOCUMENT, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
