# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Networks of several planes, and the distribution of flows over them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sfc_testbed.request.spec import RunSpec
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.planes import over_planes
from sfc_testbed.scenarios.model.scenario import ScenarioError
from sfc_testbed.scenarios.traffic.flow_file import read_flows
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.topologies.model import TopologyError
from sfc_testbed.topologies.shapes import shape

TREE = shape("fat-tree", {"k": 4, "planes": 3}).build()


def test_planes_are_equal_networks_without_links_between_them() -> None:
    one = shape("fat-tree", {"k": 4}).build()
    assert (len(TREE.hosts), len(TREE.switches), len(TREE.links)) == (48, 60, 144)
    assert [host.name for host in TREE.hosts[15:18]] == ["h16", "h1p2", "h2p2"]
    assert TREE.first_plane.links == one.links
    assert [host.name for host in TREE.first_plane.hosts] == [host.name for host in one.hosts]
    assert len({host.ip for host in TREE.hosts}) == 48
    for link in TREE.links:
        assert link.a.node.partition("p")[2][-2:] == link.b.node.partition("p")[2][-2:] or link.a.node[0] == "h"
    assert {port.peer.node for port in TREE.ports["tor1p3"]} == {"h1p3", "h2p3", "agg1p3", "agg2p3"}


def test_a_host_reaches_the_hosts_of_its_plane() -> None:
    assert [host.name for host in TREE.hosts_in_plane_of("h3p2")] == [f"h{number}p2" for number in range(1, 17)]
    assert TREE.hosts_in_plane_of("h3") == TREE.hosts[:16]


def test_too_many_hosts_in_all_planes_are_refused() -> None:
    with pytest.raises(TopologyError, match="at most 65536 hosts"):
        shape("fat-tree", {"k": 48, "planes": 3}).build()


def _planned(scenario: str, seed: int = 1, **settings: object) -> RunPlan:
    chosen = {"topology.k": 4, "topology.planes": 2, **settings}
    return plan_run(RunSpec(scenario, "irn", clock="virtual", topology="fat-tree", settings=chosen, seed=seed))


def _plane(host: str) -> str:
    return host.partition("p")[2]


def test_flows_of_servers_are_spread_over_planes_by_the_seed() -> None:
    """Both ends of a flow are in one plane. Servers, sizes and times are as in a network of one plane."""
    plan = _planned("datacentre", arrivals_us=300)
    assert all(_plane(flow.src) == _plane(flow.dst) for flow in plan.flows)
    counts = Counter(_plane(flow.src) for flow in plan.flows)
    assert min(counts.values()) > len(plan.flows) / 3
    again, other = (_planned("datacentre", seed, arrivals_us=300) for seed in (1, 2))
    assert plan.flows == again.flows != other.flows
    single = _planned("datacentre", arrivals_us=300, **{"topology.planes": 1})
    assert [(flow.src.partition("p")[0], flow.size_bytes, flow.start_ns) for flow in plan.flows] == [
        (flow.src, flow.size_bytes, flow.start_ns) for flow in single.flows
    ]


def test_each_plane_carries_an_equal_part_of_a_job() -> None:
    """The parts of a message add up to it, and a part waits for parts on its own plane."""
    for scenario in ("allreduce", "collective"):
        plan = _planned(scenario, degree=3, **{"topology.planes": 3})
        single = _planned(scenario, degree=3, **{"topology.planes": 1})
        sizes: dict[tuple[str, str, str], Counter[str]] = {}
        for flow in plan.flows:
            ends = flow.tag, flow.src.partition("p")[0], flow.dst.partition("p")[0]
            sizes.setdefault(ends, Counter())[_plane(flow.src)] += flow.size_bytes
            assert {_plane(plan.flows[number - 1].src) for number in flow.after} <= {_plane(flow.src)}
        whole: Counter[tuple[str, str, str]] = Counter()
        for flow in single.flows:
            whole[flow.tag, flow.src, flow.dst] += flow.size_bytes
        assert {ends: of_planes.total() for ends, of_planes in sizes.items()} == whole
        assert {len(of_planes) for (tag, _, _), of_planes in sizes.items() if tag != "incast"} == {3}
        assert sum(len(flow.after) for flow in plan.flows) == 3 * sum(len(flow.after) for flow in single.flows)


def test_a_message_with_fewer_bytes_than_planes_has_a_byte_on_each() -> None:
    requests = [FlowRequest("h1", "h2", 2, 0, "a"), FlowRequest("h2", "h1", 2, 0, "a", after=(1,), delay_ns=5)]
    flows = over_planes(requests, TREE, np.random.default_rng(3))
    assert [(flow.src, flow.size_bytes, flow.after, flow.delay_ns) for flow in flows] == [
        ("h1", 1, (), 0),
        ("h1p2", 1, (), 0),
        ("h1p3", 1, (), 0),
        ("h2", 1, (1,), 5),
        ("h2p2", 1, (2,), 5),
        ("h2p3", 1, (3,), 5),
    ]


def test_messages_of_a_queue_pair_stay_on_one_plane() -> None:
    requests = [
        FlowRequest(f"h{number % 5 + 1}", "h9", 1_000, number, "a", queue_pair=number % 2) for number in range(200)
    ]
    flows = over_planes(requests, TREE, np.random.default_rng(3))
    planes: dict[tuple[str, int], set[str]] = {}
    for flow in flows:
        planes.setdefault((flow.src.partition("p")[0], flow.queue_pair), set()).add(_plane(flow.src))
    assert all(len(used) == 1 for (_, pair), used in planes.items() if pair)
    assert any(len(used) == 3 for (_, pair), used in planes.items() if not pair)


def test_a_flow_list_between_planes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "flows.csv"
    path.write_text("src,dst,size_bytes,start_ns,tag\nh1p2,h2p2,1000,0,a\nh1,h2p2,1000,0,a\n")
    with pytest.raises(ScenarioError, match="line 3: h1 and h2p2 are in different planes"):
        read_flows(path, TREE)
