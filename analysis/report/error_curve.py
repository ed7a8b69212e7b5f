# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The section of docs/fidelity.md about the error that lateness causes, and the origin of the verdict's limits.

A curve has the runs of one scenario, scheme, switch and scale at several given dilations (D), and the run at the D that
the testbed chose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analysis.formatting import NOTHING, amount, format_number, format_share, markdown_table
from analysis.plots.lateness import ErrorPoint
from analysis.results.limits import DEGRADED_ABOVE, ERROR_PER_LATENESS, FAITHFUL_ERROR, INVALID_ABOVE, TRUSTED_ERROR
from analysis.validation.record import ValidatedRun

HEADING = "## Error against lateness\n"
PICTURE = "images/error-against-lateness.png"
"""The path of the plot, relative to the document."""
_HEADINGS = ("D", "seed", "host lateness", "switch lateness", "peak buffer", "worst P95", "wall s", "by lateness")
_NO_RUN = "No run with a given D is stored yet. Use `sudo ./runner.py validate SCENARIO --dilation D`.\n"
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
        return [HEADING, _limits(), _NO_RUN]
    measured = [run for curve in curves.values() for run in curve]
    tables = [
        part
        for name, curve in curves.items()
        for part in (f"### {name}, over D\n", markdown_table(_HEADINGS, map(_cells, curve)))
    ]
    return [HEADING, _limits(), *_let_through(measured), _LEGEND, *tables]


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
    """Return the runs of each curve by name, in order of dilation."""
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


def _limits() -> str:
    return (
        "Errors of live runs come from lateness. The verdict depends on the P99 lateness of hosts or switches, as a "
        "share of the dilated base RTT. Its limits follow from the error of the peak buffer that they permit. A run is "
        f"**faithful up to {format_share(DEGRADED_ABOVE)}**, which permits an error of {format_share(FAITHFUL_ERROR)}. "
        f"It is **invalid above {format_share(INVALID_ABOVE)}**, which permits {format_share(TRUSTED_ERROR)}, as much "
        "as the paper's effects. The scheme that is most sensitive to lateness, `sfc`, has an error of "
        f"{format_number(ERROR_PER_LATENESS)} % for each % of lateness (`analysis/results/limits.py`).\n"
    )
