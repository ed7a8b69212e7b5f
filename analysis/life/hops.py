# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What captures tell of a flow's packets on their way: sent, queued, lost, arrived, acknowledged.

A packet that came to a switch and did not leave it is lost in it or on the link behind it, if all ports were captured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analysis.life.captured import Kind, Sighting
from analysis.life.events import PacketEvent
from telemetry.captures.pcapng import Direction
from topologies.model import Port, Topology

_NS_PER_US = 1000.0
_ANSWERS = {Kind.ACK: "acknowledged", Kind.NAK: "asked again", Kind.RETURNED: "returned"}
_WAYS = {Kind.DATA: "queued", Kind.TRIMMED: "queued, trimmed", Kind.RETURNED: "queued, going back"}


def packet_events(
    seen: Mapping[Port, Sequence[Sighting]], topology: Topology, source: str, destination: str
) -> list[PacketEvent]:
    """Of all that was seen of a flow, by the end of the link at which it was seen."""
    found: list[PacketEvent] = []
    for end, own in seen.items():
        if end.node == source:
            found += _at_source(end.node, own)
        elif end.node == destination:
            arrived = (each for each in own if each.direction is Direction.IN and each.kind in _WAYS)
            found += [PacketEvent(each.time_us, end.node, "arrived", each.packet) for each in arrived]
    for switch in dict.fromkeys(end.node for end in seen if end.node in topology.switch):
        found += _at_switch(switch, {end: own for end, own in seen.items() if end.node == switch}, topology)
    return found


def unseen_ports(seen: Mapping[Port, object], topology: Topology) -> dict[str, list[int]]:
    """Of the switches of which some port was captured, those that were not."""
    unseen = {
        switch: [port.number for port in topology.ports[switch] if Port(switch, port.number) not in seen]
        for switch in dict.fromkeys(end.node for end in seen if end.node in topology.switch)
    }
    return {switch: ports for switch, ports in unseen.items() if ports}


def _at_source(host: str, seen: Sequence[Sighting]) -> Iterator[PacketEvent]:
    sent: set[int] = set()
    for each in seen:
        if each.direction is Direction.OUT and each.kind is Kind.DATA:
            yield PacketEvent(each.time_us, host, "resent" if each.packet in sent else "sent", each.packet)
            sent.add(each.packet)
        elif each.direction is Direction.IN and each.kind in _ANSWERS:
            yield PacketEvent(each.time_us, host, _ANSWERS[each.kind], each.packet)


def _at_switch(switch: str, seen: Mapping[Port, Sequence[Sighting]], topology: Topology) -> Iterator[PacketEvent]:
    is_whole = switch not in unseen_ports(seen, topology)
    arrivals: dict[int, list[float]] = {}
    for end, own in seen.items():
        for each in own:
            if each.direction is Direction.IN and each.kind in _WAYS:
                arrivals.setdefault(each.packet, []).append(each.time_us + _arrival_us(end, topology))
    departures = sorted(
        ((each, end) for end, own in seen.items() for each in own if _leaves(each)), key=lambda pair: pair[0].time_us
    )
    left: dict[int, int] = {}
    for each, _ in departures:
        left[each.packet] = left.get(each.packet, 0) + 1
    for each, end in departures:
        begun_us = each.time_us - _departure_us(end, each.frame_bytes, topology)
        came_us = _came_us(arrivals.get(each.packet, []), begun_us, left[each.packet])
        left[each.packet] -= 1
        towards = _neighbour(end, topology)
        if came_us is None:
            yield PacketEvent(each.time_us, switch, "passed on", each.packet, towards)
        else:
            yield PacketEvent(came_us, switch, _WAYS[each.kind], each.packet, towards, max(0.0, begun_us - came_us))
    if is_whole:
        for packet, times in arrivals.items():
            yield from (PacketEvent(time_us, switch, "lost here", packet) for time_us in times)


def _leaves(seen: Sighting) -> bool:
    return seen.direction is Direction.OUT and seen.kind in _WAYS


def _came_us(waiting: list[float], begun_us: float, departures: int) -> float | None:
    """Takes the arrival of a packet that starts to leave then. Of several the first, unless some will never leave: then
    the last one that it can have been."""
    able = [time_us for time_us in waiting if time_us <= begun_us + 1 / _NS_PER_US]
    if not able:
        return None
    came_us = min(able) if len(waiting) <= departures else max(able)
    waiting.remove(came_us)
    return came_us


def _arrival_us(end: Port, topology: Topology) -> float:
    """From where a host's frame is captured to the switch: its port makes the link's delay."""
    link = topology.link_at[end]
    return link.delay_ns / _NS_PER_US if {link.a.node, link.b.node} & set(topology.host) else 0.0


def _departure_us(end: Port, frame_bytes: int, topology: Topology) -> float:
    """From a queue to where a switch's frame is captured, across the link."""
    wire_ns = 8e9 * frame_bytes / topology.link_at[end].rate_bps
    return (wire_ns + topology.departure_delay_ns(end)) / _NS_PER_US


def _neighbour(end: Port, topology: Topology) -> str:
    link = topology.link_at[end]
    return link.b.node if link.a == end else link.a.node
