# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the ring all-reduce: sources, destinations, sizes and dependencies of messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest

from sfc_testbed.scenarios.model.flow import Flow
from sfc_testbed.scenarios.model.numbering import number_flows
from sfc_testbed.scenarios.model.scenario import ScenarioError, random_stream
from sfc_testbed.scenarios.traffic.allreduce import AllReduce
from sfc_testbed.topologies.shapes import shape

NETWORK = shape("clos", {"hosts_per_tor": 6}).build()


def _flows(**parameters: Any) -> Sequence[Flow]:
    return number_flows(AllReduce(**parameters).flows(NETWORK, random_stream(1, "workload")))


def test_every_part_of_the_vector_passes_every_rank_twice() -> None:
    """Each chunk takes 2 (N - 1) consecutive messages of one size: half to be added up, half to distribute the sum.

    Each message starts at the destination of the one before. The sizes of all chunks add up to the vector.
    """
    flows = _flows(ranks=5, chunks=3, vector_bytes=100_001, add_us=2.0)
    following = {number: flow for flow in flows for number in flow.after}
    sizes = []
    for first in (flow for flow in flows if not flow.after):
        path = [first]
        while (onward := following.get(path[-1].flow_id)) is not None:
            assert (onward.src, onward.delay_ns) == (path[-1].dst, 2_000)
            path.append(onward)
        assert len(path) == 2 * 4
        assert len({flow.src for flow in path[:5]}) == 5
        assert {flow.size_bytes for flow in path} == {first.size_bytes}
        sizes.append(first.size_bytes)
    assert (len(sizes), sum(sizes)) == (5 * 3, 100_001)
    assert len(flows) == 5 * 3 * 8


@pytest.mark.parametrize(("ring", "racks"), [("packed", 2), ("spread", 8)])
def test_ring_setting_places_ranks_in_racks(ring: str, racks: int) -> None:
    """All 8 hops of a spread ring cross the spines. In a packed ring, only hops between racks do."""
    hops = {(flow.src, flow.dst) for flow in _flows(ranks=8, ring=ring)}
    assert len(hops) == 8
    assert sum(NETWORK.host[src].switch != NETWORK.host[dst].switch for src, dst in hops) == racks


def test_an_incast_beside_the_ring_does_not_change_the_ring() -> None:
    """The incast's receiver is the last rank."""
    alone, beside = _flows(ranks=4), _flows(ranks=4, degree=3)
    by_tag: dict[str, list[Flow]] = defaultdict(list)
    for flow in beside:
        by_tag[flow.tag].append(flow)
    assert [(flow.src, flow.dst, flow.size_bytes) for flow in by_tag["allreduce"]] == [
        (flow.src, flow.dst, flow.size_bytes) for flow in alone
    ]
    assert len(by_tag["incast"]) == 3
    assert {flow.dst for flow in by_tag["incast"]} == {alone[3].src}


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"ranks": 13}, "ranks 13 is above the 12 hosts"),
        ({"ranks": 8, "chunks": 2, "vector_bytes": 15}, "vector_bytes 15 is too small"),
        ({"ranks": 12, "chunks": 10_000, "vector_bytes": 10_000_000}, "a ring has at most 1000000 messages"),
    ],
)
def test_a_workload_that_does_not_fit_is_refused(parameters: dict[str, int], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        _flows(**parameters)
