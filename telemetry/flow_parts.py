# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a flow's row is made of: what was planned, what its sender told, what its receiver told.

The plan is known before the run and each end tells its part once, so that none of them has to stay in memory. The
columns are those of the flows trace, which `flow_rows` makes of all three.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from telemetry.schema import FLOWS, TraceSchema

_COUNTS = ("packets_sent", "packets_resent", "bytes_resent", "timeouts", "naks", "paused_us")


def _part(name: str, meaning: str, columns: tuple[str, ...]) -> TraceSchema:
    known = {column.name: column for column in FLOWS.columns}
    return TraceSchema(name, FLOWS.version, meaning, tuple(known[column] for column in columns))


PLANNED = _part(
    "planned", "Every flow of the run.", ("flow_id", "src", "dst", "tag", "size_bytes", "start_us", "ideal_fct_us")
)
_sent = _part("sent", "What senders told, when done or at the end.", ("flow_id", "finish_us", *_COUNTS, "start_us"))
SENT = replace(
    _sent,
    version=2,
    columns=tuple(replace(each, nullable=each.name in ("finish_us", "start_us")) for each in _sent.columns),
)
"""`start_us` is told of messages that wait for others, whose start nobody could plan."""
RECEIVED = _part("received", "What receivers told that have a whole message.", ("flow_id", "corrupted"))


def flow_rows(planned: pl.DataFrame, sent: pl.DataFrame, received: pl.DataFrame, *, all_told: bool) -> pl.DataFrame:
    """Rows of the flows trace, in the order of the plan; what an end told last counts.

    `all_told`: a flow whose sender told nothing sent nothing. Otherwise the run was cut off before senders told of
    flows that were not done, and what those cost is null.
    """
    fct_us = pl.col("finish_us") - pl.col("start_us")
    told = sent.unique("flow_id", keep="last").rename({"start_us": "told_us"})
    rows = (
        planned.join(told, on="flow_id", how="left", maintain_order="left")
        .with_columns(start_us=pl.coalesce("start_us", "told_us"))
        .join(received.unique("flow_id", keep="last"), on="flow_id", how="left", maintain_order="left")
        .with_columns(
            fct_us=fct_us, slowdown=fct_us / pl.col("ideal_fct_us"), corrupted=pl.col("corrupted").fill_null(False)
        )
    )
    if all_told:
        rows = rows.with_columns(pl.col(_COUNTS).fill_null(0))
    return rows.select(FLOWS.column_names)
