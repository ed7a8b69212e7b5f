# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Arguments and options that several verbs share, each with its one line of help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from command.listing import words
from scenarios.listed import LISTED
from testbed.errors import UsageError


def folder_of(text: str | Path) -> Path:
    """A folder by its name; nothing is not the folder in which the command is typed."""
    if not str(text):
        raise UsageError("--out: the name of a folder, not nothing")
    return Path(text)


OptionalScenario = Annotated[
    str | None,
    typer.Argument(
        help="Scenario, see `list`; may be left out with --flows.", show_default=False, autocompletion=words.scenarios
    ),
]


def scenario_of(scenario: str | None, flows: Path | None) -> str:
    """Return the name of the scenario that was typed, or of what stands in for one where a file has the flows."""
    if scenario is not None:
        return scenario
    if flows is None:
        raise UsageError("no scenario: name one of those that `list` shows, or a file of flows by --flows FILE")
    return LISTED.name


SwitchName = Annotated[
    str, typer.Option(help="Switch target: auto (soft), soft or bmv2.", autocompletion=words.switches)
]
ClockName = Annotated[
    str,
    typer.Option(
        help="real (Mininet, needs root) or virtual (in process, deterministic).", autocompletion=words.clocks
    ),
]
DilationFactor = Annotated[str, typer.Option(help="How much slower than the model the clock runs: auto or a number.")]
ScaleName = Annotated[str, typer.Option(help="Size: ci, laptop or paper.", autocompletion=words.scales)]
Seed = Annotated[int, typer.Option(help="Seed of all chance.")]
Duration = Annotated[float | None, typer.Option(metavar="MS", help="Longest model time in ms.", show_default=False)]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting: NAME, topology.NAME, switch.NAME or transport.NAME."),
]
Out = Annotated[Path, typer.Option(metavar="DIR", parser=folder_of, help="Where run folders are made.")]
TopologyName = Annotated[
    str | None,
    typer.Option(help="Network instead of the scale's own.", show_default=False, autocompletion=words.topologies),
]
FlowFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Flow list to replay: ours or the HPCC simulator's.", show_default=False),
]
Pcap = Annotated[
    str,
    typer.Option(metavar="PLACES", help="What is captured: HOST, SWITCH (all its ports) or SWITCH:PORT, with commas."),
]
BackgroundName = Annotated[
    str | None, typer.Option(help="Unmodified programs beside the flows: iperf3.", show_default=False)
]
HostsImage = Annotated[
    str | None,
    typer.Option("--hosts", metavar="docker:IMAGE", help="Hosts are containers of this image.", show_default=False),
]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="SPEC",
        help="What goes wrong, see `list`: link:tor1-spine1,down=200us, loss:all,rate=1%. docs/workloads.md has all.",
    ),
]
P4_HELP = "P4 program of the switches instead of ours: PROGRAM.json as p4c compiles it, or FILE.p4 where p4c is."
P4Program = Annotated[str | None, typer.Option("--p4", metavar="FILE", help=P4_HELP, show_default=False)]
P4Programs = Annotated[
    list[str] | None,
    typer.Option("--p4", metavar="FILE", help=f"{P4_HELP} Repeated: each scheme with each; `built-in` is ours."),
]
ClaimsFile = Annotated[
    Path | None,
    typer.Option(
        "--claims", metavar="FILE.py", help="Your own claims, which are held against the runs.", show_default=False
    ),
]
Retry = Annotated[
    bool,
    typer.Option("--retry", help="Run again what was late, at the D that would have done; above --dilation too."),
]
RunWorkers = Annotated[int, typer.Option(min=1, help="Processes that share a virtual run; its traces stay the same.")]
ExchangeName = Annotated[
    str,
    typer.Option("--exchange", help="How the processes meet: memory, or mpi, which are those that mpirun starts."),
]
Json = Annotated[bool, typer.Option("--json", help="Print result.json and nothing else.")]
SchedulerAddress = Annotated[
    str | None, typer.Option("--scheduler", metavar="ADDRESS", help="Existing Dask scheduler.", show_default=False)
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Virtual runs at a time on this machine.", show_default="cores")
]
