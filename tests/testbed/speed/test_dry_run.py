# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Counts of frames in dry runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sfc_testbed.analysis.results.result import counted
from sfc_testbed.hosts.transport.flow_control import FLOW_CONTROLS
from sfc_testbed.hosts.transport.flow_control.base import FlowControl
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.flow_table import FlowTable, flow_table
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.speed import dry_run as dry_run_module
from sfc_testbed.testbed.speed.dry_run import MOST_WORK, busiest_window, dry_run
from sfc_testbed.testbed.virtual.simulation import simulate
from tests.testbed.incasts import run_plan, write_flows


def _plan(scheme: str, *settings: str, faults: tuple[str, ...] = (), dilation: int | None = None) -> RunPlan:
    return plan_run(
        RunSpec("incast", scheme=scheme, settings=parse_settings(settings), faults=faults, dilation=dilation)
    )


SCHEMES = ("irn", "sfc", "egress-bts", "pfc+dcqcn", "ndp", "onramp-straw-man", "sfc+hpcc")


@pytest.mark.parametrize(("scheme", "faults"), [*((scheme, ()) for scheme in SCHEMES), ("sfc", ("loss:all,rate=5%",))])
def test_a_dry_run_counts_the_frames_of_the_run(scheme: str, faults: tuple[str, ...], tmp_path: Path) -> None:
    """The dilation is that of dry runs, because rounding can change the order of frames, and so which are lost."""
    plan = _plan(scheme, faults=faults, dilation=1_000)
    packets = counted(run_plan(plan, tmp_path, simulate).result.packets)
    assert dry_run(plan).hosts.sum() == packets.sent + packets.received


def test_frames_are_counted_at_each_host_and_switch() -> None:
    traffic = dry_run(_plan("irn", "degree=3"))
    plan = _plan("irn", "degree=3")
    hosts, switches = len(plan.topology.hosts), len(plan.topology.switches)
    assert traffic.hosts.shape == (len(traffic.numbers), hosts)
    assert traffic.switches.shape == (len(traffic.numbers), switches)
    busy = {host.name for host, frames in zip(plan.topology.hosts, traffic.hosts.sum(axis=0), strict=True) if frames}
    assert busy == {flow.src for flow in plan.flows} | {flow.dst for flow in plan.flows}


def test_traffic_is_the_same_at_every_dilation() -> None:
    slow, fast = (dry_run(_plan("sfc", dilation=dilation)) for dilation in (5_000, 50_000))
    assert np.array_equal(slow.hosts, fast.hosts)
    assert np.array_equal(slow.switches, fast.switches)
    assert np.array_equal(slow.numbers, fast.numbers)


def test_no_link_carries_more_than_its_rate() -> None:
    plan = _plan("irn")
    traffic = dry_run(plan)
    frame_bytes = plan.transport.payload_bytes
    most = max(link.rate_bps for link in plan.topology.links) / 8 * traffic.bin_ns / 1e9 / frame_bytes
    assert traffic.hosts.max() <= 2 * (most + 1)  # data and acknowledgments


def test_a_new_flow_control_changes_the_traffic(monkeypatch: pytest.MonkeyPatch) -> None:
    """The dry run uses the class in the table, not only the name of the flow control."""
    with_pauses = dry_run(_plan("sfc"))
    monkeypatch.setitem(FLOW_CONTROLS._rows, "sfc", FlowControl)
    assert not np.array_equal(dry_run(_plan("sfc")).hosts, with_pauses.hosts)


def test_a_message_begins_at_both_its_ends(tmp_path: Path) -> None:
    flow_file = write_flows(tmp_path / "flows.csv", "h1,h2,500,0,a", "h1,h3,90000,0,a", "h2,h3,500,40000,a")
    traffic = dry_run(plan_run(RunSpec("incast", scheme="irn", topology="clos", flow_file=flow_file)))
    assert traffic.message_starts.sum(axis=0)[:4].tolist() == [2, 2, 2, 0]
    assert traffic.message_starts.sum(axis=1)[0] == 4


def _columns(starts_ns: list[int], sizes_bytes: list[int]) -> FlowTable:
    return flow_table(
        FlowRequest("h1", "h2", size, start, "x") for size, start in zip(sizes_bytes, starts_ns, strict=True)
    )


def test_the_window_is_the_shortest_time_with_enough_work() -> None:
    assert list(busiest_window(_columns([0, 5, 9], [1_000] * 3), 1_000)) == [0, 1, 2]
    calm, burst = [10_000 * place for place in range(1_000)], [3_333_333] * 1_000
    size_bytes = MOST_WORK // 800 * 1_000
    window = busiest_window(_columns(calm + burst, [size_bytes] * 2_000), 1_000)
    assert set(window) <= set(range(1_000, 2_000))
    assert len(window) >= 700


def test_messages_that_wait_for_others_may_be_cut() -> None:
    settings = ("vector_bytes=200000000",)
    plan = plan_run(RunSpec("allreduce", scheme="irn", settings=parse_settings(settings), duration_ms=100))
    assert any(flow.after for flow in plan.flows)
    assert len(busiest_window(plan.columns, plan.transport.payload_bytes)) < len(plan.flows)
    assert dry_run(plan).hosts.sum() > 0


def test_a_message_longer_than_a_window_ends_the_dry_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dry_run_module, "_MOST_FRAMES", 2_000)
    plan = _plan("irn", "message_bytes=100000000", "degree=2")
    frames = dry_run(plan).hosts.sum()  # most are sent by one host and received by another
    assert 2_000 < frames < 6_000
