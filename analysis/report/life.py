# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The life of a flow for the terminal (rich). Computes nothing."""

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
from analysis.terminal.fitted import PROSE, Fitted

_STYLES = {"paused": "yellow", "resumed": "green", "BTS": "magenta", "lost here": "red", "acknowledged": "green"}


def life_table(result: RunResult, flow: Mapping[str, Any], events: Sequence[LifeEvent]) -> RenderableType:
    """A head that says which flow and how it went, and a line for each event."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    table.add_column("model µs", justify="right")
    table.add_column("where")
    table.add_column("what")
    table.add_column("", ratio=PROSE)
    for each in events:
        what = Text(each.what, style=_STYLES.get(each.what, ""))
        table.add_row(f"{each.time_us:,.2f}", Text(each.where), what, Text(each.detail))
    return Group(Text(_title(result, flow), style="bold"), Text(_cost(flow)), Fitted(table, keys=3))


def _title(result: RunResult, flow: Mapping[str, Any]) -> str:
    size = format_bytes(flow["size_bytes"])
    run = f"{result.scenario} · {result.variant} · {result.clock} clock"
    return f"flow {flow['flow_id']} ({flow['tag']}): {size} from {flow['src']} to {flow['dst']} · {run}"


def _cost(flow: Mapping[str, Any]) -> str:
    done = "did not finish" if flow["fct_us"] is None else f"took {format_us(flow['fct_us'])}"
    slowdown = "" if flow["slowdown"] is None else f", slowdown {format_number(flow['slowdown'])}"
    if flow["packets_sent"] is None:
        return f"{done}{slowdown}; its packets and pauses were not counted"
    resent = f"{format_count(flow['packets_sent'])} packets sent, {format_count(flow['packets_resent'])} of them again"
    return f"{done}{slowdown}; {resent}; paused for {format_us(flow['paused_us'])}"
