# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The fluid model against the packets of virtual runs, and its own sums."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from testbed.interrupt import Interrupt
from testbed.load.resume import Floats
from testbed.load.traffic import BINS_PER_RTT, MOST_BINS, Traffic, traffic_of
from testbed.plan.dilation import sending_rules
from testbed.plan.plan import RunPlan, RunRequest, plan_run
from testbed.recording.outcome import Silent
from testbed.recording.recorder import Recorder
from testbed.virtual import part
from testbed.virtual.shares import Share
from testbed.virtual.simulation import simulate

_LEAST_DATA_FRAME_BYTES = 200
_SIGNALING = (
    'transport.congestion_parameters={"window_bytes":206000}',
    "transport.loss_recovery=go-back-n",
    "transport.loss_recovery_parameters={}",
)

# Scenario, scheme, settings, model ms; and how the fluid's busiest base RTT may compare with the packets'.
CASES = (
    ("incast", "irn", ("degree=8",), 10.0, 0.9, 1.1),
    ("incast", "sfc", ("degree=8",), 10.0, 0.85, 1.3),
    ("incast", "sfc", ("topology.hosts_per_tor=24", "degree=24"), 10.0, 0.8, 1.3),
    ("incast", "irn", ("topology.hosts_per_tor=24", "degree=24"), 10.0, 0.9, 1.1),
    ("incast", "ingress-bts", ("topology.hosts_per_tor=24", "degree=24"), 10.0, 0.9, 1.3),
    ("incast", "egress-bts", ("topology.hosts_per_tor=24", "degree=24"), 10.0, 0.8, 1.3),
    ("incast", "onramp", ("topology.hosts_per_tor=24", "degree=24"), 10.0, 0.9, 1.3),
    ("incast", "irn", ("degree=8", "message_bytes=1500"), 10.0, 0.8, 1.3),
    ("signaling", "sfc", _SIGNALING, 0.3, 0.9, 1.3),
    ("signaling", "onramp", _SIGNALING, 0.3, 0.9, 1.3),
)


class _Counted:
    """Stands where captures are: when each host sent a data frame."""

    addresses: tuple[bytes, ...] = ()
    ports = ()
    sent_ns: list[int]

    def __init__(self, plan: RunPlan, share: Share, folder: Path) -> None:
        _Counted.sent_ns = []
        self.hosts = frozenset(range(len(self.addresses)))

    def frame(self, host: int, frame: bytes, time_ns: int) -> None:
        if len(frame) > _LEAST_DATA_FRAME_BYTES and frame[6:12] == self.addresses[host]:
            self.sent_ns.append(time_ns)

    def close(self) -> None:
        pass


def _plan(scenario: str, scheme: str, settings: Iterable[str], duration_ms: float) -> RunPlan:
    request = RunRequest(scenario, scheme=scheme, clock="virtual", settings=tuple(settings), duration_ms=duration_ms)
    return plan_run(request)


def _fluid(plan: RunPlan) -> Traffic:
    rules = sending_rules(plan.topology, plan.switch_settings, plan.transport, plan.config.physics.window_bytes)
    return traffic_of(plan.topology, plan.flows, rules, plan.config.duration_ms * 1e6)


def _by_rtt(traffic: Traffic) -> Floats:
    found: Floats = np.bincount(traffic.numbers // BINS_PER_RTT, traffic.sent.sum(axis=1)).astype(float)
    return found


def _packets_by_rtt(plan: RunPlan, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Floats:
    monkeypatch.setattr(part, "VirtualCapture", _Counted)
    monkeypatch.setattr(
        _Counted, "addresses", tuple(bytes.fromhex(host.mac.replace(":", "")) for host in plan.topology.hosts)
    )
    (folder / "logs").mkdir()
    with Recorder(plan, folder) as recorder:
        simulate(plan, folder, recorder, Silent(), Interrupt())
    begin_ns = min(flow.start_ns for flow in plan.flows)
    times_ns = np.array(_Counted.sent_ns) / plan.dilation.factor - begin_ns
    found: Floats = np.bincount((times_ns // plan.transport.base_rtt_ns).astype(int)).astype(float)
    return found


@pytest.mark.parametrize(("scenario", "scheme", "settings", "duration_ms", "least", "most"), CASES)
def test_busiest_round_trips_are_those_of_the_packets(
    scenario: str,
    scheme: str,
    settings: tuple[str, ...],
    duration_ms: float,
    least: float,
    most: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of the whole network's data frames in a base RTT, the most, within the bounds that each case states."""
    plan = _plan(scenario, scheme, settings, duration_ms)
    packets = _packets_by_rtt(plan, tmp_path, monkeypatch)
    share = _by_rtt(_fluid(plan)).max() / packets.max()
    assert least <= share <= most


def test_senders_that_resume_at_one_instant_are_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """63 senders that egress BTS paused: the fluid's trickle, and what may come instead has as many as the packets."""
    plan = _plan("signaling", "egress-bts", _SIGNALING, 1.8)
    first_ns = 200_000  # all have been paused by then
    packets = _packets_by_rtt(plan, tmp_path, monkeypatch)[first_ns // plan.transport.base_rtt_ns :].max()
    rules = sending_rules(plan.topology, plan.switch_settings, plan.transport, plan.config.physics.window_bytes)
    trickle = _by_rtt(traffic_of(plan.topology, plan.flows, rules, 1.8e6))
    told = _by_rtt(traffic_of(plan.topology, plan.flows, rules, 1.8e6, resumes=True))
    assert trickle[first_ns // plan.transport.base_rtt_ns :].max() < 0.5 * packets
    assert 0.9 <= told.max() / packets <= 1.1


@pytest.mark.parametrize("scheme", ["irn", "sfc", "egress-bts", "onramp-straw-man", "sfc-p", "gbn+none"])
def test_nothing_is_lost_and_no_wire_is_faster_than_its_rate(scheme: str) -> None:
    """What is sent is received, packet for packet, at line rate at most."""
    plan = _plan("incast", scheme, (), 10.0)
    traffic = _fluid(plan)
    wanted = sum(-(-flow.size_bytes // plan.transport.payload_bytes) for flow in plan.flows)
    assert traffic.sent.sum() == pytest.approx(wanted)
    assert traffic.received.sum() == pytest.approx(wanted)
    assert traffic.forward.sum() == pytest.approx(wanted)
    assert traffic.backward.sum() == pytest.approx(wanted + traffic.signals.sum())
    line_rate = 100e9 / 8 / 1_000 * traffic.bin_ns / 1e9
    assert traffic.sent.max() <= line_rate
    assert traffic.received.max() <= line_rate
    assert (traffic.signals.sum() > 0) == (scheme in ("sfc", "egress-bts", "sfc-p"))


def test_of_a_long_run_the_busiest_stretch_is_looked_at() -> None:
    """Not more than so many bins; a burst anywhere in it is among them."""
    calm = _plan("hadoop-50", "irn", (), 5.0)
    traffic = _fluid(calm)
    assert len(traffic.numbers) <= MOST_BINS
    begins = [flow.start_ns for flow in calm.flows]
    assert max(begins) - min(begins) > MOST_BINS * traffic.bin_ns / 2
    tags = {flow.tag for flow in calm.flows}
    assert len(tags) == 2  # the incasts are bursts
    starts = np.array(begins)
    sizes = np.array([flow.size_bytes for flow in calm.flows])
    window_ns = 100_000.0
    heaviest = max(sizes[(starts >= at) & (starts < at + window_ns)].sum() for at in starts)
    bins = int(window_ns / traffic.bin_ns)
    most = np.convolve(traffic.sent.sum(axis=1), np.ones(bins), "valid").max() * calm.transport.payload_bytes
    assert most > heaviest / 3


def test_without_flows_there_is_no_traffic() -> None:
    """A network to play with."""
    plan = _plan("incast", "sfc", (), 1.0)
    rules = sending_rules(plan.topology, plan.switch_settings, plan.transport, None)
    assert traffic_of(plan.topology, (), rules, 1e6).sent.sum() == 0


def test_a_message_begins_at_both_its_ends(tmp_path: Path) -> None:
    """Each once, in the bin of its start, with however many frames."""
    flow_file = tmp_path / "flows.csv"
    flow_file.write_text("src,dst,size_bytes,start_ns,tag\nh1,h2,500,0,a\nh1,h3,90000,0,a\nh2,h3,500,40000,a\n")
    plan = plan_run(RunRequest("incast", scheme="irn", clock="virtual", topology="clos", flow_file=flow_file))
    traffic = _fluid(plan)
    assert traffic.begun.sum(axis=0)[:4].tolist() == [2, 2, 2, 0]
    assert traffic.begun.sum(axis=1).tolist()[0] == 4
    assert traffic.begun.sum() == 6
