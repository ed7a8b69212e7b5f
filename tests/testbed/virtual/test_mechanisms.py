# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Effects of mechanisms on whole networks in virtual time: PFC, BFC, SFC-P, estimator, egress BTS, ECN, QCN, Swift."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from sfc_testbed.analysis.results.result import counted
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.numbering import number_flows
from sfc_testbed.testbed.execution.execute import StoredRun
from sfc_testbed.testbed.plan.plan import RunPlan
from tests.testbed.incasts import assert_all_arrived, plan_incast, run_incast, run_plan, trace

# Racks of 25 hosts; a 24:1 incast from h1 to h24 of the first rack to h50, in a buffer that only PFC keeps from loss.
NETWORK = ("topology.hosts_per_tor=25", "topology.spines=1", "degree=24", "switch.buffer_bytes=4000000")
PFC = ("switch.pfc=true", "transport.flow_control=pfc")
SFC_P = ("switch.bts=ingress", "switch.pause_cache=true", "switch.sfc_p=true", "transport.flow_control=pfc")
VICTIM = "victim"


def _with_victims(plan: RunPlan) -> RunPlan:
    """Add flows of the rack's idle host to other receivers; they only share uplinks with the incast."""
    senders = {flow.src for flow in plan.flows}
    idle = next(host.name for host in plan.topology.hosts_of("tor1") if host.name not in senders)
    requests = [FlowRequest(flow.src, flow.dst, flow.size_bytes, flow.start_ns, flow.tag) for flow in plan.flows]
    requests += [FlowRequest(idle, f"h{26 + turn}", 100_000, 60_000 + 10_000 * turn, VICTIM) for turn in range(8)]
    return replace(plan, flows=number_flows(requests))


def _victim_slowdown(run: StoredRun) -> float:
    victims = trace(run, "flows").filter(pl.col("tag") == VICTIM)["slowdown"]
    assert victims.null_count() == 0
    return float(victims.mean())  # type: ignore[arg-type]


def test_pfc_is_lossless_and_causes_head_of_line_blocking(tmp_path: Path) -> None:
    """PFC drops nothing, but its pause reaches the senders' ToR, and flows that only share an uplink suffer.

    SFC-P drops nothing in the same incast and buffer either, and does not slow those flows down.
    """
    lossy, pfc, sfc_p = (
        run_plan(_with_victims(plan_incast("gbn+none", *NETWORK, *settings)), tmp_path) for settings in ((), PFC, SFC_P)
    )
    assert counted(lossy.result.dropped) > 0
    for result in (pfc.result, sfc_p.result):
        assert result.drops == {}
        assert result.unexplained_loss == 0
        assert result.flows.completed == result.flows.total
        assert counted(result.pfc).sent > 0
    # the pause has reached the senders' ToR
    assert pfc.result.buffer_bytes["tor1"].max > 4 * sfc_p.result.buffer_bytes["tor1"].max
    assert _victim_slowdown(pfc) > 2 * _victim_slowdown(sfc_p)
    assert counted(sfc_p.result.max_buffer_bytes) < counted(pfc.result.max_buffer_bytes)


def test_pauses_of_bfc_reach_the_senders_and_nothing_is_lost(tmp_path: Path) -> None:
    """Two queues are fewer than the flows of an incast, so flows share queues; 128 queues are enough."""
    few, many = (run_incast(tmp_path, "bfc", f"switch.bfc_queues={queues}").result for queues in (2, 128))
    for result in (few, many):
        bfc = counted(result.bfc)
        assert_all_arrived(result)
        assert result.drops == {}
        assert result.flows.packets_resent == 0
        assert 0 < bfc.pauses < bfc.sent
        assert bfc.dequeue_signals >= 3 * sum(figures.max > 0 for figures in result.buffer_bytes.values())
        assert 0 < bfc.max_signals <= bfc.dequeue_signals
        assert bfc.signal_gbps > 0
    assert counted(few.bfc).collisions > counted(many.bfc).collisions == 0


def test_the_estimator_signals_before_the_receivers_tor(tmp_path: Path) -> None:
    """The first pauses of a synchronized incast are local estimates, and they lower the peak buffer."""
    settings = ("topology.hosts_per_tor=24", "degree=24", "window_us=0", "switch.suppression_ns=5000")
    without = run_incast(tmp_path, "sfc+none", *settings).result
    run = run_incast(tmp_path, "sfc+none", *settings, "switch.estimator=true")
    signals = trace(run, "signals")
    estimated, queued = (signals.filter(pl.col("cause") == cause)["received_us"] for cause in ("estimator", "queue"))
    assert estimated.to_numpy().min() < queued.to_numpy().min()
    assert counted(run.result.max_buffer_bytes) < counted(without.max_buffer_bytes)
    assert run.result.unexplained_loss == 0


def test_ingress_bts_keeps_the_buffer_lower_than_egress_bts(tmp_path: Path) -> None:
    """BTS are sent before queueing instead of after it (paper section 2.3)."""
    settings = ("topology.hosts_per_tor=24", "degree=24", "transport.flow_control=sfc")
    egress = run_incast(tmp_path, "irn+none", *settings, "switch.bts=egress").result
    ingress = run_incast(tmp_path, "ingress-bts+none", *settings).result
    assert counted(egress.bts).sent > 0
    assert counted(ingress.max_buffer_bytes) < counted(egress.max_buffer_bytes)


def test_ecn_marks_only_ecn_capable_packets(tmp_path: Path) -> None:
    result = run_incast(tmp_path, "irn+none", "switch.ecn_kmin_bytes=1000").result
    assert result.flows.corrupted == 0
    assert result.verdict == "faithful"


def test_qcn_brings_the_queue_to_its_set_point(tmp_path: Path) -> None:
    """Eight long messages to one receiver: after the burst of the first round trips the queue stays near Q_eq.

    Senders only get feedback signals, and every packet arrives once.
    """
    long_messages = ("message_bytes=6500000", "window_us=0", "transport.payload_bytes=4000")
    run = run_incast(tmp_path, "irn+qcn", *long_messages, "switch.qcn_q_eq_bytes=125000")
    flows, signals, queues = (trace(run, name) for name in ("flows", "signals", "queues"))
    assert flows["finish_us"].min() > 4_000  # type: ignore[operator]
    assert flows["packets_resent"].sum() == 0
    assert set(signals["cause"]) == {"feedback"}
    assert signals["obeyed"].all()
    assert set(signals["pause_us"]) == {0.0}
    hot = queues.filter((pl.col("switch") == "tor2") & (pl.col("port") == -1))
    assert hot["high_water_bytes"].max() > 1_000_000  # type: ignore[operator]
    settled = hot.filter(pl.col("time_us").is_between(2_800, 4_000))["depth_bytes"].mean()
    assert 100_000 < settled < 160_000  # type: ignore[operator]


def test_swift_allows_a_longer_queue_on_a_path_with_more_switches(tmp_path: Path) -> None:
    """The TTL of the acknowledgements tells the senders that three switches are on the path."""
    depths_bytes = {}
    for hop_target_ns in (0, 20_000):
        run = run_incast(
            tmp_path,
            "irn+swift",
            *("degree=2", "message_bytes=3000000", "window_us=0", "transport.payload_bytes=4000"),
            f'transport.congestion_parameters={{"base_target_ns": 15000, "hop_target_ns": {hop_target_ns}}}',
        )
        assert run.result.flows.completed == 2
        hot = trace(run, "queues").filter((pl.col("switch") == "tor2") & (pl.col("port") == -1))
        depths_bytes[hop_target_ns] = float(hot.filter(pl.col("time_us") > 200)["depth_bytes"].mean())  # type: ignore[arg-type]
    assert depths_bytes[20_000] > 2 * depths_bytes[0]
