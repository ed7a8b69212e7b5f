# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""docs/fidelity.md from docs/stored/fidelity.json: `python -m analysis.report.fidelity [--check] [FOLDER...]`.

Folders are those of `validate`: what stands in every validation.json below them goes into docs/stored/fidelity.json,
where the last run of a scenario, place, scheme, switch and scale counts, and the last one of each D that was given:
those make the curve of error against lateness. Without folders document and curve are made of that file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from analysis.plots.canvas import write_png
from analysis.plots.lateness import plot_error_against_lateness
from analysis.report.error_curve import PICTURE, curve_points, error_section
from analysis.report.markdown import markdown_table
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
from compiled.visible import visible
from telemetry.atomic_file import replace_text

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "fidelity.md"
STORE = DOCUMENT.parent / "stored" / "fidelity.json"

_HEAD = """<!-- Made by `python -m analysis.report.fidelity` from docs/stored/fidelity.json; do not edit. -->
# Live runs against virtual ones

`sudo ./runner.py validate SCENARIO|all` runs the same flow list twice: on the virtual clock, which is never late, and
on live Mininet. Each figure below stands beside its difference (live - virtual, as a share of the virtual figure) and
its tolerance. **The tolerances were written down before the first comparison**, each with its reason, and a figure
that misses its own says "no" here. Of two tolerances the larger counts; that a fixed one is at most half of the figure
was added when a live run without any BTS had passed for one with eight. A scenario of the paper runs as its experiment
does, at the last place on its axes. A pair was measured by the code of its day: where a mechanism has changed since
([the paper, mechanism by mechanism](paper.md)), its command gives other figures on both clocks. What counts here is how
far apart the clocks are. The last run of a pair counts: the 17 pairs on softswitch that missed a tolerance on
2026-11-22 were made once more, with `--spread`, and 7 of them missed none then.
"""
_BEYOND = """Is it the testbed that is wrong there, or is the figure one draw of many? `--spread N` answers by N more
virtual runs of the same flows: every link is late by up to as much as the live run was (P99), at random, a few ns to
some hundreds. The last columns say how far they are off the plain virtual run, and whether the live figure lies between
the lowest and the highest. {reached} of {all} do; for the others this is no explanation.
"""
_NO_RUN = "No run is stored yet: `python -m analysis.report.fidelity FOLDER...` takes them from folders of `validate`."


def merged(stored: Iterable[ValidatedRun], new: Iterable[ValidatedRun]) -> tuple[ValidatedRun, ...]:
    """All runs in the order in which they came; a newer one takes the place of its elder."""
    runs = {_identity(run): run for run in stored}
    runs.update({_identity(run): run for run in new})
    return tuple(runs.values())


def _identity(run: ValidatedRun) -> tuple[str | int, ...]:
    given = (run.dilation, run.seed) if run.dilation_given else ()
    return run.scenario, run.place, run.scheme, run.switch, run.scale, *given


def runs_below(folders: Sequence[Path]) -> Iterator[ValidatedRun]:
    """Those of every validation.json with the testbed's own P4 program, oldest file first. ResultError if there is no
    file, or one cannot be read."""
    paths = sorted((path for each in folders for path in each.rglob(FILE_NAME)), key=lambda path: path.stat().st_mtime)
    if not paths:
        raise ResultError(f"no {FILE_NAME} below {', '.join(map(str, folders))}")
    for path in paths:
        yield from (run for run in read_validation(path).runs if run.program is None)


def document(runs: Sequence[ValidatedRun]) -> str:
    """The whole text."""
    parts = [_HEAD, "## Tolerances\n", markdown_table(("figure", "meaning", "tolerance", "reason"), tolerance_rows())]
    parts += error_section(runs)
    chosen = [run for run in runs if not run.dilation_given]
    if not chosen:
        return "\n".join([*parts, _NO_RUN, ""])
    for scale in dict.fromkeys(run.scale for run in chosen):
        own = [run for run in chosen if run.scale == scale]
        parts += [
            f"## Scale {scale}\n",
            _counts(own),
            markdown_table(SUMMARY_HEADINGS, [summary_cells(run) for run in own]),
            *_beyond([run for run in own if run.jitter_runs]),
        ]
        parts += [_details(run) for run in own]
    return "\n".join(parts)


def _counts(runs: Sequence[ValidatedRun]) -> str:
    verdicts = [run.verdict for run in runs]
    counted = ", ".join(f"{verdicts.count(level)} {level}" for level in dict.fromkeys(verdicts))
    within = sum(not run.outside for run in runs)
    return f"Verdicts of {len(runs)} pairs of runs: {counted}. Within every tolerance: {within}.\n"


def _beyond(runs: Sequence[ValidatedRun]) -> Iterator[str]:
    """The figures beyond their tolerances, each beside what jitter does to the virtual one."""
    rows = [
        (run.label, run.switch, *finding_cells(found)[:-1], spread_cell(found), "yes" if found.is_reached else "no")
        for run in runs
        for found in run.outside
    ]
    if rows:
        reached = sum(found.is_reached for run in runs for found in run.outside)
        yield "### Beyond the tolerances\n"
        yield _BEYOND.format(reached=reached, all=len(rows))
        yield markdown_table(("run", "switch", *HEADINGS[:-1], SPREAD_HEADING, "reached"), rows)


def _details(run: ValidatedRun) -> str:
    shown = [row_cells(run, found) for found in run.metrics if not found.is_nothing]
    reasons = [f"- {reason}" for reason in run.verdict_reasons]
    lines = [f"### {run.label}, {run.switch}, scale {run.scale}", "", f"**{run.verdict}**: `{run.live_command}`", ""]
    spread = [spread_sentence(run), ""] if run.jitter_runs else []
    return "\n".join([*lines, *reasons, *([""] if reasons else []), *spread, markdown_table(headings(run), shown)])


def main(arguments: Sequence[str]) -> int:
    """Takes runs from the folders named, and writes the document; with --check says whether it is current."""
    parser = argparse.ArgumentParser(prog="python -m analysis.report.fidelity")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if the document is not current")
    parser.add_argument("folders", nargs="*", type=Path, help="folders of validate")
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
