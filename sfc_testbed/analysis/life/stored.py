# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The events of a flow from the traces: ready, BTS and pauses, deliveries, completion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import inf, isclose
from typing import Any, TypeAlias

import polars as pl

from sfc_testbed.analysis.formatting import format_bytes, format_number, format_us
from sfc_testbed.analysis.life.events import LifeEvent
from sfc_testbed.telemetry.reader import Rows, answer

_CAUSES = {
    "queue": "queue above Q_th ({depth})",
    "cache": "cache",
    "estimator": "estimator ({depth})",
    "feedback": "feedback of QCN ({depth})",
    "sub_rtt": "queue above Bolt's CC_THRESH ({depth})",
}
"""The description of each cause. A BTS from the pause cache has no queue depth."""
Delivery: TypeAlias = tuple[float, float, int]
"""A row of goodput.parquet: begin and end of the interval, and the bytes."""
DELIVERIES = ("from_us", "until_us", "delivered_bytes")
REQUESTS = {"feedback": "lower rate", "sub_rtt": "smaller window"}
"""The requests of the causes that ask for no pause."""


def stored_events(flow: Mapping[str, Any], signals: Rows, goodput: Rows) -> list[LifeEvent]:
    """Return the events of a flow in order of time, and in causal order if their times are equal.

    `flow`: a row of flows.parquet. `signals` and `goodput`: signals.parquet and goodput.parquet, with all flows.
    """
    is_of_flow = pl.col("flow_id") == flow["flow_id"]
    received = answer(signals.lazy().filter(is_of_flow)).sort("received_us", maintain_order=True)
    delivered = answer(goodput.lazy().filter(is_of_flow)).sort("from_us")
    return events_of(flow, received.to_dicts(), delivered.select(DELIVERIES).rows())


def events_of(
    flow: Mapping[str, Any], signals: Iterable[Mapping[str, Any]], deliveries: Iterable[Delivery]
) -> list[LifeEvent]:
    """Return the events of a flow as `stored_events` does, from its rows in order of time."""
    received = (row for row in signals if row["host"] == flow["src"])
    events = [_ready(flow), *_signals(flow, received), *_deliveries(flow, deliveries), *_acknowledged(flow)]
    return sorted(events, key=lambda event: event.time_us)


def _ready(flow: Mapping[str, Any]) -> LifeEvent:
    size = format_bytes(flow["size_bytes"])
    if flow["start_us"] is None:
        return LifeEvent(0.0, flow["src"], "waits", f"with {size} to {flow['dst']}, for messages that never completed")
    return LifeEvent(flow["start_us"], flow["src"], "ready", f"{size} to {flow['dst']}")


def _acknowledged(flow: Mapping[str, Any]) -> Iterator[LifeEvent]:
    if flow["finish_us"] is not None:
        took, ideal = format_us(flow["fct_us"]), format_us(flow["ideal_fct_us"])
        detail = f"complete; FCT {took}, ideal {ideal}, slowdown {format_number(flow['slowdown'])}"
        yield LifeEvent(flow["finish_us"], flow["src"], "acknowledged", detail)


def _signals(flow: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> Iterator[LifeEvent]:
    """Yield the BTS of a flow and their effects at its sender. A flow that has sent everything is not paused.

    A newer pause replaces the end of an older one. A flow that finishes before its pause ends does not resume.
    """
    paused_until_us: float | None = None
    for row in rows:
        until_us = row["paused_until_us"]
        cause = _CAUSES.get(row["cause"], row["cause"]).format(depth=format_bytes(row["queue_depth_bytes"]))
        request = REQUESTS.get(row["cause"], f"pause for {format_us(row['pause_us'])}")
        if row["sent_us"] is not None:
            yield LifeEvent(row["sent_us"], row["switch"], "BTS", f"{cause}, {request}")
        if row["obeyed"] and row["cause"] in REQUESTS:
            yield LifeEvent(row["received_us"], flow["src"], "slowed down", f"by {row['switch']}")
            continue
        if not row["obeyed"] or until_us is None:
            yield LifeEvent(row["received_us"], flow["src"], "BTS ignored", f"from {row['switch']}")
            continue
        if until_us == row["received_us"] and row["pause_us"]:
            detail = f"from {row['switch']}, asks to {request}; nothing left to send"
            yield LifeEvent(row["received_us"], flow["src"], "BTS received", detail)
            continue
        if paused_until_us is not None and paused_until_us <= row["received_us"]:
            yield _resumed(flow, paused_until_us)
        paused_until_us = until_us
        yield LifeEvent(row["received_us"], flow["src"], "paused", f"by {row['switch']}, until {until_us:,.2f}")
    if paused_until_us is not None and (flow["finish_us"] is None or paused_until_us <= flow["finish_us"]):
        yield _resumed(flow, paused_until_us)


def _resumed(flow: Mapping[str, Any], time_us: float) -> LifeEvent:
    return LifeEvent(time_us, flow["src"], "resumed", "end of the pause")


def _deliveries(flow: Mapping[str, Any], rows: Iterable[Delivery]) -> Iterator[LifeEvent]:
    """Yield deliveries. Consecutive intervals are merged into one delivery.

    The trace has intervals, not arrivals. A delivery is placed at the end of its first interval, when its first bytes
    had arrived, but not after the acknowledgement of the last bytes.
    """
    latest_us = inf if flow["finish_us"] is None else flow["finish_us"]
    first_us = end_us = 0.0
    delivered_bytes = 0
    for from_us, until_us, size_bytes in rows:
        if delivered_bytes and not isclose(from_us, end_us, abs_tol=1e-6):
            yield _delivery(flow["dst"], first_us, end_us, delivered_bytes)
            delivered_bytes = 0
        end_us = min(until_us, latest_us)
        if not delivered_bytes:
            first_us = end_us
        delivered_bytes += size_bytes
    if delivered_bytes:
        yield _delivery(flow["dst"], first_us, end_us, delivered_bytes)


def _delivery(receiver: str, first_us: float, end_us: float, size_bytes: int) -> LifeEvent:
    until = f", until {end_us:,.2f}" if end_us > first_us else ""
    return LifeEvent(first_us, receiver, "received", f"{format_bytes(size_bytes)} in order{until}")
