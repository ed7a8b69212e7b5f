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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from analysis.formatting import NOTHING, amount, format_number, format_share, markdown_table
from analysis.plots.canvas import write_png
from analysis.plots.lateness import ErrorPoint, plot_error_against_lateness
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
from analysis.results.limits import DEGRADED_ABOVE, ERROR_PER_LATENESS, FAITHFUL_ERROR, INVALID_ABOVE, TRUSTED_ERROR
from analysis.results.result import ResultError
from analysis.validation.record import FILE_NAME, ValidatedRun, Validation, read_validation, write_validation
from os_helpers.visible import visible
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

PICTURE = "images/error-against-lateness.png"
"""The path of the plot, relative to the document."""
_HEADINGS = ("D", "seed", "host lateness", "switch lateness", "peak buffer", "worst P95", "wall s", "by lateness")
_NO_CURVE = "No run with a given D is stored yet. Use `sudo ./runner.py validate SCENARIO --dilation D`.\n"
_LEGEND = (
    f"![Error of peak buffer and P95 slowdown against lateness]({PICTURE})\n\n"
    "*Error of the peak buffer and of the worst class's P95 slowdown, relative to the virtual clock, over the lateness "
    "of hosts or switches, whichever is later (P99, share of the base RTT). Vertical lines: the limits. Rising line: "
    "the error that they assume. In the tables, a D in italics is the one that the testbed chose.*\n"
)


def error_section(runs: Sequence[ValidatedRun]) -> list[str]:
    """Return the paragraphs of the section."""
    curves = _curves(runs)
    if not curves:
        return ["## Error against lateness\n", _explanation(), _NO_CURVE]
    measured = [run for curve in curves.values() for run in curve]
    tables = [
        part
        for name, curve in curves.items()
        for part in (f"### {name}, over D\n", markdown_table(_HEADINGS, map(_cells, curve)))
    ]
    return ["## Error against lateness\n", _explanation(), *_let_through(measured), _LEGEND, *tables]


def curve_points(runs: Sequence[ValidatedRun]) -> list[ErrorPoint]:
    """Return the points of the plot, curve by curve in order of lateness."""
    return [
        ErrorPoint(name, run.scheme, run.lateness, abs(run.peak_error), p95)
        for name, curve in _curves(runs).items()
        for run in sorted(curve, key=lambda run: run.lateness or 0)
        if run.lateness is not None and run.peak_error is not None
        for p95 in [None if run.worst_p95 is None else abs(run.worst_p95.share or 0)]
    ]


def _curves(runs: Sequence[ValidatedRun]) -> Mapping[str, list[ValidatedRun]]:
    """Return the runs of each curve by name, in order of dilation.

    A curve has the runs of one scenario, scheme, switch and scale at several given dilations (D), and the run at the D
    that the testbed chose.
    """
    curves: dict[str, list[ValidatedRun]] = {}
    for run in runs:
        curves.setdefault(f"{run.label}, {run.switch}, scale {run.scale}", []).append(run)
    return {
        name: sorted(curve, key=lambda run: (run.dilation, run.seed))
        for name, curve in curves.items()
        if any(run.dilation_given for run in curve)
    }


def _cells(run: ValidatedRun) -> tuple[str, ...]:
    p95 = run.worst_p95
    return (
        f"{run.dilation:,}" if run.dilation_given else f"*{run.dilation:,}*",
        str(run.seed),
        format_share(run.host_lateness),
        format_share(run.switch_lateness),
        _signed(run.peak_error),
        NOTHING if p95 is None else f"{_signed(p95.share)} ({p95.metric.partition('.')[2]})",
        NOTHING if run.live_wall_s is None else f"{run.live_wall_s:.1f}",
        _by_lateness(run.lateness),
    )


def _by_lateness(lateness: float | None) -> str:
    """Return the verdict under the current limits, which may differ from those at the time of the run."""
    if lateness is None:
        return NOTHING
    if lateness > INVALID_ABOVE:
        return "invalid"
    return "degraded" if lateness > DEGRADED_ABOVE else "faithful"


def _signed(share: float | None) -> str:
    return f"+{format_share(share)}" if share is not None and share > 0 else format_share(share)


def _let_through(runs: Sequence[ValidatedRun]) -> Iterator[str]:
    """Yield a sentence for each range of lateness: its runs, their largest error of the peak buffer, and excesses."""
    parts = []
    for words, low, high, allowed in (
        ("below the first limit", -1.0, DEGRADED_ABOVE, FAITHFUL_ERROR),
        ("between the limits", DEGRADED_ABOVE, INVALID_ABOVE, TRUSTED_ERROR),
        ("above the second limit", INVALID_ABOVE, float("inf"), TRUSTED_ERROR),
    ):
        errors = [abs(run.peak_error or 0) for run in runs if run.lateness is not None and low < run.lateness <= high]
        if errors:
            beyond = sum(error > allowed for error in errors)
            parts.append(
                f"{amount(len(errors), 'run')} {words}, error of the peak buffer at most {format_share(max(errors))}, "
                f"above {format_share(allowed)} in {beyond}"
            )
    if parts:
        yield f"Measured: {'; '.join(parts)}.\n"


def _explanation() -> str:
    return (
        "Errors of live runs come from lateness. The verdict depends on the P99 lateness of hosts or switches, as a "
        "share of the dilated base RTT. Its limits follow from the error of the peak buffer that they permit. A run is "
        f"**faithful up to {format_share(DEGRADED_ABOVE)}**, which permits an error of {format_share(FAITHFUL_ERROR)}. "
        f"It is **invalid above {format_share(INVALID_ABOVE)}**, which permits {format_share(TRUSTED_ERROR)}, as much "
        "as the paper's effects. The scheme that is most sensitive to lateness, `sfc`, has an error of "
        f"{format_number(ERROR_PER_LATENESS)} % for each % of lateness (`analysis/results/limits.py`).\n"
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
