# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the incast workload: senders, receivers and start times."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sfc_testbed.scenarios.incast import SCENARIO
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.numbering import number_flows
from sfc_testbed.scenarios.model.scenario import ScenarioError, random_stream
from sfc_testbed.scenarios.traffic.incast import Incast
from sfc_testbed.topologies.shapes import shape

NETWORK = shape("clos", {"tors": 3, "hosts_per_tor": 4}).build()


@given(degree=st.integers(1, 8), window_us=st.floats(0, 100), flows=st.integers(1, 3), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_each_sender_starts_its_flows_within_the_window(degree: int, window_us: float, flows: int, seed: int) -> None:
    workload = Incast(degree=degree, window_us=window_us, flows_per_sender=flows)
    requests = workload.flows(NETWORK, random_stream(seed, "workload"))
    assert len({flow.src for flow in requests}) == degree
    assert len(requests) == degree * flows
    assert {flow.dst for flow in requests} == {"h12"}
    assert all(0 <= flow.start_ns <= window_us * 1000 + 1 for flow in requests)


def test_flows_depend_on_the_seed_alone() -> None:
    first, again, other = (Incast(degree=4).flows(NETWORK, random_stream(seed, "workload")) for seed in (7, 7, 8))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("placement", "racks"), [("remote", {"tor1", "tor2"}), ("local", {"tor3"}), ("spread", {"tor1", "tor2", "tor3"})]
)
def test_placement_chooses_the_racks(placement: str, racks: set[str]) -> None:
    requests = Incast(degree=3, placement=placement).flows(NETWORK, random_stream(1, "workload"))
    assert {NETWORK.host[flow.src].switch for flow in requests} == racks


def test_a_star_has_senders_whatever_the_placement() -> None:
    """If there is a single switch, every sender counts as remote and as local."""
    star = shape("star", {}).build()
    for placement in ("remote", "local", "spread"):
        requests = Incast(degree=8, placement=placement).flows(star, random_stream(1, "workload"))
        assert len({flow.src for flow in requests} - {"h9"}) == 8


def test_rounds_follow_each_other() -> None:
    requests = Incast(degree=2, window_us=0, rounds=3, round_interval_us=500).flows(NETWORK, random_stream(1, "w"))
    assert sorted({flow.start_ns for flow in requests}) == [0, 500_000, 1_000_000]


def test_degree_above_the_hosts_is_refused_with_both_numbers() -> None:
    with pytest.raises(ScenarioError, match="degree 99 is above the 8 hosts"):
        Incast(degree=99).flows(NETWORK, random_stream(1, "workload"))


@pytest.mark.parametrize("field", ["degree", "message_bytes", "flows_per_sender", "rounds"])
def test_zero_and_negative_numbers_are_refused(field: str) -> None:
    for value in (0, -1):
        with pytest.raises(ValidationError):
            Incast(**{field: value})


def test_queue_pairs_are_numbered_at_each_end() -> None:
    flows = number_flows(Incast(degree=2, flows_per_sender=2).flows(NETWORK, random_stream(1, "workload")))
    assert [flow.flow_id for flow in flows] == [1, 2, 3, 4]
    assert sorted(flow.destination_qpn for flow in flows) == [1, 2, 3, 4]
    assert sorted(flow.source_qpn for flow in flows) == [1, 1, 2, 2]


def test_messages_of_a_persistent_queue_pair_share_its_numbers() -> None:
    """Other queue pairs of the same hosts, and queue pairs in the reverse direction, have other numbers."""
    messages = [("h1", "h2", 1), ("h1", "h2", 2), ("h2", "h1", 1), ("h1", "h3", 1), ("h1", "h2", 1), ("h1", "h2", 0)]
    flows = number_flows(
        FlowRequest(src, dst, 9, at, "x", queue_pair=pair) for at, (src, dst, pair) in enumerate(messages)
    )
    assert [(flow.source_qpn, flow.destination_qpn) for flow in flows] == [
        (1, 1), (2, 2), (1, 1), (3, 1), (1, 1), (4, 3),
    ]  # fmt: skip


def test_every_scale_generates_flows_on_its_network() -> None:
    for scale in SCENARIO.scales.values():
        network = shape(scale.topology, scale.topology_parameters).build()
        assert Incast(**scale.workload).flows(network, random_stream(1, "workload"))
