# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the metrics of the flows trace, with values computed by hand and invariants."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.analysis.metrics.flows import (
    active_span_us,
    of_class,
    size_bin_edges,
    slowdown_by_class,
    slowdown_by_size,
    slowdown_figures,
    started_between,
    throughput_gbps,
    traffic_classes,
)
from sfc_testbed.telemetry.schema import FLOWS
from tests.analysis.conftest import trace_of


def flow_trace(*rows: tuple[str, int, float, float | None, float]) -> pl.DataFrame:
    """Return flows from (tag, size, start, finish, ideal)."""
    named = [
        {
            "flow_id": number,
            "tag": tag,
            "size_bytes": size,
            "start_us": start,
            "finish_us": finish,
            "slowdown": None if finish is None else (finish - start) / ideal,
        }
        for number, (tag, size, start, finish, ideal) in enumerate(rows)
    ]
    return trace_of(FLOWS, named)


THREE = flow_trace(
    ("web", 1000, 0.0, 10.0, 5.0),  # slowdown 2
    ("web", 3000, 5.0, 13.0, 10.0),  # slowdown 0.8: below the ideal
    ("incast", 5000, 10.0, None, 5.0),
)


def test_slowdown_by_class_by_hand() -> None:
    """A slowdown below 1 is kept and counted."""
    summaries = slowdown_by_class(THREE)
    assert list(summaries) == ["all", "incast", "web"]
    web = summaries["web"]
    assert (web.flows, web.completed, web.below_one) == (2, 2, 1)
    assert web.mean == pytest.approx(1.4)
    assert web.p50 == pytest.approx(1.4)
    assert web.p95 is None
    assert (summaries["incast"].flows, summaries["incast"].completed) == (1, 0)
    assert summaries["incast"].mean is None


def test_an_unfinished_flow_is_slower_than_all_others() -> None:
    """With 1 of 200 flows unfinished the P99 is known; with 3 it is not, and a mean over the others would mislead."""
    rows = [("web", 1000, 0.0, float(number), 1.0) for number in range(1, 201)]
    cut = [(*row[:3], None, row[4]) for row in rows]
    whole, one, three = (slowdown_figures(flow_trace(*rows[: 200 - n], *cut[200 - n :])) for n in (0, 1, 3))
    assert (whole.p50, whole.max) == (100.5, 200)
    assert whole.p99 == pytest.approx(198.01)
    assert (one.p50, one.p99, one.p99_interval) == (whole.p50, whole.p99, None)
    assert (three.completed, three.p50, three.p95) == (197, whole.p50, whole.p95)
    assert (three.p99, three.mean, three.max) == (None, None, None)
    dead = slowdown_figures(flow_trace(*rows[:13], *cut[13:]))
    assert (dead.flows, dead.completed, dead.p50) == (200, 13, None)


def test_a_flow_that_takes_the_ideal_is_not_faster() -> None:
    """The slowdown of a flow that takes 4.07488 us from 100.3 us on, with an ideal of 4.07488 us, is 1 - 10^-15."""
    by_class = slowdown_by_class(
        flow_trace(("web", 1000, 100.3, 100.3 + 4.07488, 4.07488), ("web", 1000, 0.0, 1.0, 1.0 + 1e-6))
    )
    assert by_class["web"].below_one == 1


def test_one_class_is_not_reported_twice() -> None:
    assert traffic_classes(of_class(THREE, "web")) == ["web"]
    named_all = flow_trace(("all", 1, 0.0, 1.0, 1.0), ("b", 1, 0.0, 1.0, 1.0))
    assert of_class(named_all, "all").height == 1


def test_throughput_by_hand() -> None:
    """4000 B completed between 0 and 13 us: 32 000 bit / 13 000 ns."""
    assert active_span_us(THREE) == 13.0
    assert throughput_gbps(THREE) == pytest.approx(32_000 / 13_000)


def test_without_completed_flows_there_is_no_throughput() -> None:
    assert throughput_gbps(FLOWS.empty()) == 0.0
    assert throughput_gbps(of_class(THREE, "incast")) == 0.0
    assert slowdown_by_class(FLOWS.empty()) == {}
    assert slowdown_figures(FLOWS.empty()).flows == 0


def test_the_measured_window_is_half_open() -> None:
    assert started_between(THREE, 5.0, 10.0)["size_bytes"].to_list() == [3000]


def test_ten_sizes_make_ten_bins() -> None:
    flows = flow_trace(*[("w", size, 0.0, 1.0, 1.0) for size in range(100, 1100, 100)])
    edges = size_bin_edges(flows)
    assert edges == tuple(range(100, 1100, 100))
    assert [size_bin.flows for size_bin in slowdown_by_size(flows, edges)] == [1] * 10


def test_one_size_makes_one_bin() -> None:
    flows = flow_trace(*[("incast", 250_000, 0.0, 1.0, 1.0)] * 20)
    (only,) = slowdown_by_size(flows, size_bin_edges(flows))
    assert (only.low_bytes, only.high_bytes, only.flows) == (0, 250_000, 20)
    assert only.p95 == 1.0
    assert only.p99 is None


def test_bins_do_not_depend_on_what_finished() -> None:
    """Two runs of one flow file have the same bins."""
    done = flow_trace(*[("w", size, 0.0, 1.0, 1.0) for size in range(1, 50)])
    stuck = flow_trace(*[("w", size, 0.0, None, 1.0) for size in range(1, 50)])
    assert size_bin_edges(done) == size_bin_edges(stuck)
    assert size_bin_edges(FLOWS.empty()) == ()
    assert slowdown_by_size(FLOWS.empty(), ()) == []


sizes = st.lists(st.integers(1, 10**7), min_size=1, max_size=200)


@given(sizes, st.integers(1, 12))
def test_every_flow_is_in_exactly_one_bin(values: list[int], count: int) -> None:
    flows = flow_trace(*[("w", size, 0.0, 2.0, 1.0) for size in values])
    edges = size_bin_edges(flows, count)
    assert 1 <= len(edges) <= count
    assert list(edges) == sorted(set(edges))
    assert edges[-1] == max(values)
    assert sum(size_bin.flows for size_bin in slowdown_by_size(flows, edges)) == len(values)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.one_of(st.none(), st.floats(1, 100))), max_size=60))
def test_classes_partition_the_flows(rows: list[tuple[str, float | None]]) -> None:
    flows = flow_trace(*[(tag, 10, 0.0, finish, 1.0) for tag, finish in rows])
    summaries = slowdown_by_class(flows)
    total = summaries.pop("all", None)
    if total is not None:
        assert total.flows == sum(summary.flows for summary in summaries.values())
        assert total.completed == sum(summary.completed for summary in summaries.values())
