# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Derives the events of a flow's packets from captures: sent, queued, lost, arrived, acknowledged.

A packet that entered a switch and was not seen to leave it was lost in the switch or on the link behind it. Such losses
are reported only if all ports of the switch were captured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analysis.life.captured import Kind, Sighting
from analysis.life.events import PacketEvent
from telemetry.captures.pcapng import Direction
from topologies.model import Port, Topology

_NS_PER_US = 1000.0
_ANSWERS = {Kind.ACK: "acknowledged", Kind.NAK: "NAK received", Kind.RETURNED: "returned"}
_FORWARDED = {Kind.DATA: "queued", Kind.TRIMMED: "queued, trimmed", Kind.RETURNED: "queued, returning"}
"""The packets that switches queue, and the name of the event."""


def packet_events(
    captured: Mapping[Port, Sequence[Sighting]], topology: Topology, source: str, destination: str
) -> list[PacketEvent]:
    """Return the events of a flow's packets at hosts and switches.

    `captured`: the flow's packets in each captured port's capture.
    """
    events: list[PacketEvent] = []
    for port, sightings in captured.items():
        if port.node == source:
            events += _at_source(port.node, sightings)
        elif port.node == destination:
            arrived = (packet for packet in sightings if packet.direction is Direction.IN and packet.kind in _FORWARDED)
            events += [PacketEvent(packet.time_us, port.node, "arrived", packet.packet) for packet in arrived]
    for switch in dict.fromkeys(port.node for port in captured if port.node in topology.switch):
        at_switch = {port: sightings for port, sightings in captured.items() if port.node == switch}
        events += _at_switch(switch, at_switch, topology)
    return events


def unseen_ports(captured: Mapping[Port, object], topology: Topology) -> dict[str, list[int]]:
    """Return the ports that were not captured, by switch, for the switches with at least one captured port."""
    unseen = {
        switch: [port.number for port in topology.ports[switch] if Port(switch, port.number) not in captured]
        for switch in dict.fromkeys(port.node for port in captured if port.node in topology.switch)
    }
    return {switch: ports for switch, ports in unseen.items() if ports}


def _at_source(host: str, sightings: Sequence[Sighting]) -> Iterator[PacketEvent]:
    sent: set[int] = set()
    for sighting in sightings:
        if sighting.direction is Direction.OUT and sighting.kind is Kind.DATA:
            yield PacketEvent(sighting.time_us, host, "resent" if sighting.packet in sent else "sent", sighting.packet)
            sent.add(sighting.packet)
        elif sighting.direction is Direction.IN and sighting.kind in _ANSWERS:
            yield PacketEvent(sighting.time_us, host, _ANSWERS[sighting.kind], sighting.packet)


def _at_switch(switch: str, captured: Mapping[Port, Sequence[Sighting]], topology: Topology) -> Iterator[PacketEvent]:
    has_all_ports = switch not in unseen_ports(captured, topology)
    arrivals: dict[int, list[float]] = {}
    for port, sightings in captured.items():
        for sighting in sightings:
            if sighting.direction is Direction.IN and sighting.kind in _FORWARDED:
                arrivals.setdefault(sighting.packet, []).append(sighting.time_us + _arrival_us(port, topology))
    departures = sorted(
        ((sighting, port) for port, sightings in captured.items() for sighting in sightings if _leaves(sighting)),
        key=lambda departure: departure[0].time_us,
    )
    remaining: dict[int, int] = {}
    for sighting, _ in departures:
        remaining[sighting.packet] = remaining.get(sighting.packet, 0) + 1
    for sighting, port in departures:
        packet = sighting.packet
        sending_us = sighting.time_us - _departure_us(port, sighting.frame_bytes, topology)
        arrival_us = _take_arrival_us(arrivals.get(packet, []), sending_us, remaining[packet])
        remaining[packet] -= 1
        towards = _neighbour(port, topology)
        if arrival_us is None:
            yield PacketEvent(sighting.time_us, switch, "forwarded", packet, towards)
        else:
            wait_us = max(0.0, sending_us - arrival_us)
            yield PacketEvent(arrival_us, switch, _FORWARDED[sighting.kind], packet, towards, wait_us)
    if has_all_ports:
        for packet, times in arrivals.items():
            yield from (PacketEvent(time_us, switch, "lost", packet) for time_us in times)


def _leaves(sighting: Sighting) -> bool:
    return sighting.direction is Direction.OUT and sighting.kind in _FORWARDED


def _take_arrival_us(arrivals: list[float], sending_us: float, departures: int) -> float | None:
    """Remove and return the arrival that belongs to a departure which began at `sending_us`; None if there is none.

    With as many departures as arrivals, this is the first arrival. With more arrivals, some copies were lost: then it
    is the last arrival before the departure.
    """
    earlier = [time_us for time_us in arrivals if time_us <= sending_us + 1 / _NS_PER_US]
    if not earlier:
        return None
    arrival_us = min(earlier) if len(arrivals) <= departures else max(earlier)
    arrivals.remove(arrival_us)
    return arrival_us


def _arrival_us(end: Port, topology: Topology) -> float:
    """Return the time from the capture of an incoming frame to its arrival at the switch, in µs.

    A frame from a host is captured before the link's delay, which the switch's port adds.
    """
    link = topology.link_at[end]
    return link.delay_ns / _NS_PER_US if {link.a.node, link.b.node} & set(topology.host) else 0.0


def _departure_us(end: Port, frame_bytes: int, topology: Topology) -> float:
    """Return the time from a frame's departure from the queue to its capture behind the link, in µs."""
    wire_ns = 8e9 * frame_bytes / topology.link_at[end].rate_bps
    return (wire_ns + topology.departure_delay_ns(end)) / _NS_PER_US


def _neighbour(end: Port, topology: Topology) -> str:
    link = topology.link_at[end]
    return link.b.node if link.a == end else link.a.node
