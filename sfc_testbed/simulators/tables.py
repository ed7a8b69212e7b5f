# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The comparison with another simulator as tables, for the terminal and for pages."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sfc_testbed.analysis.formatting import NOTHING, format_bytes, format_number
from sfc_testbed.analysis.terminal import Fitted
from sfc_testbed.simulators.comparison import Both, GroupFigures, PeerRun, PeerValidation

HEADINGS = ("flows of", "flows", "mean", "P50", "P95", "P99")
SUMMARY_HEADINGS = ("run", "flows", "r of FCTs", "mean", "P99", "peak queue", "mean queued", "imbalance")


def compared_figures(run: PeerRun) -> tuple[Both | None, ...]:
    """Return the mean and P99 slowdown of the class with most flows, the longest queue, the mean of all queues, and the
    mean imbalance of uplinks."""
    largest = max(run.groups, key=lambda group: group.flows)
    return largest.mean, largest.p99, run.peak_queue_bytes, run.mean_queued_bytes, run.spread_mean


def summary_cells(run: PeerRun) -> tuple[str, ...]:
    """Return the differences of a run, in the order of `SUMMARY_HEADINGS`."""
    correlation = NOTHING if run.correlation is None else f"{run.correlation:.4f}"
    return (run.label, f"{run.flows:,}", correlation, *map(_share, compared_figures(run)))


def group_cells(group: GroupFigures) -> tuple[str, ...]:
    """Return our slowdowns of a group and the peer's, in the order of `HEADINGS`."""
    figures = (group.mean, group.p50, group.p95, group.p99)
    return (group.group, f"{group.flows:,}", *(_numbers(both) for both in figures))


def _share(both: Both | None) -> str:
    return NOTHING if both is None else f"{100 * both.share:+.1f} %"


def _numbers(both: Both | None) -> str:
    if both is None:
        return NOTHING
    return f"{format_number(both.ours)} / {format_number(both.peer)} ({_share(both)})"


def queue_lines(run: PeerRun) -> list[str]:
    """Return a line for each compared figure of the queues."""
    named = (("longest queue of a port", run.peak_queue_bytes), ("mean of all queues", run.mean_queued_bytes))
    return [
        f"{name}: {format_bytes(round(both.ours))} / {format_bytes(round(both.peer))} ({_share(both)})"
        for name, both in named
        if both is not None
    ]


def uplink_lines(run: PeerRun) -> list[str]:
    """Return a line about the imbalance of uplinks if it was compared."""
    if run.spread_mean is None:
        return []
    return [f"imbalance of uplinks in 100 us: mean {_numbers(run.spread_mean)}, P99 {_numbers(run.spread_p99)}"]


def peer_summary(validation: PeerValidation) -> RenderableType:
    """Return a table with one row per run, for the terminal."""
    table = Table(title=Text(f"Ours compared with the {validation.peer}"), title_style="bold", box=SIMPLE_HEAD)
    for heading in SUMMARY_HEADINGS:
        table.add_column(heading, justify="left" if heading == SUMMARY_HEADINGS[0] else "right")
    for run in validation.runs:
        table.add_row(*map(Text, summary_cells(run)))
    return Fitted(table)


def peer_table(run: PeerRun, peer: str) -> RenderableType:
    """Return a run's FCT slowdowns, ours / the peer's (difference), and its queues, for the terminal."""
    table = Table(box=SIMPLE_HEAD)
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading == HEADINGS[0] else "right")
    for group in run.groups:
        table.add_row(*map(Text, group_cells(group)))
    title = Text(f"{run.label}: FCT slowdown, ours / {peer}", style="bold")
    return Group(title, Fitted(table), *(Text(line) for line in (*queue_lines(run), *uplink_lines(run))))
