# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table of the slowest flows, with the same texts on a page and in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from sfc_testbed.analysis.formatting import NOTHING, amount, format_bytes, format_number, format_us
from sfc_testbed.analysis.life.events import LifeEvent
from sfc_testbed.analysis.life.slowest import COUNT, SlowFlow, slowest_flows
from sfc_testbed.analysis.report.data_table import DataTable, Unfolded
from sfc_testbed.analysis.results.stored import Run

HEADINGS = ("flow", "class", "from", "to", "size", "ready", "FCT", "slowdown", "lost", "reasons of the lost time")
_MOST_EVENTS = 40
"""The events of a flow on a page; `trace` prints all."""
_NOTE = (
    f"At most {COUNT} flows of each class. Lost: FCT minus ideal FCT, divided among the reasons that the traces show "
    "(docs/traces.md). The number of a flow leads to its history."
)
_UNKNOWN_NETWORK = " The network of this run is unknown, and with it the queues on the path of a flow."


def slow_cells(flow: SlowFlow) -> tuple[str, ...]:
    """Return the cells of a flow's row."""
    row = flow.row
    return (
        *(str(row[name]) for name in ("flow_id", "tag", "src", "dst")),
        format_bytes(row["size_bytes"]),
        format_us(row["start_us"]),
        format_us(row["fct_us"]) if row["start_us"] is None or row["fct_us"] is not None else "unfinished",
        format_number(row["slowdown"]),
        NOTHING if flow.lost_us is None else format_us(flow.lost_us),
        flow.sentence,
    )


def slow_table(run: Run) -> DataTable | None:
    """Return the slowest flows of a run with their histories; None without flows."""
    flows = slowest_flows(run)
    if not flows:
        return None
    return DataTable(
        "Slowest flows",
        HEADINGS,
        [slow_cells(flow) for flow in flows],
        _NOTE if run.topology is not None else _NOTE + _UNKNOWN_NETWORK,
        unfolded=[_history(flow) for flow in flows],
    )


def _history(flow: SlowFlow) -> Unfolded:
    number = flow.row["flow_id"]
    shown = flow.events if len(flow.events) <= _MOST_EVENTS + 1 else flow.events[:_MOST_EVENTS]
    left_out = len(flow.events) - len(shown)
    more = [f"… {amount(left_out, 'more event')}: trace {number}"] if left_out else []
    return Unfolded(f"flow-{number}", f"History of flow {number}", "\n".join([*_lines(shown), *more]))


def _lines(events: Sequence[LifeEvent]) -> list[str]:
    """Return one line for each event, with the columns aligned."""
    places = max((len(event.where) for event in events), default=0)
    names = max((len(event.what) for event in events), default=0)
    return [
        f"{event.time_us:>12,.2f} µs  {event.where:<{places}}  {event.what:<{names}}  {event.detail}".rstrip()
        for event in events
    ]
