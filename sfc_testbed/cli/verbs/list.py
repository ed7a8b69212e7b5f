# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed list`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfc_testbed.api.catalogue import names_of
from sfc_testbed.cli.listing import words
from sfc_testbed.cli.listing.names import names
from sfc_testbed.cli.options import Uses
from sfc_testbed.place import command_name
from sfc_testbed.request.schemes import SCHEMES
from sfc_testbed.request.shown import nearest, shortened, shown
from sfc_testbed.testbed.errors import UsageError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sfc_testbed.scenarios.model.scenario import Scenario


def verb(
    scenario: Annotated[
        str | None,
        typer.Argument(help="Scenario whose settings are shown.", show_default=False, autocompletion=words.scenarios),
    ] = None,
    *,
    schemes: Annotated[
        bool, typer.Option("--schemes", help="Show schemes with all settings of switches and hosts.")
    ] = False,
    topologies: Annotated[bool, typer.Option("--topologies", help="Show topologies with all their settings.")] = False,
    topology: Annotated[
        str | None,
        typer.Option(
            help="Topology, or network file, whose nodes and links are shown.",
            show_default=False,
            autocompletion=words.topologies,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Setting topology.NAME of --topology.")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw --topology into FILE.svg, .png or .pdf.", show_default=False),
    ] = None,
    use: Uses = None,
) -> None:
    if topology is not None:
        _show_network(topology, settings or [], picture)
        return
    if settings or picture is not None:
        raise UsageError(f"{'--set' if settings else '--picture'} needs --topology NAME or FILE")
    if scenario is not None and scenario not in dict(words.scenarios()):
        raise UsageError(_unknown(scenario))

    from sfc_testbed.cli.listing.tables import scenario_tables, scheme_tables, topology_tables
    from sfc_testbed.cli.output import console

    parts = [
        *(() if scenario is None else scenario_tables(_scenario(scenario))),
        *(scheme_tables() if schemes else ()),
        *(topology_tables() if topologies else ()),
    ]
    for part in parts or _overview():
        console.print(part)


def _show_network(topology: str, words_of_set: list[str], picture: Path | None) -> None:
    from sfc_testbed.cli.listing.network import network_tables
    from sfc_testbed.cli.output import console, say
    from sfc_testbed.request.settings import parse_settings
    from sfc_testbed.request.spec import RunSpec
    from sfc_testbed.testbed.plan.checks import interactive_network

    settings = parse_settings(words_of_set)
    other = next((key for key in settings if not key.startswith("topology.")), None)
    if other is not None:
        raise UsageError(f"--set {shortened(other)}: only topology.NAME is a setting of a network")
    built = interactive_network(RunSpec("none", topology=topology, settings=settings))
    if picture is not None:
        from sfc_testbed.analysis.plots.network import PICTURE_TYPES, draw_network

        if picture.suffix not in PICTURE_TYPES:
            raise UsageError(f"--picture {picture}: the name must end in {', '.join(PICTURE_TYPES)}")
        draw_network(built, picture)
    for part in network_tables(built):
        console.print(part)
    if picture is not None:
        say(f"picture: {picture}")


def _scenario(name: str) -> Scenario:
    from sfc_testbed.scenarios.catalogue import SCENARIOS

    return SCENARIOS[name]


def _unknown(name: str) -> str:
    for option, known in (("--schemes", SCHEMES), ("--topologies", dict(words.topologies()))):
        if name.partition("+")[0] in known:
            return f"{name} is not a scenario: {command_name()} list {option} shows it"
    scenarios = dict(words.scenarios())
    return f"unknown scenario {shown(name)}; choose from {', '.join(scenarios)}{nearest(name, scenarios)}"


def _scales(scales: Iterable[str]) -> str:
    return f"scales: {', '.join(scales)}"


def _overview() -> Iterator[RenderableType]:
    from rich.text import Text

    from sfc_testbed.cli.listing.tables import names_table, program_tables, rate_control_rows

    rows = names()
    _, _, *usual = rows["scenarios"][0]
    scenarios = [
        (name, summary if scales == usual else f"{summary} ({_scales(scales)})")
        for name, summary, *scales in rows["scenarios"]
    ]
    yield names_table(f"scenarios ({_scales(usual)})", scenarios)
    yield names_table("schemes", [*names_of("schemes").items()])
    yield names_table("rate control of a scheme", rate_control_rows())
    yield names_table("load balancing", [*names_of("load balancings").items()])
    yield from program_tables()
    yield names_table("faults", [(kind, summary) for kind, summary in rows["faults"]])
    yield names_table("topologies", words.topologies())
    yield Text(
        f"All settings with units and defaults: {command_name()} list SCENARIO, list --schemes, list --topologies."
    )
