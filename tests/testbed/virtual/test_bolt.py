# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of Bolt on a whole network in virtual time: the shape of two figures of its paper.

The scripts `bolt-star-topo-incast` and `bolt-pru-benchmarks` of its simulator have the same two situations. The page
docs/schemes/congestion-controls.md#bolt has the values.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from sfc_testbed.analysis.results.result import counted
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.numbering import number_flows
from tests.testbed.incasts import plan_incast, run_incast, run_plan, trace

DEGREE = 16
INCAST = ("topology.hosts_per_tor=16", f"degree={DEGREE}", "message_bytes=500000", "window_us=0")
BASE_RTT_US = 10.0
PACKET = 1_058
NO_RAMP_UP = "switch.bolt_ramp_up=false"
NO_SUPPLY = "switch.bolt_supply_bytes=null"
GOODPUT_GBPS = 100 * 1_000 / PACKET
"""Goodput of a busy link of 100 Gb/s."""


def test_requests_arrive_in_less_than_a_round_trip_and_lower_the_peak(tmp_path: Path) -> None:
    """Senders with Bolt are slowed down while they send their first window; HPCC and Swift wait for its ACKs.

    Then the queue stays at CC_THRESH and a packet for each flow, which adds one in each round trip.
    """
    runs = {scheme: run_incast(tmp_path, f"irn+{scheme}", *INCAST) for scheme in ("bolt", "hpcc", "swift")}
    peaks = {scheme: counted(run.result.max_buffer_bytes) for scheme, run in runs.items()}
    assert peaks["bolt"] < 0.75 * min(peaks["hpcc"], peaks["swift"])
    bolt = runs["bolt"]
    flows = trace(bolt, "flows")
    assert flows["packets_resent"].sum() == 0
    signals = trace(bolt, "signals")
    assert set(signals["cause"]) == {"sub_rtt"}
    first = signals.group_by("flow_id").agg(pl.col("received_us").min().alias("first_us"), pl.col("obeyed").all())
    delays_us = flows.join(first, on="flow_id").select(pl.col("first_us") - pl.col("start_us"))["first_us"]
    assert len(delays_us) == DEGREE
    assert delays_us.max() < BASE_RTT_US  # type: ignore[operator]
    end_us = float(flows["finish_us"].min())  # type: ignore[arg-type]
    hot = trace(bolt, "queues").filter((pl.col("switch") == "tor2") & (pl.col("port") == -1))
    settled = hot.filter(pl.col("time_us").is_between(0.6 * end_us, 0.9 * end_us))["depth_bytes"]
    assert 2 * PACKET < settled.mean() < (2 + 1.5 * DEGREE) * PACKET  # type: ignore[operator]


def share_after_the_end_of_another(folder: Path, *settings: str) -> float:
    """Return the share of the link that one of two flows gets in the five round trips after the other has ended."""
    interval = f"transport.goodput_interval_ns={round(1_000 * BASE_RTT_US)}"
    plan = plan_incast("irn+bolt", "degree=2", "topology.spines=1", interval, *settings)
    one, other = plan.topology.hosts_of("tor1")[:2]
    receiver = plan.topology.hosts_of("tor2")[0].name
    flows = [
        FlowRequest(one.name, receiver, 1_500_000, 0, "short"),
        FlowRequest(other.name, receiver, 4_000_000, 0, "long"),
    ]
    run = run_plan(replace(plan, flows=number_flows(flows)), folder)
    short, long = trace(run, "flows").sort("size_bytes").rows(named=True)
    goodput = trace(run, "goodput").filter(pl.col("flow_id") == long["flow_id"]).sort("from_us")
    after = goodput.filter(pl.col("from_us") >= short["finish_us"])["delivered_bytes"].head(5)
    return float(after.mean()) * 8 / (BASE_RTT_US * 1_000) / GOODPUT_GBPS  # type: ignore[arg-type]


def test_the_bandwidth_of_a_flow_that_ends_is_taken_at_once(tmp_path: Path) -> None:
    """A window without the two grants only grows by one packet in each round trip, from half of the link."""
    both, ramp_up, supply, neither = (
        share_after_the_end_of_another(tmp_path, *settings)
        for settings in ((), (NO_SUPPLY,), (NO_RAMP_UP,), (NO_RAMP_UP, NO_SUPPLY))
    )
    assert both > 0.95
    assert both > ramp_up > 0.9
    assert 0.9 > supply > 0.7
    assert neither < 0.6
