# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The trace of congestion controls: written only on request, without an effect on the other traces."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sfc_testbed.telemetry.reader import read_trace
from sfc_testbed.telemetry.schema import CONGESTION, SCHEMAS
from tests.testbed.incasts import plan_incast, simulated

TRACE_SETTING = "transport.cc_trace_ns=500"


def _ran(folder: Path, scheme: str, *settings: str) -> Path:
    folder.mkdir()
    simulated(plan_incast(scheme, "degree=6", "message_bytes=100000", *settings), folder)
    return folder


def _traced(folder: Path) -> pl.DataFrame:
    return read_trace(folder / CONGESTION.file_name, CONGESTION)


def test_the_trace_is_optional_and_changes_no_other_trace(tmp_path: Path) -> None:
    plain, traced = _ran(tmp_path / "plain", "sfc"), _ran(tmp_path / "traced", "sfc", TRACE_SETTING)
    names = {path.name for path in plain.glob("*.parquet")}
    assert names == {schema.file_name for schema in SCHEMAS.values()}
    for schema in SCHEMAS.values():
        both = [read_trace(folder / schema.file_name, schema) for folder in (plain, traced)]
        assert_frame_equal(*both)
    assert _traced(traced).height > 0


def test_hpcc_s_window_and_rate_fall_with_the_incast_and_rows_keep_their_distance(tmp_path: Path) -> None:
    rows = _traced(_ran(tmp_path / "run", "irn+hpcc", TRACE_SETTING)).sort("flow_id", "time_us", maintain_order=True)
    assert rows["flow_id"].n_unique() == 6
    for _, flow_rows in rows.group_by("flow_id", maintain_order=True):
        assert (flow_rows["time_us"].diff().drop_nulls() >= 0.5).all()
        states = flow_rows.select("cwnd_bytes", "rate_bps", "rtt_us").rows()
        assert all(one != other for one, other in pairwise(states))
        windows, rates = (flow_rows[name].to_numpy() for name in ("cwnd_bytes", "rate_bps"))
        assert windows / 125_000 == pytest.approx(rates / 100e9, abs=1e-4)
        assert windows.min() < 0.9 * windows[0]
    assert rows["rtt_us"].drop_nulls().to_numpy().min() >= 10


def test_a_control_without_limits_has_rows_for_its_round_trips(tmp_path: Path) -> None:
    rows = _traced(_ran(tmp_path / "run", "irn+none", TRACE_SETTING))
    assert rows["cwnd_bytes"].null_count() == rows.height > 6
    assert rows["rate_bps"].unique().to_list() == [100_000_000_000]
    rtts_us = rows["rtt_us"].drop_nulls().to_numpy()
    assert rtts_us.max() > rtts_us.min() >= 10
