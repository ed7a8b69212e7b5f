# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that compare the ideal FCT with calculations by hand and with a single flow in virtual time."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import pytest

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.telemetry.reader import answer
from sfc_testbed.testbed.flows.ideal import IdealTimes, PathChange, ideal_fct_ns, ideal_times_ns
from sfc_testbed.testbed.plan.checks import numbered
from sfc_testbed.topologies import equal_paths
from sfc_testbed.topologies.files.node_link import as_node_link
from sfc_testbed.topologies.model import Topology, TopologyBuilder
from tests.testbed.incasts import plan_incast, plan_virtual, simulated

GBPS = 10**9
SIZES = (1, 999, 1_001, 3_000, 250_000)


def _star(*rates_bps: int) -> Topology:
    builder = TopologyBuilder("star", {})
    switch = builder.add_switch("s1", has_hosts=True)
    for rate_bps in rates_bps:
        builder.add_host(switch, rate_bps, 1_000)
    return builder.build()


def _layered(*spines: tuple[tuple[int, int], ...]) -> Topology:
    """Return a network of two ToRs with a host each. Each spine is a chain of links, given as Gb/s and delay in ns."""
    builder = TopologyBuilder("layered", {})
    for tor in ("tor1", "tor2"):
        builder.add_host(builder.add_switch(tor, has_hosts=True), 100 * GBPS, 1_000)
    for number, links in enumerate(spines):
        inner = [builder.add_switch(f"s{number}x{place}", has_hosts=False) for place in range(len(links) - 1)]
        for (here, there), (gbps, delay_ns) in zip(pairwise(["tor1", *inner, "tor2"]), links, strict=True):
            builder.add_link(here, there, gbps * GBPS, delay_ns)
    return builder.build()


def _ideal_ns(topology: Topology, size_bytes: int, change: PathChange = PathChange.NEVER) -> float:
    return ideal_fct_ns(topology, "h1", "h2", size_bytes, 1_000, change=change)


def test_three_packets_by_hand() -> None:
    """Packets of 1000 B cross two links of 1 us each, and the ACK crosses both back.

    They cross links of 100 Gb/s one after the other. From 100 to 50 Gb/s they queue and leave back to back.
    """
    data, last, ack = 1058 * 0.08, 1062 * 0.08, 62 * 0.08
    fast, slow = _star(100 * GBPS, 100 * GBPS), _star(100 * GBPS, 50 * GBPS)
    assert _ideal_ns(fast, 3_000) == pytest.approx(2 * data + 2 * (last + 1_000) + 2 * (ack + 1_000))
    assert _ideal_ns(slow, 3_000) == pytest.approx(data + 4 * data + 2 * last + 3 * ack + 4_000)


@pytest.mark.parametrize("topology", ["clos", "dumbbell", "star"])
def test_the_ideal_of_many_flows_equals_that_of_each_flow(topology: str) -> None:
    settings = ("incast_degree=3", "arrivals_us=50", "topology.pass_latency_ns=70")
    plan = plan_virtual("datacentre", "sfc", *settings, topology=topology)
    payload_bytes = plan.transport.payload_bytes
    alone = [ideal_fct_ns(plan.topology, flow.src, flow.dst, flow.size_bytes, payload_bytes) for flow in plan.flows]
    assert ideal_times_ns(plan.topology, plan.columns, payload_bytes).acknowledged.tolist() == alone


def test_of_unequal_paths_the_best_one_counts() -> None:
    slow, fast = ((25, 500),) * 2, ((100, 500),) * 2
    for order in ((slow, fast), (fast, slow)):
        assert _ideal_ns(_layered(*order), 250_000) == _ideal_ns(_layered(fast), 250_000)


def test_the_best_path_depends_on_the_size() -> None:
    near, fast = ((25, 100),) * 2, ((100, 900),) * 2
    both, of_near, of_fast = _layered(near, fast), _layered(near), _layered(fast)
    assert _ideal_ns(both, 1) == _ideal_ns(of_near, 1) < _ideal_ns(of_fast, 1)
    # The acknowledgment returns on the near path.
    assert _ideal_ns(both, 250_000) < _ideal_ns(of_fast, 250_000) < _ideal_ns(of_near, 250_000)


def _mesh(rng: random.Random, layers: int, width: int) -> tuple[Topology, list[Topology]]:
    """Return a network with full meshes between layers of switches, and the network of each of its paths."""
    kinds = [(rng.choice((25, 50, 100)), rng.choice((100, 1_500))) for _ in range(3)]
    sizes = [1, *[width] * layers, 1]
    meshes = [{(a, b): rng.choice(kinds) for a in range(here) for b in range(there)} for here, there in pairwise(sizes)]
    passes = {(layer, place): rng.choice((0, 300)) for layer in range(1, layers + 1) for place in range(width)}
    builder = TopologyBuilder("mesh", {})
    for tor in ("tor1", "tor2"):
        builder.add_host(builder.add_switch(tor, has_hosts=True), 100 * GBPS, 1_000)
    names = {(0, 0): "tor1", (layers + 1, 0): "tor2"}
    for place, pass_ns in passes.items():
        names[place] = builder.add_switch("s{}x{}".format(*place), has_hosts=False, pass_latency_ns=pass_ns)
    for layer, mesh in enumerate(meshes):
        for (a, b), (gbps, delay_ns) in mesh.items():
            builder.add_link(names[layer, a], names[layer + 1, b], gbps * GBPS, delay_ns)
    alone = []
    for inner in product(range(width), repeat=layers):
        stops = (0, *inner, 0)
        links = [mesh[pair] for mesh, pair in zip(meshes, pairwise(stops), strict=True)]
        path = _layered(tuple(links))
        switches = [
            replace(switch, pass_latency_ns=passes[place, inner[place - 1]])
            for place, switch in enumerate(path.switches[2:], start=1)
        ]
        alone.append(replace(path, switches=(*path.switches[:2], *switches)))
    return builder.build(), alone


@pytest.mark.parametrize("seed", range(12))
def test_the_ideal_is_that_of_the_best_of_all_paths(seed: int) -> None:
    """Every path is computed alone. The acknowledgment may return on another path than the last frame."""
    mesh, alone = _mesh(random.Random(seed), layers=1 + seed % 3, width=3)
    for size_bytes in SIZES:
        times = [_one_way_ns(path, size_bytes) for path in alone]
        best_ns = min(there for there, _ in times) + min(back for _, back in times)
        assert _ideal_ns(mesh, size_bytes) == pytest.approx(best_ns)


def _one_way_ns(path: Topology, size_bytes: int) -> tuple[float, float]:
    [delivered] = _times(path, size_bytes).delivered
    return delivered, _ideal_ns(path, size_bytes) - delivered


def _times(topology: Topology, size_bytes: int) -> IdealTimes:
    flows = numbered([FlowRequest("h1", "h2", size_bytes, 0, "x")], topology)
    return ideal_times_ns(topology, flows, 1_000)


def test_too_many_different_paths_give_a_lower_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    network = _mesh(random.Random(3), layers=3, width=3)[0]
    exact = _ideal_ns(network, 250_000)
    monkeypatch.setattr(equal_paths, "MOST_WAYS", 1)
    assert _ideal_ns(replace(network), 250_000) <= exact


def test_flows_that_change_paths_can_use_all_of_them() -> None:
    """Four paths of 40 Gb/s carry the 100 Gb/s of a NIC. Frames then wait for the last host only."""
    narrow, wide = _layered(*[((40, 500),) * 2] * 4), _layered(((100, 500),) * 2)
    kept = _ideal_ns(narrow, 250_000)
    for change in (PathChange.ANY_FRAME, PathChange.BETWEEN_FLOWLETS):
        assert _ideal_ns(wide, 250_000) < _ideal_ns(narrow, 250_000, change) < kept / 2
    two = _layered(*[((40, 500),) * 2] * 2)
    assert _ideal_ns(two, 10**6, PathChange.ANY_FRAME) == pytest.approx(10**6 * 1.058 * 8 / 80, rel=0.06)


@pytest.mark.parametrize(
    ("placement", "size", "pass_ns"),
    [(placement, size, 0) for placement in ("remote", "local") for size in (1, 999, 1000, 1001, 250_000)]
    + [("remote", 1001, 700), ("local", 250_000, 700)],
)
def test_a_lone_flow_has_slowdown_one(tmp_path: Path, placement: str, size: int, pass_ns: int) -> None:
    settings = ("degree=1", f"message_bytes={size}", f"placement={placement}", f"topology.pass_latency_ns={pass_ns}")
    [slowdown] = answer(simulated(plan_incast("sfc", *settings), tmp_path).traces()["flows"])["slowdown"]
    assert slowdown == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("fabric_gbps", [(25, 100), (100, 25), (40, 40, 40, 40)])
@pytest.mark.parametrize("balancing", ["ecmp", "spray", "flowlet", "conga", "reps"])
def test_no_flow_is_faster_than_its_ideal(tmp_path: Path, fabric_gbps: tuple[int, ...], balancing: str) -> None:
    network = _layered(*[((gbps, 1_500),) * 2 for gbps in fabric_gbps])
    file = tmp_path / "network.json"
    file.write_text(json.dumps(as_node_link(network)))
    settings = ("degree=1", "message_bytes=1000000", "switch.flowlet_gap_ns=2000", "transport.bdp_bytes=125000")
    plan = plan_incast("irn", *settings, topology=str(file), load_balancing=balancing)
    [slowdown] = answer(simulated(plan, tmp_path).traces()["flows"])["slowdown"]
    assert slowdown >= 1 - 1e-9
