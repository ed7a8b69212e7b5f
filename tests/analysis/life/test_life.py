# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the events of a flow, with small traces and sightings whose expected lines were computed by hand."""

from __future__ import annotations

import polars as pl

from sfc_testbed.analysis.life.captured import Sighting
from sfc_testbed.analysis.life.events import PacketEvent, joined, numbers
from sfc_testbed.analysis.life.hops import packet_events, unseen_ports
from sfc_testbed.analysis.life.stored import stored_events
from sfc_testbed.telemetry.captures.flow_packets import Kind
from sfc_testbed.telemetry.captures.pcapng import Direction
from sfc_testbed.telemetry.schema import GOODPUT, SIGNALS
from sfc_testbed.topologies.model import Port
from sfc_testbed.topologies.shapes import shape

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


def _signal(sent_us: float, until_us: float | None) -> dict[str, object]:
    return {
        "sent_us": sent_us,
        "received_us": sent_us + 2,
        "host": "h1",
        "flow_id": 3,
        "switch": "tor2",
        "cause": "queue",
        "pause_us": 10.0,
        "queue_depth_bytes": 300_000,
        "cacheable": True,
        "obeyed": until_us is not None,
        "paused_until_us": until_us,
    }


def test_pauses_end_unless_a_newer_one_replaces_their_end() -> None:
    """An ignored BTS sets no pause, and signals of other flows are left out."""
    rows = [_signal(10, 22), _signal(15, 40), _signal(50, None), _signal(60, 72), {**_signal(11, 99), "flow_id": 4}]
    events = stored_events(FLOW, pl.DataFrame(rows, schema=SIGNALS.dtypes), GOODPUT.empty())
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
    rows = [_signal(10, 22), {**_signal(15, 17), "pause_us": 0.0}, _signal(30, 32)]
    events = stored_events(FLOW, pl.DataFrame(rows, schema=SIGNALS.dtypes), GOODPUT.empty())
    assert [(event.time_us, event.what, event.detail) for event in events if event.where == "h1"][1:-1] == [
        (12.0, "paused", "by tor2, until 22.00"),
        (17.0, "paused", "by tor2, until 17.00"),
        (17.0, "resumed", "end of the pause"),
        (32.0, "BTS received", "from tor2, asks to pause for 10 µs; nothing left to send"),
    ]


def test_feedback_slows_a_flow_down_and_pauses_nothing() -> None:
    """QCN feedback is obeyed if the flow's congestion control supports it. A current pause continues."""
    feedback = {**_signal(14, None), "cause": "feedback", "pause_us": 0.0, "obeyed": True}
    rows = [_signal(10, 22), feedback, {**feedback, "sent_us": 30.0, "received_us": 32.0, "obeyed": False}]
    events = stored_events(FLOW, pl.DataFrame(rows, schema=SIGNALS.dtypes), GOODPUT.empty())
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
    goodput = pl.DataFrame(rows, schema=GOODPUT.dtypes, orient="row")
    events = stored_events(FLOW, SIGNALS.empty(), goodput)
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
    [switch] = [node.name for node in NETWORK.switches]
    entry, way_out, other = (Port(switch, number) for number in (1, 2, 3))
    delay_us = NETWORK.link_at[way_out].delay_ns / 1000
    wire_us = 8e6 * 1250 / NETWORK.link_at[way_out].rate_bps
    least_us = 2 * delay_us + wire_us
    arrivals = [(10.0, 0), (11.0, 1), (30.0, 1)]
    left = [(10 + least_us, 0), (30 + least_us + 4, 1)]
    seen = {
        Port("h1", 0): [_sighting(time_us, Direction.OUT, packet) for time_us, packet in arrivals],
        entry: [_sighting(time_us, Direction.IN, packet) for time_us, packet in arrivals],
        way_out: [_sighting(time_us, Direction.OUT, packet) for time_us, packet in left],
        Port("h2", 0): [_sighting(time_us, Direction.IN, packet) for time_us, packet in left],
    }
    needed = {switch: (1, 2, 3)}
    assert unseen_ports(seen, NETWORK, needed) == {switch: [3]}
    assert unseen_ports(seen, NETWORK, {switch: (1, 2)}) == {}
    partly = packet_events(seen, NETWORK, "h1", "h2", needed)
    whole = packet_events({**seen, other: []}, NETWORK, "h1", "h2", needed)
    assert [event for event in whole if event not in partly] == [PacketEvent(11 + delay_us, switch, "lost", 1)]
    queued = [event for event in whole if event.what == "queued"]
    assert [(event.packet, event.towards) for event in queued] == [(0, "h2"), (1, "h2")]
    assert [round(event.wait_us or 0, 6) for event in queued] == [0.0, 4.0]
    assert [event.what for event in whole if event.where == "h1"] == ["sent", "sent", "resent"]
    assert [event.packet for event in whole if event.what == "arrived"] == [0, 1]


def test_a_packet_whose_arrival_the_kernel_noted_late_is_not_lost() -> None:
    """In a live run, the times of two interfaces differ by some ns of the machine."""
    [switch] = [node.name for node in NETWORK.switches]
    entry, way_out = Port(switch, 1), Port(switch, 2)
    least_us = 2 * NETWORK.link_at[way_out].delay_ns / 1000 + 8e6 * 1250 / NETWORK.link_at[way_out].rate_bps
    seen = {
        entry: [_sighting(10, Direction.IN, 0), _sighting(40, Direction.IN, 1)],
        way_out: [_sighting(10 + least_us - 0.02, Direction.OUT, 0)],
    }
    events = packet_events(seen, NETWORK, "h1", "h2", {switch: (1, 2)})
    assert [(event.what, event.packet, event.wait_us) for event in events] == [("queued", 0, 0.0), ("lost", 1, None)]


def test_ack_and_nak_are_events_of_the_sender() -> None:
    seen = {Port("h1", 0): [_sighting(5, Direction.IN, 0, Kind.ACK), _sighting(6, Direction.IN, 1, Kind.NAK)]}
    events = packet_events(seen, NETWORK, "h1", "h2", {})
    assert [(event.what, event.packet) for event in events] == [("acknowledged", 0), ("NAK received", 1)]


def test_acks_wait_in_switches_and_may_be_lost_there() -> None:
    """An ACK and a NAK for one packet, and the packet itself, are told apart."""
    [switch] = [node.name for node in NETWORK.switches]
    towards_source, towards_destination = Port(switch, 1), Port(switch, 2)
    delay_us = NETWORK.link_at[towards_source].delay_ns / 1000
    wire_us = 8e6 * 1250 / NETWORK.link_at[towards_source].rate_bps
    least_us = 2 * delay_us + wire_us
    answers = [_sighting(20, Direction.OUT, 4, Kind.ACK), _sighting(21, Direction.OUT, 4, Kind.NAK)]
    seen = {
        Port("h2", 0): answers,
        towards_destination: [
            _sighting(10, Direction.OUT, 4),
            *(answer._replace(direction=Direction.IN) for answer in answers),
        ],
        towards_source: [_sighting(20 + least_us + 3, Direction.OUT, 4, Kind.ACK)],
    }
    events = packet_events(seen, NETWORK, "h1", "h2", {switch: (1, 2)})
    assert [(event.what, event.where, event.towards) for event in events] == [
        ("ACK sent", "h2", ""),
        ("NAK sent", "h2", ""),
        ("forwarded", switch, "h2"),
        ("ACK queued", switch, "h1"),
        ("NAK lost", switch, ""),
    ]
    assert round(events[3].wait_us or 0, 6) == 3.0
