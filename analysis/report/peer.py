# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The comparison with another simulator as tables, and docs/validation.md: `python -m analysis.report.peer FOLDER...`.

The runs in every peer-validation.json below the folders are added to docs/stored/validation.json; a new run replaces
the stored run with the same label. Without folders, the document is written from the stored runs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from analysis.formatting import NOTHING, format_bytes, format_number, markdown_table
from analysis.plots.canvas import write_png
from analysis.plots.peer import plot_fcts
from analysis.results.result import ResultError
from analysis.terminal import Fitted
from analysis.validation.peer import (
    FILE_NAME,
    Both,
    GroupFigures,
    PeerRun,
    PeerValidation,
    read_peer_validation,
    write_peer_validation,
)
from os_helpers.visible import visible
from telemetry.atomic_file import replace_text

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "validation.md"
STORE = DOCUMENT.parent / "stored" / "validation.json"
PICTURE = "images/fct-against-the-hpcc-simulator.png"
"""The path of the plot, relative to the document."""
HEADINGS = ("flows of", "flows", "mean", "P50", "P95", "P99")
SUMMARY_HEADINGS = ("run", "flows", "r of FCTs", "mean", "P99", "peak queue", "mean queued")
BEGIN, END = "<!-- begin comparison -->", "<!-- end comparison -->"


def summary_cells(run: PeerRun) -> tuple[str, ...]:
    """Return the differences of a run, in the order of `SUMMARY_HEADINGS`. The largest class counts for slowdowns."""
    largest = max(run.groups, key=lambda group: group.flows)
    both = (largest.mean, largest.p99, run.peak_queue_bytes, run.mean_queued_bytes)
    correlation = NOTHING if run.correlation is None else f"{run.correlation:.4f}"
    return (run.label, f"{run.flows:,}", correlation, *map(_share, both))


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
    return Group(title, Fitted(table), *(Text(line) for line in queue_lines(run)))


def comparison(validation: PeerValidation) -> str:
    """Return the tables of all runs as Markdown, one summary for each simulator."""
    parts = []
    for peer in dict.fromkeys(run.peer for run in validation.runs):
        runs = [run for run in validation.runs if run.peer == peer]
        parts += [f"Ours compared with the {peer}:\n", markdown_table(SUMMARY_HEADINGS, map(summary_cells, runs))]
    for run in validation.runs:
        parts += [f"### {run.label}\n", f"`{run.command}`\n", markdown_table(HEADINGS, map(group_cells, run.groups))]
        parts += [f"- {line}" for line in queue_lines(run)]
        parts += [""] if queue_lines(run) else []
    return "\n".join(parts)


def merged(stored: Sequence[PeerRun], new: Sequence[PeerRun]) -> tuple[PeerRun, ...]:
    """Return all runs in order of their first appearance. New runs replace stored runs of the same label."""
    return tuple({run.label: run for run in (*stored, *new)}.values())


def document(text: str, validation: PeerValidation) -> str:
    """Return the text of the document with the generated part replaced."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{comparison(validation)}\n{END}{tail}"


def main(arguments: Sequence[str]) -> int:
    """Add the runs below the folders to the store and write the document. Returns 2 if a file cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m analysis.report.peer")
    parser.add_argument("folders", nargs="*", type=Path, help="folders written by validate --peer")
    folders = parser.parse_args(arguments).folders
    try:
        stored = read_peer_validation(STORE)
        paths = sorted(path for folder in folders for path in folder.rglob(FILE_NAME))
        if folders and not paths:
            raise ResultError(f"no {FILE_NAME} below {', '.join(map(str, folders))}")
        new = [run for path in paths for run in read_peer_validation(path).runs]
    except ResultError as error:
        sys.stderr.write(f"{visible(str(error))}\n")
        return 2
    validation = stored.model_copy(update={"runs": merged(stored.runs, new)})
    write_peer_validation(STORE, validation)
    replace_text(DOCUMENT, document(DOCUMENT.read_text(encoding="utf-8"), validation))
    drawn = [run for run in validation.runs if run.peer == validation.peer]
    write_png(plot_fcts(drawn, validation.peer), DOCUMENT.parent / PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
