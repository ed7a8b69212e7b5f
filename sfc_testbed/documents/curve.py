# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The error of live runs against their lateness: stored runs at several given dilations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sfc_testbed.analysis.formatting import NOTHING, amount, format_share
from sfc_testbed.analysis.results.limits import DEGRADED_ABOVE, FAITHFUL_ERROR, INVALID_ABOVE, TRUSTED_ERROR
from sfc_testbed.analysis.validation.record import ValidatedRun

CURVE_HEADINGS = ("D", "seed", "hosts late", "switches late", "peak", "P95", "wall s", "verdict")


def curves(runs: Sequence[ValidatedRun]) -> Mapping[str, list[ValidatedRun]]:
    """Return the runs of each curve by name, in order of dilation.

    A curve has the runs of one scenario, scheme, switch and scale at several given dilations (D), and the run at the D
    that the testbed chose.
    """
    by_name: dict[str, list[ValidatedRun]] = {}
    for run in runs:
        by_name.setdefault(f"{run.label}, {run.switch}, scale {run.scale}", []).append(run)
    return {
        name: sorted(curve, key=lambda run: (run.dilation, run.seed))
        for name, curve in by_name.items()
        if any(run.dilation_given for run in curve)
    }


def curve_cells(run: ValidatedRun) -> tuple[str, ...]:
    """Return the cells of a run, in the order of `CURVE_HEADINGS`."""
    p95 = run.worst_p95
    return (
        f"{run.dilation:,}" if run.dilation_given else f"{run.dilation:,} auto",
        str(run.seed),
        format_share(run.host_lateness),
        format_share(run.switch_lateness),
        _signed(run.peak_error),
        NOTHING if p95 is None else _signed(p95.share),
        NOTHING if run.live_wall_s is None else f"{run.live_wall_s:.1f}",
        _by_lateness(run.lateness),
    )


def errors_by_range(runs: Sequence[ValidatedRun]) -> Iterator[str]:
    """Yield a text for each range of lateness: its runs, their largest error of the peak buffer, and excesses."""
    for words, low, high, allowed in (
        ("below the first limit", -1.0, DEGRADED_ABOVE, FAITHFUL_ERROR),
        ("between the limits", DEGRADED_ABOVE, INVALID_ABOVE, TRUSTED_ERROR),
        ("above the second limit", INVALID_ABOVE, float("inf"), TRUSTED_ERROR),
    ):
        errors = [abs(run.peak_error or 0) for run in runs if run.lateness is not None and low < run.lateness <= high]
        if errors:
            beyond = sum(error > allowed for error in errors)
            yield (
                f"In {amount(len(errors), 'measured run')} {words}, the peak buffer differed by at most "
                f"{format_share(max(errors))}, and by more than {format_share(allowed)} in {beyond} of them"
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
