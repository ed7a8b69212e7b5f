# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Arguments and options that verbs share, with their help."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from sfc_testbed.cli.listing import words
from sfc_testbed.cli.output import warn
from sfc_testbed.request.installed import installed_modules

OptionalScenario = Annotated[
    str | None,
    typer.Argument(
        help="Scenario, see `list`; optional with --flows.", show_default=False, autocompletion=words.scenarios
    ),
]


SwitchName = Annotated[
    str, typer.Option(help="Switch target: soft (softswitch), bmv2 or auto (soft).", autocompletion=words.switches)
]
LoadBalancingName = Annotated[
    str | None,
    typer.Option(
        "--load-balancing",
        metavar="NAME",
        help="Load balancing over equal-cost paths instead of the scheme's own, see `list`.",
        show_default=False,
        autocompletion=words.load_balancings,
    ),
]
LoadBalancingNames = Annotated[
    str | None,
    typer.Option(
        "--load-balancing",
        metavar="NAMES",
        help="Load balancings over equal-cost paths, separated by commas: every scheme runs with each. By default each "
        "scheme has its own.",
        show_default=False,
        autocompletion=words.load_balancing_lists,
    ),
]
ClockName = Annotated[
    str,
    typer.Option(
        help="real: live on Mininet, as root. virtual: simulated time, deterministic.", autocompletion=words.clocks
    ),
]
DilationFactor = Annotated[str, typer.Option(help="Time dilation factor D of a live run: auto or a number.")]
ScaleName = Annotated[
    str, typer.Option(help="Size of the network and the traffic: ci, laptop or paper.", autocompletion=words.scales)
]
Seed = Annotated[int, typer.Option(help="Random seed.")]


def milliseconds(text: str | float) -> float:
    """Return a time in ms; the default unit is ms. Options that are not given arrive as None, not here."""
    try:
        return float(text)
    except ValueError:
        pass
    from sfc_testbed.request.quantities import in_unit

    try:
        return in_unit(str(text), "ms")
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


Duration = Annotated[
    float | None,
    typer.Option(
        metavar="TIME",
        parser=milliseconds,
        help="Longest simulated time, such as 4ms; a number is in ms.",
        show_default=False,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a setting: NAME of the scenario, topology.NAME, switch.NAME or transport.NAME. Repeatable.",
    ),
]


def folder_of(name: str) -> Path:
    """Return the folder of a name. UsageError for an empty name."""
    from sfc_testbed.api.requests import folder_of as checked

    return checked(name)


Out = Annotated[Path, typer.Option(metavar="DIR", parser=folder_of, help="Folder for run folders.")]
TopologyName = Annotated[
    str | None,
    typer.Option(
        help="Topology instead of the scenario's, see `list`, or a file such as net.json (docs/networks.md).",
        show_default=False,
        autocompletion=words.topologies,
    ),
]
FlowFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Flow list to replay: CSV, or a file of the HPCC simulator.", show_default=False),
]
Pcap = Annotated[
    str,
    typer.Option(
        metavar="PLACES",
        help="Capture packets at HOST, SWITCH (all ports) or SWITCH:PORT; separated by commas. "
        "flow:NUMBER among them: only packets of that flow, by default along its paths.",
    ),
]
BackgroundName = Annotated[
    str | None, typer.Option(help="Background application that also sends traffic: iperf3.", show_default=False)
]
HostsImage = Annotated[
    str | None,
    typer.Option(
        "--hosts", metavar="docker:IMAGE", help="Run the hosts as Docker containers of this image.", show_default=False
    ),
]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="SPEC",
        help="Inject a fault, such as loss:all,rate=1% or link:tor1-spine1,down=200us. See docs/workloads.md.",
    ),
]
P4_HELP = "P4 program for the switches: PROGRAM.json from p4c, or FILE.p4 if p4c is installed."


_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
"""Environment variables in which MPI launchers give a process its rank."""


def load_extensions(files: list[Path] | None) -> list[Path] | None:
    """Load the extensions of installed packages and those of `--use`. Other MPI ranks get them with their plan."""
    is_shared = any(word.startswith("--exchange") for word in sys.argv)
    is_other_rank = is_shared and any(os.environ.get(name, "0") != "0" for name in _RANKS)
    if not is_other_rank and (files or installed_modules()):
        from sfc_testbed.request.extensions import load_installed, use  # loads slowly

        for problem in load_installed():
            warn(problem)
        use(*(files or ()))
    return files


Uses = Annotated[
    list[Path] | None,
    typer.Option(
        "--use",
        metavar="FILE.py",
        help="A Python file of yours with congestion controls, workloads and more (docs/extensions.md). Repeatable.",
        show_default=False,
        callback=load_extensions,
        is_eager=True,
    ),
]
"""The option loads the files, and every request that the verb makes then names them."""
P4Program = Annotated[str | None, typer.Option("--p4", metavar="FILE", help=P4_HELP, show_default=False)]
P4Programs = Annotated[
    list[str] | None,
    typer.Option(
        "--p4", metavar="FILE", help=f"{P4_HELP} Repeatable: every scheme runs with every program; `built-in` is ours."
    ),
]
ClaimsFile = Annotated[
    Path | None,
    typer.Option(
        "--claims", metavar="FILE.py", help="Your own claims to check against the results.", show_default=False
    ),
]
Retry = Annotated[
    bool,
    typer.Option(
        "--retry",
        help="Repeat a late run at the smallest dilation that would have been on time, even above --dilation.",
    ),
]
WatchPage = Annotated[
    bool,
    typer.Option(
        "--watch", help="Show the network in a browser while it runs, at the address on 127.0.0.1 that is printed."
    ),
]
RunWorkers = Annotated[
    str,
    typer.Option(
        metavar="auto|N", help="Processes for a virtual run. The traces are the same for any number; auto: the fastest."
    ),
]
ExchangeName = Annotated[
    str,
    typer.Option("--exchange", help="Exchange between the processes: memory, or mpi if started by mpirun."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")]
Pictures = Annotated[bool, typer.Option("--png", help="Also write each plot of the page as PNG and SVG.")]
SchedulerAddress = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Address of a Dask scheduler that is already running.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, help="Virtual runs that run at the same time on this machine.", show_default="cores"
    ),
]
