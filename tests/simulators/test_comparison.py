# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the comparison of our queues with the queues of another simulator."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from sfc_testbed.simulators.comparison import PeerFlow, PeerQueues, compare_with_peer, mean_of, sent_between_samples
from tests.analysis.conftest import CONFIG
from tests.analysis.validation.small import SMALL_FLOWS, SMALL_QUEUES, small_run


def test_mean_queue_covers_the_time_before_the_first_sample_and_after_the_last() -> None:
    """Flows last from 4 to 36 us, and samples from 5 to 30 us, so that both means are divided by 32 us."""
    queue = {**SMALL_QUEUES[0], "port": 1, "class": 0}
    flow = {**SMALL_FLOWS[0], "start_us": 4.0, "finish_us": 36.0, "fct_us": 32.0}
    run = small_run(flows=[flow], queues=[*SMALL_QUEUES, queue])
    flows = [PeerFlow(src=0, dst=1, size_bytes=1000, start_ns=4_000, fct_ns=32_000)]
    compared = compare_with_peer(run, "small", flows, PeerQueues(peak_bytes=9000, byte_ns=6.4e6), peer="peer")
    assert compared.mean_queued_bytes is not None
    # tor1: 9,000 B for 5 us, 100 B for 10 us, 300 B for 10 us; tor2: 40 B for 10 us.
    assert compared.mean_queued_bytes.ours == pytest.approx((45_000 + 1_000 + 3_000 + 400) / 32)
    assert compared.mean_queued_bytes.peer == pytest.approx(200)


def test_bytes_of_a_port_are_the_differences_of_its_samples() -> None:
    samples = pl.DataFrame(
        {"time_ns": [0, 100_000, 100_000], "switch": 3 * ["tor1"], "port": [1, 1, 2], "total_bytes": [10, 30, 7]}
    )
    rows = sent_between_samples(samples).sort("port", "time_us").select("time_us", "port", "sent_bytes")
    assert rows.rows() == [(0.0, 1, 10), (100.0, 1, 20), (100.0, 2, 7)]


def test_imbalance_is_compared_in_busy_intervals() -> None:
    """Ours: (30 - 10) / 20 in each interval; the peer's: 0, and 2 in an interval with a sixth of the bytes."""
    links = [(100.0, 1, 10), (100.0, 2, 30), (200.0, 1, 10), (200.0, 2, 30)]
    peers = [(100.0, 1, 300), (100.0, 2, 300), (200.0, 1, 100), (200.0, 2, 0)]
    config = replace(CONFIG, equal_cost_ports={"tor1": ((1, 2),)})
    run = replace(small_run(config=config), links=_sent(links).lazy())
    flows = [PeerFlow(0, 1, flow["size_bytes"], 0, 10_000) for flow in SMALL_FLOWS]
    compared = compare_with_peer(run, "small", flows, None, peer="peer", uplinks=_sent(peers))
    assert compared.spread_mean is not None
    assert (compared.spread_mean.ours, compared.spread_mean.peer) == (1.0, 0.0)
    assert compared.spread_p99 is None


def test_the_figures_of_several_seeds_are_averaged() -> None:
    flows = [[PeerFlow(0, 1, flow["size_bytes"], 0, fct) for flow in SMALL_FLOWS] for fct in (10_000, 30_000)]
    runs = [compare_with_peer(small_run(), "small", rows, None, peer="peer") for rows in flows]
    mean = mean_of(runs)
    [group, *_] = mean.groups
    peers = [run.groups[0].mean.peer for run in runs if run.groups[0].mean is not None]
    assert group.mean is not None
    assert group.mean.peer == pytest.approx(sum(peers) / 2)
    assert (mean.label, mean.flows, mean.spread_mean) == ("small, 2 seeds", 2 * runs[0].flows, None)


def _sent(rows: list[tuple[float, int, int]]) -> pl.DataFrame:
    """Return rows of time, port and bytes as a trace of the links of tor1."""
    frame = pl.DataFrame(rows, schema={"time_us": pl.Float64, "port": pl.Int64, "sent_bytes": pl.UInt64}, orient="row")
    return frame.with_columns(switch=pl.lit("tor1"))
