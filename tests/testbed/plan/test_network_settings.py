# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Settings derived from network and traffic: windows, timeouts, thresholds, NICs, intervals; overrides and effects."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from sfc_testbed.analysis.metrics.buffers import whole_buffer
from sfc_testbed.analysis.report.physics import physics_rows
from sfc_testbed.analysis.results.stored import read_config
from sfc_testbed.hosts.build import build_nics
from sfc_testbed.hosts.transport.algorithms import resolved
from sfc_testbed.hosts.transport.messages import OutgoingMessage
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.telemetry.reader import answer
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.execute import StoredRun
from sfc_testbed.testbed.plan.plan import RunPlan
from tests.testbed.incasts import plan_incast, plan_virtual, run_plan, simulated, write_flows

if TYPE_CHECKING:
    from pathlib import Path

GBPS = 1_000_000_000
STAR = {"topology": "star"}
DUMBBELL = {"topology": "dumbbell", "settings": ("topology.host_delay_ns=3000",)}
MIXED = "topology.host_rates_bps=[100000000000,50000000000]"
_WHOLE_PACKET = "switch: trim_queue_bytes: must be at least 9062 B"
_ACKNOWLEDGMENTS = "transport: ack_priority: must be control where switches cut packets"
_TELEMETRY = "trim_queue_packets: switches would drop packets that carry telemetry"


def planned(scheme: str = "sfc", *settings: str, **request: Any) -> RunPlan:
    """Plan a virtual incast of 8 senders."""
    return plan_incast(scheme, *request.pop("settings", ()), *settings, **request)


def execute_plan(plan: RunPlan, tmp_path: Path) -> tuple[StoredRun, dict[str, Any], pl.DataFrame]:
    """Execute a plan; return the run, its config.json and its flows."""
    finished = run_plan(plan, tmp_path, page=True)
    config = json.loads((finished.folder / "config.json").read_text())
    return finished, config, pl.read_parquet(finished.folder / "flows.parquet")


@pytest.mark.parametrize(
    ("request_", "rtt_ns", "bdp"), [(STAR, 4_200, 52_500), (DUMBBELL, 18_000, 225_000), ({}, 10_000, 125_000)]
)
def test_settings_are_derived_from_the_network(request_: dict[str, Any], rtt_ns: int, bdp: int) -> None:
    plan = planned("sfc-est+dcqcn", **request_)
    switch, transport = plan.switch_settings, plan.transport
    assert (transport.base_rtt_ns, transport.bdp_bytes) == (rtt_ns, bdp)
    assert (switch.q_tg_bytes, switch.q_th_bytes) == (bdp, 2 * bdp)
    assert (switch.suppression_ns, switch.estimator_tau_ns) == (rtt_ns // 2, rtt_ns)
    assert (switch.ecn_kmin_bytes, switch.ecn_kmax_bytes) == (bdp, bdp)
    resolved_ = resolved(transport)
    assert resolved_.congestion_parameters["window_bytes"] == bdp
    assert resolved_.loss_recovery_parameters["rto_low_ns"] == 10 * rtt_ns
    assert resolved_.loss_recovery_parameters["rto_high_ns"] == 1_300_000
    assert transport.program_queue_bytes == 2 * bdp
    capped = resolved(planned("irn+none", **request_).transport).loss_recovery_parameters
    assert capped["cap_packets"] == -(-bdp // 1000)
    assert resolved(planned("onramp", **request_).transport).flow_control_parameters["threshold_ns"] == rtt_ns


def test_set_values_are_kept_and_others_are_derived_from_them() -> None:
    longer = planned("sfc", "transport.base_rtt_ns=16000")
    assert (longer.transport.bdp_bytes, longer.switch_settings.q_th_bytes) == (200_000, 400_000)
    assert longer.switch_settings.suppression_ns == 8_000
    chosen = planned("sfc", "switch.q_th_bytes=300000", "transport.base_rtt_ns=16000")
    assert (chosen.switch_settings.q_th_bytes, chosen.switch_settings.q_tg_bytes) == (300_000, 200_000)
    multiple = planned("sfc+dcqcn", "switch.q_th_bdp=4", "switch.suppression_rtt=2", "switch.ecn_kmin_bytes=7000")
    assert (multiple.switch_settings.q_th_bytes, multiple.switch_settings.suppression_ns) == (500_000, 20_000)
    assert (multiple.switch_settings.ecn_kmin_bytes, multiple.switch_settings.ecn_kmax_bytes) == (7_000, 125_000)
    slower = planned("sfc", "transport.line_rate_bps=50000000000")
    assert (slower.transport.bdp_bytes, slower.config.physics.nic_rates_bps) == (62_500, {50 * GBPS: 16})
    smaller_bdp = planned("sfc", "transport.bdp_bytes=100000")
    assert (smaller_bdp.switch_settings.q_tg_bytes, smaller_bdp.config.physics.window_bytes) == (100_000, 100_000)


@pytest.mark.parametrize(
    ("settings", "trim_queue_bytes"),
    [
        ((), 8 * 1_062),
        (("transport.payload_bytes=4000",), 8 * 4_062),
        (("transport.payload_bytes=9000",), 8 * 9_062),
        (("transport.payload_bdp=0.016",), 8 * 2_062),
        (("switch.trim_queue_packets=3", "transport.payload_bytes=4000"), 3 * 4_062),
        (("switch.trim_queue_bytes=8496", "transport.payload_bytes=8000"), 8_496),
    ],
)
def test_ndps_data_queue_holds_eight_packets_of_the_run(settings: tuple[str, ...], trim_queue_bytes: int) -> None:
    """The longest packet counts, with headers, payload, immediate data and ICRC; a size in bytes is kept."""
    assert planned("ndp", *settings).switch_settings.trim_queue_bytes == trim_queue_bytes


@pytest.mark.parametrize(
    ("scheme", "settings", "reason"),
    [
        ("ndp", ("transport.payload_bytes=9000", "switch.trim_queue_bytes=8496"), _WHOLE_PACKET),
        ("ndp", ("transport.ack_priority=data",), _ACKNOWLEDGMENTS),
        ("ndp+dcqcn", ("transport.ack_priority=data",), _ACKNOWLEDGMENTS),
        ("irn+dcqcn", ("switch.trim_queue_packets=8",), _ACKNOWLEDGMENTS),
        ("ndp+hpcc", (), _TELEMETRY),
        ("ndp", ("transport.flow_control=onramp",), _TELEMETRY),
        ("irn+hpcc", ("switch.trim_queue_packets=8",), _TELEMETRY),
    ],
)
def test_trimming_that_would_lose_packets_is_refused(scheme: str, settings: tuple[str, ...], reason: str) -> None:
    """Every packet would be trimmed, headers of trimmed acknowledgments cannot be read, and telemetry is dropped."""
    with pytest.raises(UsageError, match=reason):
        planned(scheme, *settings)


def test_without_trimming_ndp_may_have_telemetry_and_acknowledgments_that_queue_with_the_data() -> None:
    assert planned("ndp+hpcc", "switch.trim_queue_bytes=null").transport.congestion == "hpcc"
    plan = planned("ndp", "transport.ack_priority=data", "switch.trim_queue_bytes=null")
    assert (plan.transport.ack_priority, plan.switch_settings.trim_queue_bytes) == ("data", None)


@pytest.mark.parametrize(
    ("scheme", "settings", "remedy"),
    [
        ("irn", ("transport.congestion=hpcc",), r"ends in \+hpcc, or --set switch.int_telemetry=true"),
        ("sfc+hpcc", ("switch.int_telemetry=false",), r"ends in \+hpcc, or --set switch.int_telemetry=true"),
        ("pfc", ("transport.congestion=dcqcn",), r"ends in \+dcqcn, or --set switch.ecn_kmin_bytes=125000"),
        ("sfc", ("transport.congestion=bolt",), r"ends in \+bolt, or --set switch.bolt_threshold_bytes="),
    ],
)
def test_congestion_control_without_its_signals_is_refused(scheme: str, settings: tuple[str, ...], remedy: str) -> None:
    with pytest.raises(UsageError, match=remedy):
        planned(scheme, *settings)


def test_one_setting_of_the_marking_is_enough_for_a_congestion_control_that_reacts_to_marks() -> None:
    plan = planned("irn", "transport.congestion=dcqcn", "switch.ecn_kmin_bytes=50000")
    assert (plan.transport.congestion, plan.switch_settings.ecn_kmax_bytes) == ("dcqcn", None)
    assert planned("irn", "transport.congestion=swift").transport.congestion == "swift"


def test_compact_telemetry_gets_the_rates_of_the_links() -> None:
    """Schemes without telemetry do not use the layout, and the default layout does not use the rates."""
    plan = planned("irn+hpcc", "transport.int_layout=compact")
    assert plan.transport.link_rates_bps == (100 * GBPS, 400 * GBPS)
    for scheme, setting in (("irn+hpcc", "growing"), ("irn+dcqcn", "compact"), ("onramp", "compact")):
        assert planned(scheme, f"transport.int_layout={setting}").transport.link_rates_bps == ()


def test_compact_telemetry_is_refused_with_more_rates_than_codes() -> None:
    rates = [number * GBPS for number in range(10, 25)]
    settings = [f"topology.host_rates_bps={rates}", "topology.hosts_per_tor=15"]
    assert len(planned("irn+hpcc", *settings).topology.link_rates_bps) == 16
    reason = "int_layout: compact has codes for 15 link rates, but this network has 16; use int_layout=growing"
    with pytest.raises(UsageError, match=reason):
        planned("irn+hpcc", *settings, "transport.int_layout=compact")
    planned("irn+dcqcn", *settings, "transport.int_layout=compact")


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("link_rates_bps=[10000000000]", "link_rates_bps: follows from the links of the network, so it cannot be set"),
        ("int_layout=small", "int_layout: must be 'growing' or 'compact', not 'small'"),
    ],
)
def test_rates_of_links_cannot_be_set_and_layouts_are_named(setting: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        planned("irn+hpcc", f"transport.{setting}")


@pytest.mark.parametrize("setting", ["host_rate_bps=10000000000", "host_rates_bps=[100000000000,10000000000]"])
def test_timeouts_outlast_the_queue_of_the_slowest_host(setting: str) -> None:
    """Half of 32 MB takes 12.8 ms at 10 Gb/s, longer than go-back-N's usual 4 ms."""
    slow = f"topology.{setting}"
    assert planned("gbn", slow).transport.rto_ns == 13_000_000
    assert planned("gbn").transport.rto_ns == 4_000_000
    assert resolved(planned("irn", slow).transport).loss_recovery_parameters["rto_high_ns"] == 13_000_000


@pytest.mark.parametrize(
    ("request_", "rtt", "bdp", "q_th"),
    [(STAR, "4.2 µs", "52.5 KB", "105 KB, 52.5 KB"), (DUMBBELL, "18 µs", "225 KB", "450 KB, 225 KB")],
)
def test_config_and_report_have_the_settings_of_a_run(
    request_: dict[str, Any], rtt: str, bdp: str, q_th: str, tmp_path: Path
) -> None:
    finished, config, flows = execute_plan(planned("sfc", **request_), tmp_path)
    assert finished.result.base_rtt_us * 1000 == config["physics"]["base_rtt_ns"]
    assert config["physics"]["bdp_bytes"] == config["physics"]["window_bytes"]
    assert config["transport_settings"]["bdp_bytes"] == config["physics"]["bdp_bytes"]
    assert config["switch_settings"]["q_tg_bytes"] == config["physics"]["bdp_bytes"]
    rows = dict(physics_rows(read_config(finished.folder)))
    assert (rows["base RTT"], rows["BDP"], rows["first window"], rows["Q_th, Q_tg"]) == (rtt, bdp, bdp, q_th)
    assert finished.report is not None
    page = finished.report.read_text()
    assert "Network and limits" in page
    assert all(text in page for text in (rtt, bdp, q_th))
    assert (flows["slowdown"] >= 1 - 1e-4).all()


def test_a_run_with_mixed_rates_has_figures_for_every_rate() -> None:
    run_config = planned("sfc+dcqcn", MIXED).config
    config = run_config.as_dict()
    bdp_by_rate = {str(100 * GBPS): 125_000, str(50 * GBPS): 62_500}
    assert config["physics"]["bdp_of_nics"] == config["physics"]["window_of_nics"] == bdp_by_rate
    assert config["transport_settings"]["bdp_of_nics"] == bdp_by_rate
    rows = dict(physics_rows(run_config))
    assert rows["BDP"] == rows["first window"] == "125 KB at 100 Gb/s, 62.5 KB at 50 Gb/s"
    assert rows["Q_th, Q_tg"] == "250 KB, 125 KB"


def test_nics_with_different_rates_have_different_windows() -> None:
    plan = planned("sfc+dcqcn", MIXED)
    fast, slow = build_nics(plan.topology, (), plan.transport, plan.dilation)[:2]
    for nic, window_bytes in ((fast, 125_000), (slow, 62_500)):
        nic.adopt(plan.transport, plan.dilation)
        nic.send_message(OutgoingMessage(1, 1, 1, 1, 1_000_000, 0))
        nic.frames_to_send(1)
        assert [message.window_bytes for message in nic.state().messages] == [window_bytes]


def test_the_ideal_time_considers_a_nic_that_is_slower_than_its_link(tmp_path: Path) -> None:
    flows = write_flows(tmp_path / "two.csv", "h2,h15,250000,0,lone", "h3,h13,999,90000,lone")
    slower = "transport.line_rate_bps=40000000000"
    _, _, table = execute_plan(planned("sfc", MIXED, slower, flow_file=flows), tmp_path)
    assert table["slowdown"].to_list() == pytest.approx([1.0, 1.0], abs=1e-4)


def test_telemetry_that_does_not_fit_a_packet_is_refused() -> None:
    """A packet has space for records of five switches, and in the compact layout for a time stamp in addition."""
    tiers = {"topology": "three-tier"}
    assert planned("irn+hpcc", **tiers).transport.congestion == "hpcc"
    assert planned("onramp", **tiers).transport.flow_control == "onramp"
    with pytest.raises(UsageError, match="hpcc supports at most 4 switches on a path with a time stamp"):
        planned("onramp+hpcc", **tiers)
    assert planned("onramp+hpcc", "transport.int_layout=compact", **tiers).transport.congestion == "hpcc"


@pytest.mark.parametrize(("scheme", "overhead"), [("sfc", 1e-4), ("irn+hpcc", 0.12), ("onramp", 0.02)])
@pytest.mark.parametrize(("source", "receiver"), [("h2", "h15"), ("h2", "h16"), ("h1", "h16"), ("h1", "h3")])
def test_a_lone_flow_is_as_fast_as_its_slowest_link(
    scheme: str, overhead: float, source: str, receiver: str, tmp_path: Path
) -> None:
    """Rates are 50 to 100 Gb/s, 50 to 50, 100 to 50, and 100 to 100 within a rack; the sender's ToR has no queue.

    Odd hosts have 100 Gb/s, even ones 50. Telemetry and time stamps make packets longer, and HPCC aims at 95 %.
    """
    flows = write_flows(tmp_path / "one.csv", f"{source},{receiver},250000,0,lone")
    plan = planned(scheme, MIXED, flow_file=flows)
    assert plan.config.physics.nic_rates_bps == {100 * GBPS: 8, 50 * GBPS: 8}
    traces = simulated(plan, tmp_path).traces()
    [slowdown] = answer(traces["flows"])["slowdown"]
    assert slowdown == pytest.approx(1.0, abs=overhead)
    if receiver in ("h15", "h16"):
        assert max(whole_buffer(traces["queues"], "tor1")["high_water_bytes"].to_list()) <= 2 * 1_200


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_at_least_fifty_intervals_fit_into_a_run(scenario: str) -> None:
    plan = plan_virtual(scenario)
    received, sent = Counter[str](), Counter[str]()
    for flow in plan.flows:
        received[flow.dst] += flow.size_bytes
        sent[flow.src] += flow.size_bytes
    busiest_ns = 8e9 * max(*received.values(), *sent.values()) / plan.topology.hosts[0].rate_bps
    least_ns = min(max(busiest_ns, plan.flows[-1].start_ns), plan.config.duration_ms * 1e6)
    assert 50 <= least_ns / plan.transport.goodput_interval_ns <= 125


@pytest.mark.parametrize(
    ("message_bytes", "interval_ns"),
    [(1_000, 1_000), (125_000, 1_000), (625_000, 1_000), (1_250_000, 2_000), (3_125_000, 5_000), (6_250_000, 10_000)],
)
def test_the_interval_is_a_round_number(message_bytes: int, interval_ns: int) -> None:
    """A lone message at 100 Gb/s: 50 intervals of 1 us carry 625 KB, and no interval is shorter than 1 us."""
    plan = planned("sfc", "degree=1", f"message_bytes={message_bytes}", "window_us=0")
    assert plan.transport.goodput_interval_ns == interval_ns


def test_a_short_duration_shortens_the_interval() -> None:
    assert planned("sfc", "message_bytes=1e9", duration_ms=1.0).transport.goodput_interval_ns == 20_000


@pytest.mark.parametrize("setting", ["transport.goodput_interval_ns=30000", "transport.goodput_interval_rtt=3"])
def test_a_set_interval_is_used(setting: str) -> None:
    plan = planned("sfc", setting)
    assert plan.transport.goodput_interval_ns == 30_000
    assert plan.config.transport_settings["goodput_interval_ns"] == 30_000
