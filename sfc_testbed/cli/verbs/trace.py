# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed trace`. Functions import what bad input does not need."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfc_testbed.cli.options import Uses
from sfc_testbed.cli.output import EXIT_INVALID, say, warn


def verb(
    flow: Annotated[
        int, typer.Argument(min=1, max=2**32 - 1, help="Flow number, as in flows.parquet.", show_default=False)
    ],
    *,
    run: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Run folder.", show_default="newest in runs")
    ] = None,
    packet: Annotated[
        int | None,
        typer.Option(min=0, metavar="NUMBER", help="Only this packet of the flow, counted from 0.", show_default=False),
    ] = None,
    use: Uses = None,
) -> None:
    """Print the recorded events of a flow. Every unreadable file is a line on stderr."""
    from sfc_testbed.analysis.report.terminal_tables import life_table
    from sfc_testbed.analysis.results.stored import load_run
    from sfc_testbed.api.errors import refused_in_one_line
    from sfc_testbed.cli.output import console
    from sfc_testbed.cli.tracing import flow_life, newest_run

    folder = newest_run(Path("runs")) if run is None else run
    with refused_in_one_line(folder):
        stored = load_run(folder)
        life = flow_life(stored, flow, packet)
    console.print(life_table(stored.result, life.flow, life.events))
    for note in life.notes:
        say(note)
    say(f"run: {folder}")
    for problem in life.problems:
        warn(problem)
    if life.problems:
        raise typer.Exit(EXIT_INVALID)
