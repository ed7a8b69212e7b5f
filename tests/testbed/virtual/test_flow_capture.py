# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Captures in virtual time: both directions of ports at the time of the receiving end, and packets of single flows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from sfc_testbed.telemetry.captures.clock import CaptureClock
from sfc_testbed.telemetry.captures.flow_packets import FlowOnWire, Kind
from sfc_testbed.telemetry.captures.pcapng import CapturedFrame, Direction, read_capture
from sfc_testbed.testbed.plan.captured_ports import on_wire
from sfc_testbed.testbed.plan.plan import RunPlan
from tests.testbed.incasts import plan_incast, run_incast, write_flows

PLACES = ("h1", "tor1:h1", "tor1:spine1", "spine1:tor1")
LOSS = ("loss:all,rate=2%",)
ANSWERED = frozenset({Kind.DATA, Kind.ACK})
EARLY = ("degree=4", "message_bytes=60000", "window_us=0", "switch.q_th_bytes=20000", "switch.q_tg_bytes=10000")


def _frames(folder: Path, name: str) -> list[CapturedFrame]:
    return list(read_capture(folder / "pcaps" / f"{name}.pcapng"))


def _going(frames: list[CapturedFrame], direction: Direction) -> list[tuple[int, bytes]]:
    return [(record.time_ns, record.frame) for record in frames if record.direction is direction]


def test_both_ends_of_a_link_see_the_same_at_the_same_model_time(tmp_path: Path) -> None:
    folder = run_incast(tmp_path, "sfc", "degree=4", "message_bytes=30000", captures=PLACES).folder
    ends = host, port, up, down = [
        _frames(folder, name) for name in ("h1-eth0", "tor1-eth1", "tor1-eth9", "spine1-eth1")
    ]
    for one, other in ((host, port), (port, host), (up, down), (down, up)):
        assert _going(one, Direction.OUT)
        assert _going(one, Direction.OUT) == _going(other, Direction.IN)
    for frames in ends:
        assert not _going(frames, Direction.UNKNOWN)
        assert [record.time_ns for record in frames] == sorted(record.time_ns for record in frames)
        assert {record.interface.clock for record in frames} == {CaptureClock(1000, 0, 0)}


def _flow(plan: RunPlan, number: int) -> FlowOnWire:
    return on_wire(plan.flows, number, plan.topology, plan.transport.payload_bytes)


def _kinds(frames: list[CapturedFrame], flow: FlowOnWire) -> Counter[Kind | None]:
    recognised = (flow.recognise(record.frame) for record in frames)
    return Counter(None if packet is None else packet[0] for packet in recognised)


def _is_between_hosts(frame: bytes, *flows: FlowOnWire) -> bool:
    return any({frame[26:30], frame[30:34]} == {flow.source_ip, flow.destination_ip} for flow in flows)


@pytest.mark.parametrize(
    ("scheme", "settings", "kinds"),
    [
        ("sfc+hpcc", (), ANSWERED),
        ("irn+dcqcn", ("switch.ecn_kmin_bytes=5000", "transport.congestion_notice=cnp"), {*ANSWERED, Kind.CNP}),
        ("irn", (), {*ANSWERED, Kind.NAK}),
        ("ndp", (), {*ANSWERED, Kind.TRIMMED, Kind.PULL}),
    ],
)
def test_a_capture_of_a_flow_has_its_packets_and_no_others(
    scheme: str, settings: tuple[str, ...], kinds: set[Kind], tmp_path: Path
) -> None:
    """A capture of a receiver that all flows share, with and without the selection. Every flow has another sender."""
    whole, selected = (
        run_incast(tmp_path, scheme, *EARLY, *settings, faults=LOSS, captures=("h16", "tor2:h16", *flows))
        for flows in ((), ("flow:2", "flow:4"))
    )
    plan = plan_incast(scheme, *EARLY, *settings)
    second, fourth = _flow(plan, 2), _flow(plan, 4)
    for name in ("h16-eth0", "tor2-eth8"):
        everything = _frames(whole.folder, name)
        expected = [record for record in everything if _is_between_hosts(record.frame, second, fourth)]
        assert _frames(selected.folder, name) == expected
        assert len(everything) > 1.5 * len(expected)
        counted = _kinds(expected, second) + _kinds(expected, fourth)
        assert counted[None] == len(expected), "a packet is of one flow"
        assert kinds <= set(counted)


def test_a_flow_is_captured_at_both_ends_with_its_bts(tmp_path: Path) -> None:
    """Without places, the flow's paths are captured. A BTS from a switch reaches the sender only."""
    run = run_incast(tmp_path, "sfc+hpcc", *EARLY, captures=("flow:1",))
    flow = _flow(plan_incast("sfc+hpcc", *EARLY), 1)
    source = plan_incast("sfc+hpcc", *EARLY).flows[0].src
    at_source, at_destination = (_kinds(_frames(run.folder, f"{host}-eth0"), flow) for host in (source, "h16"))
    assert set(at_source) == {Kind.DATA, Kind.ACK, Kind.BTS}
    assert set(at_destination) == {Kind.DATA, Kind.ACK}
    assert at_source[Kind.DATA] == at_destination[Kind.DATA] == 60


def test_messages_on_one_queue_pair_are_told_apart(tmp_path: Path) -> None:
    """The second message begins with the packet number after the last one of the first message."""
    rows = ("h1,h2,3000,0,a,1", "h1,h2,5000,0,a,1", "h1,h2,2000,0,a,0")
    file = write_flows(tmp_path / "flows.csv", *rows, columns=",queue_pair")
    run = run_incast(tmp_path / "runs", "irn", flow_file=file, captures=("h1", "flow:2"))
    plan = plan_incast("irn", flow_file=file)
    assert _kinds(_frames(run.folder, "h1-eth0"), _flow(plan, 2)) == {Kind.DATA: 5, Kind.ACK: 5}
    assert _flow(plan, 2).first_psn == 3
