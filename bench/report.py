# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Benchmark results as a table for people and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bench.instruments.benchmark import Figure

SCHEMA = "sfc-testbed/bench/1"


@dataclass(frozen=True)
class Report:
    """The figures of one benchmark, or the reason why it was skipped."""

    name: str
    figures: Sequence[Figure] = ()
    skipped: str | None = None
    wall_s: float = 0.0


def as_json(reports: Sequence[Report], machine: Mapping[str, object]) -> str:
    """Return all reports as the text of one JSON object."""
    benchmarks = {
        report.name: {
            "figures": [figure.as_json() for figure in report.figures],
            "skipped": report.skipped,
            "wall_s": report.wall_s,
        }
        for report in reports
    }
    return json.dumps({"schema": SCHEMA, "machine": machine, "benchmarks": benchmarks}, indent=2)


def show(report: Report, summary: str, console: Console) -> None:
    """Print one report as a table."""
    console.print(f"[bold]{report.name}[/] {escape(summary)}")
    if report.skipped is not None:
        console.print(f"  skipped: {escape(report.skipped)}\n")
        return
    table = Table("figure", "value", "target", "note", box=None, pad_edge=True)
    table.columns[1].justify = "right"
    for figure in report.figures:
        table.add_row(figure.name, value_text(figure), target_text(figure), f"[dim]{escape(figure.note)}[/]")
    console.print(table)
    console.print(f"  [dim]took {report.wall_s:.0f} s[/]\n")


def value_text(figure: Figure) -> str:
    """Return the value with its unit: two decimals below 100, one below 1000, none above."""
    digits = 0 if abs(figure.value) >= 1000 else 1 if abs(figure.value) >= 100 else 2
    return f"{figure.value:,.{digits}f} {figure.unit}".strip()


def target_text(figure: Figure) -> str:
    """Return the target and whether it was reached, or an empty text without a target."""
    if figure.target is None:
        return ""
    return f"{figure.target} {'[green]reached[/]' if figure.is_reached else '[red]missed[/]'}"
