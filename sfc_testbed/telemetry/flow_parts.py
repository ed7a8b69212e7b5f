# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The three parts of a flow's row: the plan, the sender's report and the receiver's report.

The plan is known before the run. Each end of a flow reports its part once, so that no part has to stay in memory.
`flow_rows` joins the three parts to the flows trace and uses the columns of that trace.
"""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from typing import Any

import polars as pl

from sfc_testbed.telemetry.figures import MessageFigures, ReceiverFigures, SenderFigures
from sfc_testbed.telemetry.schema import FLOWS, TraceSchema


def _part(name: str, version: int, meaning: str, columns: tuple[str, ...], figures: Any) -> TraceSchema:
    """Return the schema of records that have these columns and, in their attribute `figures`, these figures."""
    known = {column.name: column for column in FLOWS.columns}
    nested = (replace(known[field.name], attribute=f"figures.{field.name}") for field in fields(figures))
    return TraceSchema(name, version, meaning, (*(known[column] for column in columns), *nested))


PLANNED = _part(
    "planned", 1, "Every flow of the run.", ("flow_id", "src", "dst", "tag", "size_bytes", "start_us"), MessageFigures
)
SENT = _part(
    "sent",
    2,
    "Reports of senders, on completion or at the end.",
    ("flow_id", "finish_us", "start_us"),
    SenderFigures,
)
"""Reports of senders. They include `start_us` for messages that wait for others, whose start is not in the plan.

Figures that the release of a killed run did not count are null.
"""
RECEIVED = _part("received", 1, "Reports of receivers with a complete message.", ("flow_id",), ReceiverFigures)


def _defaults(figures: Any) -> dict[str, pl.Expr]:
    """Return the value of each figure for a flow without a report, unless it is null."""
    defaults = {field.name: field.default for field in fields(figures)}
    return {name: pl.lit(value) for name, value in defaults.items() if value is not None and value is not MISSING}


def flow_rows(planned: pl.DataFrame, sent: pl.DataFrame, received: pl.DataFrame, *, all_reported: bool) -> pl.DataFrame:
    """Return the rows of the flows trace, in the order of the plan. The last report of each end counts.

    If `all_reported`, a flow without a sender's report has sent nothing, and has the defaults of `SenderFigures`.
    Otherwise the run was killed before senders reported their unfinished flows, whose figures are null.
    """
    fct_us = pl.col("finish_us") - pl.col("start_us")
    reports = sent.unique("flow_id", keep="last").rename({"start_us": "reported_start_us"}).with_columns(is_sent=True)
    rows = (
        planned.join(reports, on="flow_id", how="left", maintain_order="left")
        .with_columns(start_us=pl.coalesce("start_us", "reported_start_us"))
        .join(received.unique("flow_id", keep="last"), on="flow_id", how="left", maintain_order="left")
        .with_columns(
            *(pl.col(name).fill_null(value) for name, value in _defaults(ReceiverFigures).items()),
            fct_us=fct_us,
            slowdown=fct_us / pl.col("ideal_fct_us"),
        )
    )
    if all_reported:
        sent_nothing = pl.when(pl.col("is_sent").is_null())
        rows = rows.with_columns(
            pl.col(name).fill_null(sent_nothing.then(value)) for name, value in _defaults(SenderFigures).items()
        )
    return rows.select(FLOWS.column_names)
