# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The reasons for slow flows in virtual runs that are built so that the reason is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sfc_testbed.analysis.life.slowest import SlowFlow, slowest_flows
from sfc_testbed.analysis.results.stored import load_run
from tests.testbed.incasts import plan_virtual, run_plan, write_flows

STAR = ("topology.hosts=4",)
ONE_SPINE = ("topology.tors=2", "topology.spines=1", "topology.hosts_per_tor=5")
INCAST = [f"h{number},h10,600000,0,incast" for number in (1, 2, 3, 4)]


def slowest(
    folder: Path,
    scheme: str,
    flows: Sequence[str],
    *settings: str,
    columns: str = "",
    topology: str = "star",
    faults: tuple[str, ...] = (),
) -> dict[int, SlowFlow]:
    """Run these flows, given as rows of a flow list, and return the slowest ones by number."""
    file = write_flows(folder / "flows.csv", *flows, columns=columns)
    plan = plan_virtual("flows", scheme, *settings, flow_file=file, topology=topology, faults=faults)
    run = run_plan(plan, folder / "runs")
    return {flow.row["flow_id"]: flow for flow in slowest_flows(load_run(run.folder))}


def lost(flow: SlowFlow, *words: str) -> float:
    """Return the part of the lost time whose reason contains all these words."""
    assert flow.lost_us
    return sum(reason.lost_us for reason in flow.reasons if all(word in reason.text for word in words)) / flow.lost_us


def test_the_reasons_add_up_to_the_time_beyond_the_ideal(tmp_path: Path) -> None:
    flows = slowest(tmp_path, "sfc+hpcc", INCAST, *ONE_SPINE, topology="clos")
    for flow in flows.values():
        assert flow.lost_us == pytest.approx(flow.row["fct_us"] - flow.row["ideal_fct_us"])


def test_an_incast_without_flow_control_waits_in_the_queue_of_its_receiver(tmp_path: Path) -> None:
    """The third flow arrives when the queue is full, and is too short for its window to hold it back."""
    flows = slowest(tmp_path, "irn", ["h1,h4,500000,0,a", "h2,h4,500000,0,a", "h3,h4,1000,40000,b"], *STAR)
    for number in (1, 2, 3):
        assert lost(flows[number], "queue of s1, port 4") > 0.95, flows[number].sentence


def test_flows_of_one_nic_wait_for_each_other(tmp_path: Path) -> None:
    """No queue builds up: the flows of h1 share its link and go to different hosts."""
    flows = slowest(tmp_path, "irn", ["h1,h2,500000,0,a", "h1,h3,500000,0,a", "h1,h4,500000,0,a"], *STAR)
    for flow in flows.values():
        assert lost(flow, "other flows on the NIC of h1") > 0.9, flow.sentence


def test_a_pause_names_the_switch_that_set_it(tmp_path: Path) -> None:
    flows = slowest(tmp_path, "ingress-bts", INCAST, *ONE_SPINE, topology="clos")
    for flow in flows.values():
        assert flow.lost_us
        by_bts = lost(flow, "paused by BTS of tor2")
        assert by_bts == pytest.approx(flow.row["paused_us"] / flow.lost_us, rel=1e-3)
        assert by_bts > 0.2
        assert by_bts + lost(flow, "queue of tor2, port 5") > 0.9, flow.sentence


def test_a_lost_packet_is_the_reason_of_the_flow_that_lost_it(tmp_path: Path) -> None:
    """All frames to h2 are lost for a while. The flow to h3 shares only the NIC's time."""
    faults = ("loss:s1-h2,rate=100%,from=0us,until=20us",)
    flows = slowest(tmp_path, "irn", ["h1,h2,20000,0,a", "h4,h3,20000,0,b"], *STAR, faults=faults)
    assert flows[1].row["timeouts"]
    assert lost(flows[1], "resent", "timeout") > 0.95, flows[1].sentence
    assert flows[2].sentence == "no time lost"


def test_a_victim_of_pfc_waits_behind_a_stopped_port(tmp_path: Path) -> None:
    """The flow to the idle host h9 crosses the spine, whose port to tor2 stands still because of the incast to h10."""
    rows = [*INCAST, "h5,h9,20000,30000,victim"]
    flows = slowest(tmp_path, "pfc", rows, *ONE_SPINE, "switch.buffer_bytes=400000", topology="clos")
    victim = flows[5]
    assert lost(victim, "spine1, port 2, stopped by PFC of tor2") > 0.7, victim.sentence
    assert lost(victim, "spine1") > 0.9, victim.sentence
    assert lost(flows[1], "NIC of h1 stopped by PFC of tor1") > 0.5, flows[1].sentence


def test_a_message_waits_for_the_earlier_one_on_its_queue_pair(tmp_path: Path) -> None:
    flows = slowest(tmp_path, "irn", ["h1,h2,500000,0,a,1", "h1,h2,1000,5000,b,1"], *STAR, columns=",queue_pair")
    assert lost(flows[2], "waited for flow 1 on its queue pair") > 0.9, flows[2].sentence


def test_a_message_that_was_never_ready_names_what_it_waits_for(tmp_path: Path) -> None:
    faults = ("loss:s1-h2,rate=100%,from=0us",)
    rows = ["h1,h2,1000,0,a,", "h2,h3,1000,0,b,1"]
    flows = slowest(tmp_path, "irn", rows, *STAR, columns=",after", faults=faults)
    assert flows[2].lost_us is None
    assert flows[2].sentence == "waits for flow 1, which did not finish"
    assert flows[1].row["finish_us"] is None
    assert lost(flows[1], "resent") > 0.9, flows[1].sentence


def test_a_port_that_is_not_recorded_is_not_named(tmp_path: Path) -> None:
    """Five senders share two uplinks that are as fast as one NIC. The traces do not say who uses which."""
    slow = ("topology.tors=2", "topology.spines=2", "topology.hosts_per_tor=5", "topology.fabric_rate_bps=100000000000")
    cross = [f"h{number},h{number + 5},400000,0,a" for number in range(1, 6)]
    flows = slowest(tmp_path, "irn", cross, *slow, topology="clos")
    slow_flow = next(iter(flows.values()))
    assert lost(slow_flow, "tor1, port 6 or tor1, port 7 (not recorded which)") > 0.5, slow_flow.sentence
