# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed list`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from sfc_testbed.api.catalogue import names_of
from sfc_testbed.cli.listing import words
from sfc_testbed.cli.listing.names import names
from sfc_testbed.cli.options import Uses
from sfc_testbed.place import command_name
from sfc_testbed.request.schemes import SCHEMES
from sfc_testbed.request.shown import nearest, shown
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
    use: Uses = None,
) -> None:
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
