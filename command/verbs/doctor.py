# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`runner.py doctor`."""

from __future__ import annotations

from rich.table import Table

from command.output import console
from testbed.execution.capabilities import CAPABILITIES


def verb() -> None:
    """Prints every capability and whether it is there."""
    table = Table(box=None, padding=(0, 3, 0, 0))
    for heading in ("what", "needed for", "state"):
        table.add_column(heading)
    for capability in CAPABILITIES:
        missing = capability.probe()
        state = "[green]there[/green]" if missing is None else f"[yellow]missing[/yellow]: {missing}"
        table.add_row(capability.name, capability.needed_for, state)
    console.print(table)
