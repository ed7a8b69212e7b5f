# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that compare the ideal FCT with calculations by hand and with a single flow in virtual time."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.telemetry.reader import answer
from sfc_testbed.testbed.flows.ideal import ideal_fct_ns, ideal_times_ns
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.topologies.model import Link, Port
from sfc_testbed.topologies.physics import passes_ns
from sfc_testbed.topologies.routes import Paths
from tests.testbed.incasts import plan_incast, simulated


def _wire(rate_bps: int, delay_ns: int) -> Link:
    return Link(Port("a", 1), Port("b", 1), rate_bps, delay_ns)


def test_three_packets_by_hand() -> None:
    """Packets of 1000 B cross two links of 1 us each, and the ACK crosses both back.

    They cross links of 100 Gb/s one after the other. From 100 to 50 Gb/s they queue and leave back to back.
    """
    fast, slow = _wire(100_000_000_000, 1_000), _wire(50_000_000_000, 1_000)
    data, last, ack = 1058 * 0.08, 1062 * 0.08, 62 * 0.08
    assert ideal_fct_ns([fast, fast], 3_000, 1_000) == pytest.approx(2 * data + 2 * (last + 1_000) + 2 * (ack + 1_000))
    assert ideal_fct_ns([fast, slow], 3_000, 1_000) == pytest.approx(data + 4 * data + 2 * last + 3 * ack + 4_000)


@pytest.mark.parametrize("topology", ["clos", "dumbbell", "star"])
def test_the_ideal_of_many_flows_equals_that_of_each_path(topology: str) -> None:
    settings = ("incast_degree=3", "arrivals_us=50", "topology.pass_latency_ns=70")
    plan = plan_run(RunSpec("datacentre", clock="virtual", topology=topology, settings=parse_settings(settings)))
    paths, payload_bytes = Paths(plan.topology), plan.transport.payload_bytes
    between = [paths.between(flow.src, flow.dst) for flow in plan.flows]
    alone = [
        ideal_fct_ns(path, flow.size_bytes, payload_bytes, passes_ns(plan.topology, path))
        for flow, path in zip(plan.flows, between, strict=True)
    ]
    assert len({len(path) for path in between}) == (1 if topology == "star" else 2)
    assert ideal_times_ns(plan.topology, plan.columns, payload_bytes).acknowledged.tolist() == alone


@pytest.mark.parametrize(
    ("placement", "size", "pass_ns"),
    [(placement, size, 0) for placement in ("remote", "local") for size in (1, 999, 1000, 1001, 250_000)]
    + [("remote", 1001, 700), ("local", 250_000, 700)],
)
def test_a_lone_flow_has_slowdown_one(tmp_path: Path, placement: str, size: int, pass_ns: int) -> None:
    settings = ("degree=1", f"message_bytes={size}", f"placement={placement}", f"topology.pass_latency_ns={pass_ns}")
    [slowdown] = answer(simulated(plan_incast("sfc", *settings), tmp_path).traces()["flows"])["slowdown"]
    assert slowdown == pytest.approx(1.0, abs=1e-4)
