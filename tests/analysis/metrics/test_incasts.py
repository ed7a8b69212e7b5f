# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the metrics of single incasts, with values computed by hand."""

from __future__ import annotations

import polars as pl
import pytest

from sfc_testbed.analysis.metrics.goodput import jain_index
from sfc_testbed.analysis.metrics.incasts import completion_us, incasts, mean_rates
from sfc_testbed.telemetry.schema import FLOWS
from tests.analysis.conftest import trace_of


def _flows(*rows: tuple[str, float, float]) -> pl.DataFrame:
    """Return incast flows of 1,000 B from (receiver, start, finish)."""
    named = [
        {"flow_id": number, "dst": dst, "tag": "incast", "size_bytes": 1000, "start_us": start, "finish_us": finish,
         "fct_us": finish - start}
        for number, (dst, start, finish) in enumerate(rows)
    ]  # fmt: skip
    return trace_of(FLOWS, named)


def test_incasts_are_split_by_receiver_and_by_the_window() -> None:
    """A flow that starts exactly at the end of the window belongs to the incast, a later flow to the next one."""
    flows = _flows(("h1", 10, 50), ("h2", 11, 20), ("h1", 0, 40), ("h1", 10.1, 60), ("h1", 20.1, 70))
    split = incasts(flows, window_us=10)
    assert [incast["flow_id"].to_list() for incast in split] == [[2, 0], [3, 4], [1]]
    assert [completion_us(incast) for incast in split] == pytest.approx([50, 59.9, 9])


def test_the_rates_of_an_incast_decide_its_fairness() -> None:
    """Rates of 50, 100 and 100 B/us have an index of 250^2 / (3 x 22500)."""
    [incast] = incasts(_flows(("h1", 0, 20), ("h1", 1, 11), ("h1", 2, 12)), window_us=5)
    assert sorted(mean_rates(incast)) == pytest.approx([50, 100, 100])
    assert jain_index(mean_rates(incast)) == pytest.approx(62_500 / 67_500)


def test_there_may_be_no_incast_and_a_flow_that_never_started() -> None:
    waiting = _flows(("h1", 0, 20)).with_columns(start_us=pl.lit(None, dtype=pl.Float64))
    assert incasts(waiting, window_us=5) == []
