# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The three parts of a flow's row: the plan, the sender's report and the receiver's report.

The plan is known before the run. Each end of a flow reports its part once, so that no part has to stay in memory.
`flow_rows` joins the three parts to the flows trace and uses the columns of that trace.
"""

from __future__ import annotations

from dataclasses import fields, replace

import polars as pl

from sfc_testbed.telemetry.figures import ReceiverFigures, SenderCounts
from sfc_testbed.telemetry.schema import FLOWS, TraceSchema

_REPORTED = (*(field.name for field in fields(SenderCounts)), "paused_us")


def _part(name: str, meaning: str, columns: tuple[str, ...]) -> TraceSchema:
    known = {column.name: column for column in FLOWS.columns}
    return TraceSchema(name, FLOWS.version, meaning, tuple(known[column] for column in columns))


PLANNED = _part(
    "planned", "Every flow of the run.", ("flow_id", "src", "dst", "tag", "size_bytes", "start_us", "ideal_fct_us")
)
_sent = _part(
    "sent", "Reports of senders, on completion or at the end.", ("flow_id", "finish_us", *_REPORTED, "start_us")
)
SENT = replace(
    _sent,
    version=2,
    columns=tuple(replace(column, nullable=column.name != "flow_id") for column in _sent.columns),
)
"""Reports of senders. They include `start_us` for messages that wait for others, whose start is not in the plan.

Figures that the release of a killed run did not count are null.
"""
RECEIVED = _part(
    "received",
    "Reports of receivers with a complete message.",
    ("flow_id", *(field.name for field in fields(ReceiverFigures))),
)


def flow_rows(planned: pl.DataFrame, sent: pl.DataFrame, received: pl.DataFrame, *, all_reported: bool) -> pl.DataFrame:
    """Return the rows of the flows trace, in the order of the plan. The last report of each end counts.

    If `all_reported`, a flow without a sender's report has sent nothing, and its counts are 0. Otherwise the run was
    killed before senders reported their unfinished flows, and the counts of such flows are null.
    """
    fct_us = pl.col("finish_us") - pl.col("start_us")
    reports = sent.unique("flow_id", keep="last").rename({"start_us": "reported_start_us"}).with_columns(is_sent=True)
    rows = (
        planned.join(reports, on="flow_id", how="left", maintain_order="left")
        .with_columns(start_us=pl.coalesce("start_us", "reported_start_us"))
        .join(received.unique("flow_id", keep="last"), on="flow_id", how="left", maintain_order="left")
        .with_columns(
            fct_us=fct_us, slowdown=fct_us / pl.col("ideal_fct_us"), corrupted=pl.col("corrupted").fill_null(False)
        )
    )
    if all_reported:
        rows = rows.with_columns(pl.col(_REPORTED).fill_null(pl.when(pl.col("is_sent").is_null()).then(0)))
    return rows.select(FLOWS.column_names)
