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
        int | None,
        typer.Argument(min=1, max=2**32 - 1, help="Flow number, as in flows.parquet.", show_default=False),
    ] = None,
    *,
    run: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Run folder.", show_default="newest in runs")
    ] = None,
    packet: Annotated[
        int | None,
        typer.Option(min=0, metavar="NUMBER", help="Only this packet of the flow, counted from 0.", show_default=False),
    ] = None,
    critical: Annotated[
        str | None,
        typer.Option(
            metavar="JOB/ITERATION",
            help="Instead of a flow: the slowest chain of messages in an iteration of a job.",
            show_default=False,
        ),
    ] = None,
    use: Uses = None,
) -> None:
    """Print the recorded events of a flow, or a chain of messages. Every unreadable file is a line on stderr."""
    from sfc_testbed.analysis.report.terminal_tables import chain_table, life_table
    from sfc_testbed.analysis.results.stored import load_run
    from sfc_testbed.api.errors import refused_in_one_line
    from sfc_testbed.cli.output import console
    from sfc_testbed.cli.tracing import critical_chain, flow_life, newest_run
    from sfc_testbed.testbed.errors import UsageError

    if (flow is None) == (critical is None) or (critical is not None and packet is not None):
        raise UsageError("trace needs a flow number, or --critical JOB/ITERATION without a flow and a packet")
    folder = newest_run(Path("runs")) if run is None else run
    with refused_in_one_line(folder):
        stored = load_run(folder)
        if critical is not None:
            console.print(chain_table(stored.result, critical, critical_chain(stored, critical)))
            say(f"run: {folder}")
            return
        life = flow_life(stored, flow or 0, packet)
    console.print(life_table(stored.result, life.flow, life.events))
    for note in life.notes:
        say(note)
    say(f"run: {folder}")
    for problem in life.problems:
        warn(problem)
    if life.problems:
        raise typer.Exit(EXIT_INVALID)
