# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed list`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from sfc_testbed.api.catalogue import names_of
from sfc_testbed.cli.listing import words
from sfc_testbed.cli.listing.tables import (
    names_table,
    program_tables,
    rate_control_rows,
    scenario_tables,
    scheme_tables,
    topology_tables,
)
from sfc_testbed.cli.options import Uses
from sfc_testbed.cli.output import console
from sfc_testbed.place import command_name
from sfc_testbed.request.checks import nearest, shown
from sfc_testbed.request.schemes import SCHEMES
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.topologies.shapes import SHAPES


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
    if scenario is not None and scenario not in SCENARIOS:
        raise UsageError(_unknown(scenario))
    parts = [
        *(scenario_tables(SCENARIOS[scenario]) if scenario is not None else ()),
        *(scheme_tables() if schemes else ()),
        *(topology_tables() if topologies else ()),
    ]
    for part in parts or _overview():
        console.print(part)


def _unknown(name: str) -> str:
    for option, table in (("--schemes", SCHEMES), ("--topologies", SHAPES)):
        if name.partition("+")[0] in table:
            return f"{name} is not a scenario: {command_name()} list {option} shows it"
    return f"unknown scenario {shown(name)}; choose from {', '.join(SCENARIOS)}{nearest(name, SCENARIOS)}"


def _scales(names: Iterable[str]) -> str:
    return f"scales: {', '.join(names)}"


def _overview() -> Iterator[RenderableType]:
    usual = next(iter(SCENARIOS.values())).scales
    scenarios = [
        (row.name, row.summary if [*row.scales] == [*usual] else f"{row.summary} ({_scales(row.scales)})")
        for row in SCENARIOS.values()
    ]
    yield names_table(f"scenarios ({_scales(usual)})", scenarios)
    yield names_table("schemes", [*names_of("schemes").items()])
    yield names_table("rate control of a scheme", rate_control_rows())
    yield from program_tables()
    for kind in ("faults", "topologies"):
        yield names_table(kind, [*names_of(kind).items()])
    yield Text(
        f"All settings with units and defaults: {command_name()} list SCENARIO, list --schemes, list --topologies."
    )
