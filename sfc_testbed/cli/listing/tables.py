# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tables of `list`: scenarios, schemes and topologies with all their settings.

Functions import the models of settings, because the overview does without them.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sfc_testbed.analysis.terminal import PROSE, Fitted
from sfc_testbed.api.catalogue import first_line
from sfc_testbed.place import command_name
from sfc_testbed.request.load_balancing import LOAD_BALANCINGS, LoadBalancing
from sfc_testbed.request.schemes import RATE_CONTROLS, SCHEMES

if TYPE_CHECKING:
    from sfc_testbed.cli.listing.settings import Setting
    from sfc_testbed.request.extension import Extension
    from sfc_testbed.scenarios.model.scenario import Scale, Scenario


def names_table(title: str, rows: Sequence[tuple[str, str]]) -> RenderableType:
    """Return a table of names and their meanings."""
    table = Table(title=title, title_style="bold", show_header=False, box=None, padding=(0, 3, 0, 0))
    table.add_column()
    table.add_column(ratio=PROSE)
    for name, meaning in rows:
        table.add_row(Text(name), Text(meaning))
    return Group(Fitted(table), "")


def settings_table(title: str, prefix: str, settings: Sequence[Setting]) -> RenderableType:
    """Return a table of settings as they are typed after `--set`; the meaning takes the remaining width."""
    table = Table(title=title, title_style="bold", box=None, padding=(0, 2, 0, 0))
    for heading, widest in (("--set", 32), ("unit", 10), ("default", 13)):
        table.add_column(heading, max_width=widest)
    table.add_column("meaning", ratio=PROSE)
    for setting in settings:
        name = Text(f"{prefix}{setting.name}", style="cyan")
        table.add_row(name, Text(setting.unit), Text(setting.default), Text(setting.meaning))
    return Group(Fitted(table), "")


def scenario_tables(scenario: Scenario) -> Iterator[RenderableType]:
    """Yield the settings of a scenario at every scale, its networks, and a command to try."""
    from sfc_testbed.cli.listing.settings import model_settings

    yield Group(Text(f"{scenario.name}: {scenario.summary}", style="bold"), "")
    rows = [replace(setting, default=_at_scales(setting, scenario)) for setting in model_settings(scenario.workload)]
    yield settings_table("workload", "", rows)
    if "collective" in scenario.workload.model_fields:
        from sfc_testbed.scenarios.traffic.collectives.table import COLLECTIVES

        yield names_table("algorithms", [(name, ", ".join(row.algorithms)) for name, row in COLLECTIVES.items()])
    yield names_table("scales", [(name, _scale(scale)) for name, scale in scenario.scales.items()])
    yield Text(
        f"Settings of its network: {command_name()} list --topologies; "
        f"of switches and hosts: {command_name()} list --schemes.\n"
        f"Try: {command_name()} run {scenario.name} --clock virtual --set {_example(rows)}{_uses()}"
    )


def scheme_tables() -> Iterator[RenderableType]:
    """Yield the schemes with the settings that each changes, the rate controls, and settings of switches and hosts."""
    yield names_table(
        "schemes",
        [(row.name, f"{row.summary}. Sets {_sets(row.switch, row.transport)}") for row in SCHEMES.values()],
    )
    yield names_table("rate control of a scheme", rate_control_rows(with_settings=True))
    yield names_table(
        "load balancing",
        [(row.name, _meaning_of(row)) for row in LOAD_BALANCINGS.values()],
    )
    yield settings_table("switches", "switch.", _switch_settings())
    yield Text(
        "Settings in bytes can also be given in BDP (switch.q_th_bdp=4) or data packets (switch.trim_queue_packets=8), "
        "settings in ns in base RTTs (switch.suppression_rtt=1).\n"
    )
    yield from _transport_tables()
    yield from program_tables()


def program_tables() -> Iterator[RenderableType]:
    """Yield the settings of the P4 programs that extensions added."""
    if _extensions():
        from sfc_testbed.cli.listing.settings import model_settings
        from sfc_testbed.testbed.program.registered import SWITCH_PROGRAMS

        for name, program in SWITCH_PROGRAMS.items():
            yield settings_table(f"switch program {name}, --p4 {name}", "program.", model_settings(program.settings))


def _meaning_of(row: LoadBalancing) -> str:
    """Return what a load balancing is and sets, including what it sets for some schemes only."""
    of_irn = "; with irn also reordering_rtts=1" if row.reorders else ""
    return f"{row.summary}. Sets {_sets({**row.switch, **row.marking}, row.transport)}{of_irn}"


def _transport_tables() -> Iterator[RenderableType]:
    """Yield the NIC's settings, then a table for each algorithm with parameters."""
    from sfc_testbed.cli.listing.settings import record_settings
    from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS
    from sfc_testbed.hosts.transport.flow_control import FLOW_CONTROLS
    from sfc_testbed.hosts.transport.load_balancing import LOAD_BALANCINGS
    from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES
    from sfc_testbed.hosts.transport.settings import TransportSettings
    from sfc_testbed.testbed.plan.network_settings import FOLLOW_FROM_NETWORK

    rows = [
        replace(setting, default="from the network") if setting.name in FOLLOW_FROM_NETWORK else setting
        for setting in record_settings(TransportSettings)
    ]
    yield settings_table("hosts", "transport.", rows)
    for part, algorithms in (
        ("congestion", CONGESTION_CONTROLS),
        ("flow_control", FLOW_CONTROLS),
        ("loss_recovery", LOSS_RECOVERIES),
        ("load_balancing", LOAD_BALANCINGS),
    ):
        yield Text(f"transport.{part}: {', '.join(algorithms)}\n", style="bold")
        for name, algorithm in algorithms.items():
            settings = record_settings(algorithm.Parameters)
            if settings:
                yield settings_table(f"parameters of {name}, as in transport.{part}_parameters", "", settings)
    yield Text(f"""Try: {command_name()} run incast --scheme sfc+dcqcn --clock virtual \\
  --set 'transport.congestion_parameters={{"additive_bps": 40000000}}'""")


def rate_control_rows(*, with_settings: bool = False) -> list[tuple[str, str]]:
    """Return the suffixes and their meanings, with the schemes that use each by default."""
    return [
        (
            f"+{control.name}",
            control.summary
            + (f". Sets {_sets(control.switch, control.transport)}" if with_settings else "")
            + _default_of(control.name),
        )
        for control in RATE_CONTROLS.values()
    ]


def _default_of(control: str) -> str:
    """Return a remark that names the schemes which use a rate control by default."""
    names = [scheme.name for scheme in SCHEMES.values() if scheme.congestion == control]
    if not names:
        return ""
    example = "sfc" if "sfc" in names else names[0]
    return f" (the default{'' if len(names) > 1 else f' of {example}'}: {example} is {example}+{control})"


def topology_tables() -> Iterator[RenderableType]:
    """Yield each topology with its settings."""
    from sfc_testbed.cli.listing.settings import model_settings
    from sfc_testbed.topologies.shapes import SHAPES

    for name, shape in SHAPES.items():
        title = f"{name}: {first_line(shape)}"
        yield settings_table(title, "topology.", model_settings(shape))
    yield Text(f"Try: {command_name()} run incast --clock virtual --topology star --set topology.hosts=12")


def _switch_settings() -> list[Setting]:
    """Return the switch settings; a default derived from the network is a multiple of BDP, base RTT or data packet."""
    from sfc_testbed.cli.listing.settings import as_typed, model_settings
    from sfc_testbed.testbed.control_plane.settings import FROM_NETWORK, SwitchSettings

    units = {"bdp": ("bytes", "BDP"), "rtt": ("ns", "base RTT"), "packets": ("bytes", "data packet")}
    follows = {}
    for name, value in FROM_NETWORK.items():
        stem, _, multiple = name.rpartition("_")
        suffix, unit = units[multiple]
        follows[f"{stem}_{suffix}"] = f"{as_typed(value)} {unit}"
    return [replace(row, default=follows.get(row.name, row.default)) for row in model_settings(SwitchSettings)]


def _at_scales(setting: Setting, scenario: Scenario) -> str:
    from sfc_testbed.cli.listing.settings import as_typed

    values = {
        name: as_typed(scale.workload[setting.name]) if setting.name in scale.workload else setting.default
        for name, scale in scenario.scales.items()
    }
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _scale(scale: Scale) -> str:
    parameters = _words("topology.", scale.topology_parameters)
    others = [*_words("switch.", scale.switch), *_words("transport.", scale.transport)]
    parts = [
        " ".join([f"topology {scale.topology}", *parameters]),
        f"at most {scale.duration_ms:g} ms of simulated time",
        *others,
        *(f"--fault {fault}" for fault in scale.faults),
    ]
    return "; ".join(parts)


def _sets(switch: Mapping[str, Any], transport: Mapping[str, Any]) -> str:
    words = [
        *_words("switch.", switch),
        *_words("transport.", {name: value for name, value in transport.items() if value}),
    ]
    return ", ".join(words) or "nothing"


def _words(prefix: str, settings: Mapping[str, Any]) -> list[str]:
    from sfc_testbed.cli.listing.settings import as_typed

    return [f"{prefix}{name}={as_typed(value)}" for name, value in settings.items()]


def _example(rows: Sequence[Setting]) -> str:
    """Return a setting to try, as it is at the default scale."""
    row = next((setting for setting in rows if setting.default not in ("null", "")), rows[0])
    return f"{row.name}={row.default.removeprefix('ci ').partition(',')[0]}"


def _uses() -> str:
    """Return the options that load the extensions of this process."""
    return "".join(f" --use {shlex.quote(extension.word)}" for extension in _extensions())


def _extensions() -> tuple[Extension, ...]:
    """Return the extensions of this process. Without their module, which loads slowly, there are none."""
    module = sys.modules.get("sfc_testbed.request.extensions")
    return () if module is None else module.loaded()
