# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table of a flow's events for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from analysis.formatting import format_bytes, format_count, format_number, format_us
from analysis.life.events import LifeEvent
from analysis.results.result import RunResult
from analysis.terminal import PROSE, Fitted

_STYLES = {"paused": "yellow", "resumed": "green", "BTS": "magenta", "lost": "red", "acknowledged": "green"}


def life_table(result: RunResult, flow: Mapping[str, Any], events: Sequence[LifeEvent]) -> RenderableType:
    """Return a title with the flow and its FCT, and a table with one row per event."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    table.add_column("model µs", justify="right")
    table.add_column("node")
    table.add_column("event")
    table.add_column("", ratio=PROSE)
    for event in events:
        name = Text(event.what, style=_STYLES.get(event.what, ""))
        table.add_row(f"{event.time_us:,.2f}", Text(event.where), name, Text(event.detail))
    return Group(Text(_title(result, flow), style="bold"), Text(_cost(flow)), Fitted(table, keys=3))


def _title(result: RunResult, flow: Mapping[str, Any]) -> str:
    size = format_bytes(flow["size_bytes"])
    run = f"{result.scenario} · {result.variant} · {result.clock} clock"
    return f"flow {flow['flow_id']} ({flow['tag']}): {size} from {flow['src']} to {flow['dst']} · {run}"


def _cost(flow: Mapping[str, Any]) -> str:
    outcome = "did not finish" if flow["fct_us"] is None else f"FCT {format_us(flow['fct_us'])}"
    slowdown = "" if flow["slowdown"] is None else f", slowdown {format_number(flow['slowdown'])}"
    if flow["packets_sent"] is None:
        return f"{outcome}{slowdown}; packets and pauses not counted"
    packets = f"{format_count(flow['packets_sent'])} packets sent, {format_count(flow['packets_resent'])} resent"
    return f"{outcome}{slowdown}; {packets}; paused for {format_us(flow['paused_us'])}"
