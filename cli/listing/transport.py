# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tables of the hosts' settings: the NIC, and the parameters of every algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rich.console import RenderableType
from rich.text import Text

from cli.listing.settings import record_settings
from cli.listing.tables import settings_table
from hosts.transport.congestion import CONGESTION_CONTROLS
from hosts.transport.flow_control import FLOW_CONTROLS
from hosts.transport.loss_recovery import LOSS_RECOVERIES
from hosts.transport.settings import TransportSettings
from testbed.plan.network_settings import FOLLOW_FROM_NETWORK


def transport_tables() -> Iterator[RenderableType]:
    """Yield the NIC's settings, then a table for each algorithm with parameters."""
    rows = [
        replace(each, default="from the network") if each.name in FOLLOW_FROM_NETWORK else each
        for each in record_settings(TransportSettings)
    ]
    yield settings_table("hosts", "transport.", rows)
    for part, algorithms in (
        ("congestion", CONGESTION_CONTROLS),
        ("flow_control", FLOW_CONTROLS),
        ("loss_recovery", LOSS_RECOVERIES),
    ):
        yield Text(f"transport.{part}: {', '.join(algorithms)}\n", style="bold")
        for name, algorithm in algorithms.items():
            settings = record_settings(algorithm.Parameters)
            if settings:
                yield settings_table(f"parameters of {name}, as in transport.{part}_parameters", "", settings)
    yield Text("""Try: ./runner.py run incast --scheme sfc+dcqcn --clock virtual \\
  --set 'transport.congestion_parameters={"additive_bps": 40000000}'""")
