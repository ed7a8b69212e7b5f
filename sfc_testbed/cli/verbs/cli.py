# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed cli`."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path
from typing import IO, Annotated

import typer

from sfc_testbed.cli.listing import words
from sfc_testbed.cli.options import HostsImage, LoadBalancingName, P4Program, Settings, SwitchName, Uses, WatchPage
from sfc_testbed.cli.output import EXIT_INVALID, console
from sfc_testbed.native.first_use import prepare
from sfc_testbed.request.bounded_file import read_named_text
from sfc_testbed.request.network_file import read_network_file
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.execution.limits import check_switch_limits
from sfc_testbed.testbed.execution.programs import build_programs
from sfc_testbed.testbed.plan.dilations import MAX_DILATION, NETWORK_DILATION
from sfc_testbed.testbed.plan.plan import plan_network
from sfc_testbed.testbed.program.user_program import read_program
from sfc_testbed.testbed.targets import capabilities

MAX_SCRIPT_BYTES = 1_000_000


def verb(
    *,
    topology: Annotated[
        str, typer.Option(help="Topology, see `list`, or a network file.", autocompletion=words.topologies)
    ] = "clos",
    scheme: Annotated[
        str, typer.Option(help="Scheme of the switches and hosts at the start.", autocompletion=words.schemes)
    ] = "sfc",
    load_balancing: LoadBalancingName = None,
    switch: SwitchName = "auto",
    p4: P4Program = None,
    dilation: Annotated[
        int, typer.Option(min=1, max=MAX_DILATION, help="Time dilation factor D of the network.")
    ] = NETWORK_DILATION,
    settings: Settings = None,
    hosts: HostsImage = None,
    script: Annotated[
        Path | None,
        typer.Option(
            "--exec",
            metavar="FILE",
            help="Run the commands in this file (`-`: stdin) instead of a prompt; exit with 3 at the first failure.",
        ),
    ] = None,
    watch: WatchPage = False,
    use: Uses = None,
) -> None:
    chosen = parse_settings(settings or ())
    request = RunSpec(
        "none",
        scheme,
        switch,
        load_balancing=load_balancing,
        topology=topology,
        dilation=dilation,
        settings=chosen,
        network_file=read_network_file(topology, chosen),
        hosts=hosts,
        program=read_program(p4),
    )
    lines = None if script is None else _open(script)
    plan = plan_network(request)
    check_switch_limits(plan)
    capabilities.require("real", plan.config.switch, plan.mtu_bytes, hosts, has_virtual=False)
    prepare()
    build_programs([plan])

    from sfc_testbed.testbed.prompt.start import open_prompt  # loads Mininet, which is installed as checked above

    if not open_prompt(request, console, lines, is_watched=watch):
        raise typer.Exit(EXIT_INVALID)


def _open(script: Path) -> IO[str]:
    return sys.stdin if str(script) == "-" else StringIO(read_named_text(f"--exec {script}", script, MAX_SCRIPT_BYTES))
