# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed trace`. Functions import what bad input does not need."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfc_testbed.cli.options import Uses
from sfc_testbed.cli.output import EXIT_INVALID, say, warn
from sfc_testbed.request.shown import shown

if TYPE_CHECKING:
    from sfc_testbed.analysis.results.stored import Run


SLOWEST = 0
"""The flow number that means: the slowest flows."""
_HIGHEST = 2**32 - 1


def _flow(word: str) -> int:
    """Return the number of a flow, or SLOWEST."""
    if word == "slowest":
        return SLOWEST
    if not word.isascii() or not word.isdecimal() or not 1 <= int(word) <= _HIGHEST:
        raise typer.BadParameter(f"{shown(word)}: must be a flow number from 1 to {_HIGHEST}, or slowest")
    return int(word)


def verb(
    flow: Annotated[
        int | None,
        typer.Argument(
            metavar="FLOW|slowest",
            parser=_flow,
            help="Flow number, as in flows.parquet, or slowest: the slowest flows of each class, and why.",
            show_default=False,
        ),
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
    count: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="Flows of each class for slowest.", show_default="5"),
    ] = None,
    use: Uses = None,
) -> None:
    """Print the recorded events of a flow, the slowest flows, or a chain of messages.

    Every unreadable file is a line on stderr.
    """
    from sfc_testbed.analysis.report.terminal_tables import chain_table, life_table
    from sfc_testbed.analysis.results.stored import load_run
    from sfc_testbed.api.errors import refused_in_one_line
    from sfc_testbed.cli.output import console
    from sfc_testbed.cli.tracing import critical_chain, flow_life, newest_run
    from sfc_testbed.testbed.errors import UsageError

    if count is not None and flow != SLOWEST:
        raise UsageError("--count is for trace slowest")
    if flow == SLOWEST and packet is not None:
        raise UsageError("--packet needs a flow number")
    if (flow is None) == (critical is None) or (critical is not None and packet is not None):
        raise UsageError("trace needs a flow number, slowest, or --critical JOB/ITERATION without a flow and a packet")
    folder = newest_run(Path("runs")) if run is None else run
    with refused_in_one_line(folder):
        stored = load_run(folder)
        if critical is not None:
            console.print(chain_table(stored.result, critical, critical_chain(stored, critical)))
            say(f"run: {folder}")
            return
        if flow == SLOWEST:
            _print_slowest(stored, count)
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


def _print_slowest(run: Run, count: int | None) -> None:
    """Print the slowest flows of a run, and how to see the history of one."""
    from sfc_testbed.analysis.life.slowest import COUNT, slowest_flows
    from sfc_testbed.analysis.report.terminal_tables import slowest_table
    from sfc_testbed.cli.output import console
    from sfc_testbed.place import command_name

    flows = slowest_flows(run, count or COUNT)
    console.print(slowest_table(run.result, flows))
    if run.topology is None:
        warn("The network of this run is unknown, and with it the queues on the path of a flow.")
    if flows:
        number = flows[0].row["flow_id"]
        say(f"history of a flow: {command_name()} trace {number} --run {shlex.quote(str(run.folder))}")
    say(f"run: {run.folder}")
    for problem in run.problems:
        warn(f"{run.folder}: {problem}")
    if run.problems:
        raise typer.Exit(EXIT_INVALID)
