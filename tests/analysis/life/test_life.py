# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the events of a flow, with small traces and sightings whose expected lines were computed by hand."""

from __future__ import annotations

from sfc_testbed.analysis.life.captured import Sighting
from sfc_testbed.analysis.life.events import LifeEvent, PacketEvent, joined, numbers
from sfc_testbed.analysis.life.hops import packet_events, unseen_ports
from sfc_testbed.analysis.life.stored import stored_events
from sfc_testbed.telemetry.captures.flow_packets import Kind
from sfc_testbed.telemetry.captures.pcapng import Direction
from sfc_testbed.telemetry.schema import GOODPUT, SIGNALS
from sfc_testbed.topologies.model import Port
from sfc_testbed.topologies.shapes import shape
from tests.analysis.conftest import frame_of, trace_of

FLOW = {
    "flow_id": 3,
    "src": "h1",
    "dst": "h4",
    "size_bytes": 9000,
    "start_us": 1.0,
    "finish_us": 90.0,
    "fct_us": 89.0,
    "ideal_fct_us": 8.9,
    "slowdown": 10.0,
}
NETWORK = shape("star", {"hosts": 3}).build()
SWITCH = NETWORK.switches[0].name
WAY_OUT = NETWORK.link_at[Port(SWITCH, 2)]
DELAY_US = WAY_OUT.delay_ns / 1000
LEAST_US = 2 * DELAY_US + 8e6 * 1250 / WAY_OUT.rate_bps
"""The time of a packet through the switch if it does not wait."""


def _signal(sent_us: float, until_us: float | None) -> dict[str, object]:
    is_obeyed = until_us is not None
    return {"sent_us": sent_us, "received_us": sent_us + 2, "obeyed": is_obeyed, "paused_until_us": until_us}


def _events(*signals: dict[str, object]) -> list[LifeEvent]:
    """Return the events of the flow with these signals, which have usual values in all other columns."""
    usual = {"host": "h1", "flow_id": 3, "switch": "tor2", "cause": "queue", "pause_us": 10.0, "cacheable": True}
    return stored_events(FLOW, trace_of(SIGNALS, signals, queue_depth_bytes=300_000, **usual), GOODPUT.empty())


def test_pauses_end_unless_a_newer_one_replaces_their_end() -> None:
    """An ignored BTS sets no pause, and signals of other flows are left out."""
    of_another_flow = {**_signal(11, 99), "flow_id": 4}
    events = _events(_signal(10, 22), _signal(15, 40), _signal(50, None), _signal(60, 72), of_another_flow)
    assert [(event.time_us, event.where, event.what) for event in events] == [
        (1.0, "h1", "ready"),
        (10.0, "tor2", "BTS"),
        (12.0, "h1", "paused"),
        (15.0, "tor2", "BTS"),
        (17.0, "h1", "paused"),
        (40.0, "h1", "resumed"),
        (50.0, "tor2", "BTS"),
        (52.0, "h1", "BTS ignored"),
        (60.0, "tor2", "BTS"),
        (62.0, "h1", "paused"),
        (72.0, "h1", "resumed"),
        (90.0, "h1", "acknowledged"),
    ]
    assert events[1].detail == "queue above Q_th (300 KB), pause for 10 µs"


def test_a_bts_pauses_nothing_if_all_packets_have_left() -> None:
    """Such a pause ends when the BTS arrives. A pause of 0 ends an earlier pause."""
    events = _events(_signal(10, 22), {**_signal(15, 17), "pause_us": 0.0}, _signal(30, 32))
    assert [(event.time_us, event.what, event.detail) for event in events if event.where == "h1"][1:-1] == [
        (12.0, "paused", "by tor2, until 22.00"),
        (17.0, "paused", "by tor2, until 17.00"),
        (17.0, "resumed", "end of the pause"),
        (32.0, "BTS received", "from tor2, asks to pause for 10 µs; nothing left to send"),
    ]


def test_feedback_slows_a_flow_down_and_pauses_nothing() -> None:
    """QCN feedback is obeyed if the flow's congestion control supports it. A current pause continues."""
    feedback = {**_signal(14, None), "cause": "feedback", "pause_us": 0.0, "obeyed": True}
    ignored = {**feedback, "sent_us": 30.0, "received_us": 32.0, "obeyed": False}
    events = _events(_signal(10, 22), feedback, ignored)
    assert [(event.time_us, event.what, event.detail) for event in events[3:-1]] == [
        (14.0, "BTS", "feedback of QCN (300 KB), lower rate"),
        (16.0, "slowed down", "by tor2"),
        (22.0, "resumed", "end of the pause"),
        (30.0, "BTS", "feedback of QCN (300 KB), lower rate"),
        (32.0, "BTS ignored", "from tor2"),
    ]


def test_deliveries_without_a_gap_are_merged_and_are_in_causal_order() -> None:
    """Intervals may begin before the message is ready, and end after its last acknowledgement."""
    rows = [(0.0, 2.0, 3, 1000), (2.0, 4.0, 3, 2000), (6.0, 8.0, 3, 500), (4.0, 6.0, 5, 9), (88.0, 92.0, 3, 5500)]
    events = stored_events(FLOW, SIGNALS.empty(), frame_of(GOODPUT, rows))
    assert [(event.time_us, event.what, event.detail) for event in events[:-1]] == [
        (1.0, "ready", "9 KB to h4"),
        (2.0, "received", "3 KB in order, until 4.00"),
        (8.0, "received", "500 B in order"),
        (90.0, "received", "5.5 KB in order"),
    ]
    assert (events[-1].time_us, events[-1].what) == (90.0, "acknowledged")


def test_packet_events_of_one_kind_are_merged_unless_there_is_a_gap() -> None:
    packets = [
        PacketEvent(time_us, "tor1", "queued", number, "h3", wait_us=number / 2)
        for number, time_us in ((0, 1.0), (1, 2.0), (2, 9.0), (4, 9.5))
    ]
    lines = joined([*packets, PacketEvent(1.5, "h1", "sent", 2)], 5.0)
    assert sorted((line.time_us, line.what, line.detail) for line in lines) == [
        (1.0, "queued", "packets 0-1 to h3, waited 0.00 to 0.50 µs, until 2.00"),
        (1.5, "sent", "packet 2"),
        (9.0, "queued", "2 packets of 2-4 to h3, waited 1.00 to 2.00 µs, until 9.50"),
    ]
    assert numbers([7, 7]) == "packet 7, 2 times"


def _sighting(time_us: float, direction: Direction, packet: int, kind: Kind = Kind.DATA) -> Sighting:
    return Sighting(time_us, direction, kind, packet, 1250)


def test_waits_exclude_the_delays_of_wires_and_links() -> None:
    """A packet that does not leave is lost. The departure of a resent packet is matched with its second arrival."""
    entry, way_out, other = (Port(SWITCH, number) for number in (1, 2, 3))
    arrivals = [(10.0, 0), (11.0, 1), (30.0, 1)]
    left = [(10 + LEAST_US, 0), (30 + LEAST_US + 4, 1)]
    seen = {
        Port("h1", 0): [_sighting(time_us, Direction.OUT, packet) for time_us, packet in arrivals],
        entry: [_sighting(time_us, Direction.IN, packet) for time_us, packet in arrivals],
        way_out: [_sighting(time_us, Direction.OUT, packet) for time_us, packet in left],
        Port("h2", 0): [_sighting(time_us, Direction.IN, packet) for time_us, packet in left],
    }
    needed = {SWITCH: (1, 2, 3)}
    assert unseen_ports(seen, NETWORK, needed) == {SWITCH: [3]}
    assert unseen_ports(seen, NETWORK, {SWITCH: (1, 2)}) == {}
    partly = packet_events(seen, NETWORK, "h1", "h2", needed)
    whole = packet_events({**seen, other: []}, NETWORK, "h1", "h2", needed)
    assert [event for event in whole if event not in partly] == [PacketEvent(11 + DELAY_US, SWITCH, "lost", 1)]
    queued = [event for event in whole if event.what == "queued"]
    assert [(event.packet, event.towards) for event in queued] == [(0, "h2"), (1, "h2")]
    assert [round(event.wait_us or 0, 6) for event in queued] == [0.0, 4.0]
    assert [event.what for event in whole if event.where == "h1"] == ["sent", "sent", "resent"]
    assert [event.packet for event in whole if event.what == "arrived"] == [0, 1]


def test_a_packet_whose_arrival_the_kernel_noted_late_is_not_lost() -> None:
    """In a live run, the times of two interfaces differ by some ns of the machine."""
    entry, way_out = Port(SWITCH, 1), Port(SWITCH, 2)
    seen = {
        entry: [_sighting(10, Direction.IN, 0), _sighting(40, Direction.IN, 1)],
        way_out: [_sighting(10 + LEAST_US - 0.02, Direction.OUT, 0)],
    }
    events = packet_events(seen, NETWORK, "h1", "h2", {SWITCH: (1, 2)})
    assert [(event.what, event.packet, event.wait_us) for event in events] == [("queued", 0, 0.0), ("lost", 1, None)]


def test_ack_and_nak_are_events_of_the_sender() -> None:
    seen = {Port("h1", 0): [_sighting(5, Direction.IN, 0, Kind.ACK), _sighting(6, Direction.IN, 1, Kind.NAK)]}
    events = packet_events(seen, NETWORK, "h1", "h2", {})
    assert [(event.what, event.packet) for event in events] == [("acknowledged", 0), ("NAK received", 1)]


def test_acks_wait_in_switches_and_may_be_lost_there() -> None:
    """An ACK and a NAK for one packet, and the packet itself, are told apart."""
    towards_source, towards_destination = Port(SWITCH, 1), Port(SWITCH, 2)
    answers = [_sighting(20, Direction.OUT, 4, Kind.ACK), _sighting(21, Direction.OUT, 4, Kind.NAK)]
    seen = {
        Port("h2", 0): answers,
        towards_destination: [
            _sighting(10, Direction.OUT, 4),
            *(answer._replace(direction=Direction.IN) for answer in answers),
        ],
        towards_source: [_sighting(20 + LEAST_US + 3, Direction.OUT, 4, Kind.ACK)],
    }
    events = packet_events(seen, NETWORK, "h1", "h2", {SWITCH: (1, 2)})
    assert [(event.what, event.where, event.towards) for event in events] == [
        ("ACK sent", "h2", ""),
        ("NAK sent", "h2", ""),
        ("forwarded", SWITCH, "h2"),
        ("ACK queued", SWITCH, "h1"),
        ("NAK lost", SWITCH, ""),
    ]
    assert round(events[3].wait_us or 0, 6) == 3.0
