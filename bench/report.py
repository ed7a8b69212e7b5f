# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Results for people (a rich table) and for programs (JSON)."""

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
    """What came of one benchmark: figures, or why there are none."""

    name: str
    figures: Sequence[Figure] = ()
    skipped: str | None = None
    wall_s: float = 0.0


def as_json(reports: Sequence[Report], machine: Mapping[str, object]) -> str:
    """All reports as one JSON object."""
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
    """Prints one report."""
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
    """The value with its unit, to as many digits as mean something."""
    digits = 0 if abs(figure.value) >= 1000 else 1 if abs(figure.value) >= 100 else 2
    return f"{figure.value:,.{digits}f} {figure.unit}".strip()


def target_text(figure: Figure) -> str:
    """The target and whether it is reached."""
    if figure.target is None:
        return ""
    return f"{figure.target} {'[green]reached[/]' if figure.is_reached else '[red]missed[/]'}"
