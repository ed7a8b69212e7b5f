# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`runner.py list`."""

from __future__ import annotations

from rich.table import Table

from command.output import console
from scenarios.catalogue import SCENARIOS
from scenarios.faults.kinds import FAULTS
from scenarios.schemes import CONGESTION_SUFFIXES, SCHEMES
from topologies.shapes import SHAPES


def verb() -> None:
    """Prints the tables that this testbed is made of."""
    for title, rows in (
        (
            "scenarios",
            [(each.name, f"{each.summary} (scales: {', '.join(each.scales)})") for each in SCENARIOS.values()],
        ),
        ("schemes", [(each.name, each.summary) for each in SCHEMES.values()]),
        ("rate control of a scheme", [(f"+{suffix}", name) for suffix, name in CONGESTION_SUFFIXES.items()]),
        ("faults", [(each.kind, each.summary) for each in FAULTS.values()]),
        ("topologies", [(name, (shape.__doc__ or "").splitlines()[0]) for name, shape in SHAPES.items()]),
    ):
        table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 3, 0, 0))
        table.add_column(no_wrap=True)
        for row in rows:
            table.add_row(*row)
        console.print(table)
        console.print()
