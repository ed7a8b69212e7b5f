# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes the figures of docs/fidelity.md: `python -m sfc_testbed.documents.fidelity [--check] [FOLDER...]`.

The runs in every validation.json below the folders, which `validate` has written, are added to
docs/stored/fidelity.json. A new run replaces the stored run with the same scenario, place, scheme, switch and scale.
Runs whose dilation was given are replaced for each dilation and seed: they form the curve of error against lateness.
Without folders, the page is written from the stored runs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from textwrap import fill

from os_helpers.visible import visible
from sfc_testbed.analysis.formatting import NOTHING, amount, format_number, format_share, markdown_table
from sfc_testbed.analysis.report.validation import tolerance_rows
from sfc_testbed.analysis.results.limits import (
    DEGRADED_ABOVE,
    ERROR_PER_LATENESS,
    FAITHFUL_ERROR,
    INVALID_ABOVE,
    TRUSTED_ERROR,
)
from sfc_testbed.analysis.results.result import ResultError
from sfc_testbed.analysis.validation.record import FILE_NAME, ValidatedRun, Validation, read_validation
from sfc_testbed.documents import stored
from sfc_testbed.documents.curve import curves, errors_by_range
from sfc_testbed.documents.pictures import ErrorPoint, plot_error_against_lateness, write_picture
from sfc_testbed.documents.stored import PageError, replaced, write_runs
from sfc_testbed.telemetry.atomic_file import replace_text

DOCUMENT = stored.DOCS / "fidelity.md"
STORE = stored.PAIRS
PICTURE = "images/error-against-lateness.png"
"""The path of the plot, relative to the document."""
_HEADINGS = (
    "scenario",
    "pairs",
    "peak buffer: median",
    "largest",
    "P95 slowdown: median",
    "largest",
    "within tolerance",
)
_LINE = 138
"""The most characters of a line of the page."""
_SWITCHES = {"soft": "softswitch", "bmv2": "BMv2"}


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


def curve_points(runs: Sequence[ValidatedRun]) -> list[ErrorPoint]:
    """Return the points of the plot, curve by curve in order of lateness."""
    return [
        ErrorPoint(name, run.scheme, run.lateness, abs(run.peak_error), p95)
        for name, curve in curves(runs).items()
        for run in sorted(curve, key=lambda run: run.lateness or 0)
        if run.lateness is not None and run.peak_error is not None
        for p95 in [None if run.worst_p95 is None else abs(run.worst_p95.share or 0)]
    ]


def document(text: str, runs: Sequence[ValidatedRun]) -> str:
    """Return the text of the page with its generated parts replaced."""
    pairs = [run for run in runs if not run.dilation_given]
    parts: Mapping[str, Callable[[], str]] = {
        "answer": lambda: _answer(pairs),
        "scenarios": lambda: _table(pairs),
        "tolerances": _tolerances,
        "lateness": lambda: _lateness(runs),
        "jitter": lambda: _jitter(pairs),
    }
    for name, part in parts.items():
        text = replaced(DOCUMENT, text, name, part())
    return text


def _answer(pairs: Sequence[ValidatedRun]) -> str:
    """Return the differences on softswitch, of all pairs and of those with SFC, and the figures within tolerances."""
    live = [run for run in pairs if run.switch == "soft"]
    if not live:
        return "No pair of runs is stored yet."
    verdicts = [run.verdict for run in live]
    levels = dict.fromkeys(verdicts)
    counted = ", ".join(f"{verdicts.count(level)} were [`{level}`](concepts.md#verdict)" for level in levels)
    text = (
        f"In {amount(len(live), 'pair')} of a live run on softswitch and a virtual run of the same flows, the peak "
        f"buffer differs by {_spread(_peak_errors(live))}, and the P95 slowdown by {_spread(_p95_errors(live))}. "
    )
    with_sfc = [run for run in live if run.scheme.partition("+")[0] == "sfc"]
    if with_sfc:
        text += (
            f"In the {amount(len(with_sfc), 'pair')} with SFC, the peak buffer differs by "
            f"{_spread(_peak_errors(with_sfc))}, and the P95 slowdown by {_spread(_p95_errors(with_sfc))}. "
        )
    text += (
        f"Of all compared figures, {_within(live)} are within their [tolerances](#tolerances). "
        f"Of the live runs, {counted}."
    )
    return fill(text, _LINE)


def _spread(errors: Sequence[float]) -> str:
    return f"{_number(median, errors)} (median) and at most {_number(max, errors)}"


def _table(pairs: Sequence[ValidatedRun]) -> str:
    """Return a row for each scenario on softswitch, and a row for all pairs on each switch."""
    live = [run for run in pairs if run.switch == "soft"]
    groups = {
        name: [run for run in live if run.scenario == name] for name in dict.fromkeys(run.scenario for run in live)
    }
    for switch, label in _SWITCHES.items():
        groups[f"**all, {label}**"] = [run for run in pairs if run.switch == switch]
    return markdown_table(_HEADINGS, [_row(name, group) for name, group in groups.items() if group])


def _row(name: str, group: Sequence[ValidatedRun]) -> tuple[str, ...]:
    errors = (_peak_errors(group), _p95_errors(group))
    return (name, str(len(group)), *(_number(of, values) for values in errors for of in (median, max)), _within(group))


def _peak_errors(runs: Sequence[ValidatedRun]) -> list[float]:
    return [abs(run.peak_error) for run in runs if run.peak_error is not None]


def _p95_errors(runs: Sequence[ValidatedRun]) -> list[float]:
    """Return the largest error among the traffic classes of each run."""
    return [abs(run.worst_p95.share or 0) for run in runs if run.worst_p95 is not None]


def _number(of: Callable[[Sequence[float]], float], values: Sequence[float]) -> str:
    return format_share(of(values)) if values else NOTHING


def _within(runs: Sequence[ValidatedRun]) -> str:
    figures = sum(len(run.metrics) for run in runs)
    return f"{figures - sum(len(run.outside) for run in runs):,} of {figures:,}"


def _tolerances() -> str:
    """Return a row for each figure. The page explains the rule in parentheses once."""
    rows = ((name, meaning, tolerance.partition(" (")[0]) for name, meaning, tolerance, _ in tolerance_rows())
    return markdown_table(("figure", "meaning", "tolerance"), rows)


def _jitter(pairs: Sequence[ValidatedRun]) -> str:
    outside = [finding for run in pairs if run.jitter_runs for finding in run.outside]
    reached = sum(finding.is_reached for finding in outside)
    return (
        f"Of {len(outside)} tested figures outside their tolerance, {reached} are within the range of these virtual "
        "runs."
    )


def _lateness(runs: Sequence[ValidatedRun]) -> str:
    measured = [run for curve in curves(runs).values() for run in curve]
    return "\n".join(
        [
            f"- The verdict of a run is `faithful` up to a lateness of {format_share(DEGRADED_ABOVE)}, where the error "
            f"is expected to be at most {format_share(FAITHFUL_ERROR)}.",
            f"- The verdict is `invalid` above {format_share(INVALID_ABOVE)}, where the expected error reaches "
            f"{format_share(TRUSTED_ERROR)} and could hide the effects that the paper reports.",
            "- Both limits assume that with `sfc`, the most sensitive scheme, the error grows by "
            f"{format_number(ERROR_PER_LATENESS)} % for each % of lateness.",
            *(f"- {text}." for text in errors_by_range(measured)),
        ]
    )


def main(arguments: Sequence[str]) -> int:
    """Add the runs in the folders and write the page, or check that the page is current (--check)."""
    parser = argparse.ArgumentParser(prog="python -m sfc_testbed.documents.fidelity")
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if the page is not current")
    parser.add_argument("folders", nargs="*", type=Path, help="folders written by validate")
    options = parser.parse_args(arguments)
    try:
        runs = read_validation(STORE).runs if STORE.exists() else ()
        if options.folders:
            runs = merged(runs, runs_below(options.folders))
        current = DOCUMENT.read_text(encoding="utf-8")
        wanted = document(current, runs)
    except (PageError, ResultError) as error:
        sys.stderr.write(f"{visible(str(error))}\n")
        return 2
    if options.check:
        return int(wanted != current)
    if options.folders:
        write_runs(STORE, Validation(runs=runs))
        write_picture(plot_error_against_lateness(curve_points(runs)), DOCUMENT.parent / PICTURE)
    replace_text(DOCUMENT, wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
