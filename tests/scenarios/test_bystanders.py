# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the workload of small messages beside an incast."""

from __future__ import annotations

from typing import Any

import pytest

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.scenario import ScenarioError, random_stream
from sfc_testbed.scenarios.traffic.bystanders import Bystanders
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.shapes import shape


def _network() -> Topology:
    return shape("clos", {"hosts_per_tor": 6}).build()


def _flows(**parameters: Any) -> list[FlowRequest]:
    return Bystanders(degree=4, **parameters).flows(_network(), random_stream(1, "workload"))


def test_small_messages_go_to_the_receivers_switch_from_hosts_outside_the_incast() -> None:
    """The incast's receiver is one of their destinations and sends no small messages."""
    flows = _flows()
    incast, small = ([flow for flow in flows if flow.tag == tag] for tag in ("incast", "small"))
    [receiver] = {flow.dst for flow in incast}
    neighbours = {host.name for host in _network().hosts_of(_network().host[receiver].switch)}
    assert len(incast) == 4
    assert {flow.dst for flow in small} == neighbours
    assert not {flow.src for flow in small} & ({flow.src for flow in incast} | {receiver})
    assert all(flow.src != flow.dst and 0 <= flow.start_ns < 500_000 for flow in small)


def test_the_incast_does_not_depend_on_the_small_messages() -> None:
    few, many = _flows(small_gap_us=100.0), _flows(small_gap_us=0.5)
    assert [flow for flow in few if flow.tag == "incast"] == [flow for flow in many if flow.tag == "incast"]
    assert len(many) > len(few)


@pytest.mark.parametrize(
    ("network", "degree", "small_gap_us", "expected"),
    [
        ({"tors": 2, "hosts_per_tor": 1}, 1, 1.0, "small messages need a host"),
        ({"tors": 2, "hosts_per_tor": 4}, 9, 1.0, "degree 9 is above"),
        ({"tors": 2, "hosts_per_tor": 6}, 4, 1e-4, "at most 1000000 small messages"),
    ],
)
def test_a_workload_that_does_not_fit_is_refused(
    network: dict[str, int], degree: int, small_gap_us: float, expected: str
) -> None:
    workload = Bystanders(degree=degree, small_gap_us=small_gap_us)
    with pytest.raises(ScenarioError, match=expected):
        workload.flows(shape("clos", network).build(), random_stream(1, "workload"))
