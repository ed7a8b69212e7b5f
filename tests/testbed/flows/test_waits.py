# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that compare ideal starts and ends of waiting messages with calculations."""

from __future__ import annotations

from dataclasses import replace
from math import floor
from pathlib import Path

import pytest

from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.traffic.flow_file import format_flows
from sfc_testbed.testbed.flows.ideal import IdealTimes, ideal_times_ns
from sfc_testbed.testbed.flows.waits import Waits, ideal_waits
from sfc_testbed.testbed.plan.checks import numbered
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.speed.dilation import with_dilation
from sfc_testbed.topologies.shapes import shape
from tests.testbed.incasts import plan_virtual

NETWORK = shape("star", {"hosts": 4}).build()
PAYLOAD_BYTES = 1_000


def _waits(*requests: FlowRequest) -> tuple[Waits, IdealTimes]:
    flows = numbered(requests, NETWORK)
    times = ideal_times_ns(NETWORK, flows, PAYLOAD_BYTES)
    return ideal_waits(NETWORK, flows, PAYLOAD_BYTES, nic_bps=None), times


def test_a_chain_takes_the_sum_of_its_parts() -> None:
    waits, times = _waits(
        FlowRequest("h1", "h2", 50_000, 100, "chain"),
        FlowRequest("h2", "h3", 9_000, 0, "chain", after=(1,), delay_ns=40),
        FlowRequest("h2", "h4", 7_000, 0, "chain", after=(2,)),
    )
    second_ns = 100 + times.delivered[0] + 40
    third_ns = second_ns + times.acknowledged[1]  # same source, which continues when the message before is acknowledged
    assert waits.start_ns == {0: 100, 1: round(second_ns), 2: round(third_ns)}
    assert waits.completion_ns == {"chain": floor(third_ns + times.acknowledged[2] - 100)}


def test_a_host_sends_one_message_after_the_other() -> None:
    first = FlowRequest("h1", "h2", 50_000, 0, "x")
    waits, times = _waits(first, replace(first, dst="h3"), FlowRequest("h3", "h4", 1_000, 0, "x", after=(2,)))
    assert waits.start_ns[2] == round(times.sent[0] + times.delivered[1])


def test_tags_without_waiting_messages_have_no_ideal_times() -> None:
    lone = FlowRequest("h1", "h2", 50_000, 0, "incast")
    assert _waits(lone)[0] == Waits({}, {})
    with_it = _waits(FlowRequest("h1", "h3", 1_000, 5, "x"), FlowRequest("h3", "h1", 1_000, 0, "x", after=(1,)), lone)
    assert with_it[0].completion_ns.keys() == {"x"}
    assert len(with_it[0].start_ns) == 2


@pytest.mark.parametrize("chunks", [1, 4])
def test_a_ring_takes_its_steps_one_after_the_other(chunks: int) -> None:
    """A step takes as long as its bytes at line rate, but at least as long as the delivery to the next rank.

    With several chunks a host sends others during the delivery.
    """
    settings = ("ranks=4", f"chunks={chunks}", "vector_bytes=400000", "topology.hosts_per_tor=2")
    plan = plan_virtual("allreduce", "irn", *settings)
    times = ideal_times_ns(plan.topology, plan.flows, plan.transport.payload_bytes)
    chunk_ns, way_ns, rtt_ns = times.sent[-1], times.delivered[-1], times.acknowledged[-1]
    step_ns = max(chunks * chunk_ns, way_ns)
    total_ns = 5 * step_ns + (chunks - 1) * chunk_ns + rtt_ns
    assert plan.config.ideal_completion_us["allreduce"] == pytest.approx(total_ns / 1000, abs=0.01)
    assert plan.columns.start_ns[-1] == pytest.approx(5 * step_ns, abs=2) if chunks == 1 else True
    assert plan.columns.start_ns.max() > plan.flows.start_ns.max()


def test_the_load_of_a_live_run_is_that_of_expected_starts(tmp_path: Path) -> None:
    """Hosts are mostly idle in a ring of short messages. The load is much higher if all messages start at once."""
    settings = ("vector_bytes=80000",)
    ring = with_dilation(plan_run(RunSpec("allreduce", "irn", dilation=10_000, settings=parse_settings(settings))))
    flow_file = tmp_path / "at-once.csv"
    flow_file.write_text(format_flows([replace(flow, after=()) for flow in ring.flows], None))
    at_once = with_dilation(plan_run(RunSpec("allreduce", "irn", dilation=10_000, flow_file=flow_file)))
    assert ring.config.dilation_choice is not None
    assert at_once.config.dilation_choice is not None
    assert 0 < 2 * ring.config.dilation_choice.peak_load < at_once.config.dilation_choice.peak_load
