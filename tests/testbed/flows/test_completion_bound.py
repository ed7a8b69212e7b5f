# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The bound of the completion of dependent messages, compared with calculations and with runs."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sfc_testbed.scenarios.model.flow import FlowRequest, joined_delay_ns
from sfc_testbed.scenarios.traffic.flow_file import format_flows
from sfc_testbed.testbed.flows.ideal import IdealTimes, ideal_times_ns
from sfc_testbed.testbed.flows.waits import ideal_waits
from sfc_testbed.testbed.plan.checks import numbered
from sfc_testbed.topologies.shapes import shape
from tests.testbed.incasts import plan_virtual, run_plan, write_flows

NETWORK = shape("star", {"hosts": 4}).build()
HOSTS = [host.name for host in NETWORK.hosts]
PAYLOAD_BYTES = 1_000
SPRAYED = ("topology.hosts_per_tor=8", "topology.spines=4", "transport.payload_bytes=4000")


def _bound(*requests: FlowRequest) -> tuple[float, IdealTimes]:
    flows = numbered(requests, NETWORK)
    waits = ideal_waits(NETWORK, flows, PAYLOAD_BYTES, nic_bps=None)
    return waits.completion_ns["x"], ideal_times_ns(NETWORK, flows, PAYLOAD_BYTES)


def test_messages_of_a_host_share_its_nic() -> None:
    """The third message waits for the shorter one, which the host may send first."""
    long, short = FlowRequest("h1", "h2", 50_000, 0, "x"), FlowRequest("h1", "h3", 9_000, 0, "x")
    bound_ns, times = _bound(long, short, FlowRequest("h3", "h4", 90_000, 0, "x", after=(2,)))
    assert bound_ns == pytest.approx(times.delivered[1] + times.acknowledged[2], abs=1)
    bound_ns, times = _bound(long, short, FlowRequest("h3", "h4", 1_000, 0, "x", after=(2,)))
    rest_ns = times.acknowledged[0] - times.sent[0]
    assert bound_ns == pytest.approx(times.sent[0] + times.sent[1] + rest_ns, abs=1)


def test_a_message_that_waits_for_several_of_one_host_waits_for_their_sum() -> None:
    first = [FlowRequest("h1", "h2", 50_000, 0, "x"), FlowRequest("h1", "h2", 50_000, 0, "x", queue_pair=1)]
    bound_ns, times = _bound(*first, FlowRequest("h2", "h3", 1_000, 0, "x", after=(1, 2), delay_ns=70))
    assert bound_ns == pytest.approx(times.sent[0] + times.delivered[1] + 70 + times.acknowledged[2], abs=1)


def test_the_time_begins_with_the_first_ready_message_of_the_tag() -> None:
    bound_ns, times = _bound(
        FlowRequest("h1", "h2", 500_000, 0, "other"),
        FlowRequest("h1", "h3", 9_000, 0, "other"),
        FlowRequest("h2", "h4", 4_000, 0, "x", after=(1,)),
        FlowRequest("h3", "h4", 4_000, 0, "x", after=(2,)),
    )
    assert bound_ns == pytest.approx(times.acknowledged[2], abs=1)


def _run(folder: Path, requests: list[FlowRequest], scheme: str) -> list[float]:
    """Run the messages in virtual time, and return the slowdown of each tag's completion."""
    flow_file = folder / "messages.csv"
    flow_file.write_text(format_flows(numbered(requests, shape("clos", {"hosts_per_tor": 4}).build()), None))
    result = run_plan(plan_virtual("flows", scheme, topology="clos", flow_file=flow_file), folder).result
    assert result.verdict == "faithful"
    return [figures.slowdown for figures in result.completion.values() if figures.slowdown is not None]


@pytest.mark.parametrize("scheme", ["irn", "irn+hpcc", "ndp"])
def test_an_all_to_all_in_steps_is_not_faster_than_its_ideal(tmp_path: Path, scheme: str) -> None:
    """All messages of the first phase share the NICs, so the messages of the second phase are ready nearly at once."""
    pairs = list(permutations([f"h{number}" for number in range(1, 9)], 2))
    first = [FlowRequest(src, dst, 25_000, 0, "first") for src, dst in pairs]
    numbers = {pair: number for number, pair in enumerate(pairs, start=1)}
    second = [FlowRequest(src, dst, 25_000, 0, "second", after=(numbers[dst, src],)) for src, dst in pairs]
    slowdowns = _run(tmp_path, [*first, *second], scheme)
    assert len(slowdowns) == 1
    assert 1 <= slowdowns[0] < 3


MESSAGES = st.lists(
    st.tuples(
        st.permutations(HOSTS), st.integers(1, 60_000), st.integers(0, 3_000), st.sets(st.integers(0, 11), max_size=3)
    ),
    min_size=2,
    max_size=12,
)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(MESSAGES)
@example([(HOSTS, 1, 0, set()), (HOSTS, 1, 0, {0})])
def test_no_run_is_faster_than_the_bound(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[list[str], int, int, set[int]]]
) -> None:
    requests = []
    for place, (hosts, size_bytes, delay_ns, before) in enumerate(drawn):
        after = tuple(number + 1 for number in sorted(before) if number < place and hosts[0] in drawn[number][0][:2])
        delays_ns = tuple(delay_ns * (number % 3) for number in after)
        requests.append(
            FlowRequest(hosts[0], hosts[1], size_bytes, 0, "x", after=after, delay_ns=joined_delay_ns(delays_ns))
        )
    slowdowns = _run(tmp_path_factory.mktemp("run"), requests, "irn")
    assert all(slowdown >= 1 for slowdown in slowdowns)


def test_a_sprayed_flow_is_not_faster_than_its_ideal(tmp_path: Path) -> None:
    """The short last frame can take another path than the full frame before it, and so need not wait for it."""
    rows = [f"h{1 + number % 8},h{9 + number % 8},{4_001 + 37 * number},{20_000 * number},x" for number in range(60)]
    flow_file = write_flows(tmp_path / "pairs.csv", *rows)
    result = run_plan(plan_virtual("flows", "ndp", *SPRAYED, topology="clos", flow_file=flow_file), tmp_path).result
    assert result.verdict == "faithful"
    assert result.fct_slowdown["x"].below_one == 0
    assert result.fct_slowdown["x"].max == pytest.approx(1, abs=0.1)
