# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Derives the events of a flow's packets and their ACKs from captures: sent, queued, lost, arrived, acknowledged.

A packet that entered a switch and was not seen to leave it was lost in the switch or on the link behind it. Such losses
are reported only if all ports of the switch that lead to one of the flow's hosts were captured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import inf
from typing import TypeAlias

from sfc_testbed.analysis.life.captured import Sighting
from sfc_testbed.analysis.life.events import PacketEvent
from sfc_testbed.telemetry.captures.flow_packets import Kind
from sfc_testbed.telemetry.captures.pcapng import Direction
from sfc_testbed.topologies.model import Port, Topology

_NS_PER_US = 1000.0
_ANSWERS = {Kind.ACK: "acknowledged", Kind.NAK: "NAK received", Kind.RETURNED: "returned"}
_SENT_BACK = {Kind.ACK: "ACK sent", Kind.NAK: "NAK sent"}
_DATA = (Kind.DATA, Kind.TRIMMED, Kind.RETURNED)
"""The kinds that a data packet can have on its way."""
_QUEUED = {
    Kind.DATA: "queued",
    Kind.TRIMMED: "queued, trimmed",
    Kind.RETURNED: "queued, returning",
    Kind.ACK: "ACK queued",
    Kind.NAK: "NAK queued",
}
_Identity: TypeAlias = tuple[Kind, int]
_PREFIXES = {Kind.ACK: "ACK ", Kind.NAK: "NAK "}


def packet_events(
    captured: Mapping[Port, Sequence[Sighting]],
    topology: Topology,
    source: str,
    destination: str,
    needed: Mapping[str, Collection[int]],
) -> list[PacketEvent]:
    """Return the events of a flow's packets at hosts and switches.

    `captured`: the flow's packets in each captured port's capture. `needed`: the ports of each switch that the flow and
    its ACKs may use.
    """
    events: list[PacketEvent] = []
    for port, sightings in captured.items():
        if port.node == source:
            events += _at_source(port.node, sightings)
        elif port.node == destination:
            events += _at_destination(port.node, sightings)
    unseen = unseen_ports(captured, topology, needed)
    for switch in dict.fromkeys(port.node for port in captured if port.node in topology.switch):
        at_switch = {port: sightings for port, sightings in captured.items() if port.node == switch}
        events += _at_switch(switch, at_switch, topology, has_all_ports=switch not in unseen)
    return events


def unseen_ports(
    captured: Mapping[Port, object], topology: Topology, needed: Mapping[str, Collection[int]]
) -> dict[str, list[int]]:
    """Return the needed ports that were not captured, by switch, for the switches with at least one captured port."""
    unseen = {
        switch: [number for number in sorted(needed.get(switch, ())) if Port(switch, number) not in captured]
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


def _at_destination(host: str, sightings: Sequence[Sighting]) -> Iterator[PacketEvent]:
    for sighting in sightings:
        if sighting.direction is Direction.IN and sighting.kind in _DATA:
            yield PacketEvent(sighting.time_us, host, "arrived", sighting.packet)
        elif sighting.direction is Direction.OUT and sighting.kind in _SENT_BACK:
            yield PacketEvent(sighting.time_us, host, _SENT_BACK[sighting.kind], sighting.packet)


def _at_switch(
    switch: str, captured: Mapping[Port, Sequence[Sighting]], topology: Topology, *, has_all_ports: bool
) -> Iterator[PacketEvent]:
    arrivals: dict[_Identity, list[float]] = {}
    for port, sightings in captured.items():
        for sighting in sightings:
            if sighting.direction is Direction.IN:
                arrivals.setdefault(_identity(sighting), []).append(sighting.time_us + _arrival_us(port, topology))
    departures = sorted(
        (
            (sighting, port)
            for port, sightings in captured.items()
            for sighting in sightings
            if sighting.direction is Direction.OUT
        ),
        key=lambda departure: departure[0].time_us,
    )
    remaining = Counter(_identity(sighting) for sighting, _ in departures)
    for sighting, port in departures:
        identity = _identity(sighting)
        link_us = _departure_us(port, sighting.frame_bytes, topology)
        sending_us = sighting.time_us - link_us
        arrival_us = _take_arrival_us(arrivals.get(identity, []), sending_us, remaining[identity], link_us)
        remaining[identity] -= 1
        towards = topology.link_at[port].other(port).node
        if arrival_us is None:
            what = f"{_PREFIXES.get(sighting.kind, '')}forwarded"
            yield PacketEvent(sighting.time_us, switch, what, sighting.packet, towards)
        else:
            wait_us = max(0.0, sending_us - arrival_us)
            yield PacketEvent(arrival_us, switch, _QUEUED[sighting.kind], sighting.packet, towards, wait_us)
    if has_all_ports:
        for (kind, packet), times in arrivals.items():
            what = f"{_PREFIXES.get(kind, '')}lost"
            yield from (PacketEvent(time_us, switch, what, packet) for time_us in times)


def _identity(sighting: Sighting) -> _Identity:
    """Return what tells packets of a flow apart. A data packet stays the same if a switch trims or returns it."""
    return Kind.DATA if sighting.kind in _DATA else sighting.kind, sighting.packet


def _take_arrival_us(arrivals: list[float], sending_us: float, departures: int, slack_us: float) -> float | None:
    """Remove and return the arrival that belongs to a departure which began at `sending_us`; None if there is none.

    With as many departures as arrivals, this is the first arrival. With more arrivals, some copies were lost: then it
    is the last arrival before the departure. The kernel may note the arrival of a live packet up to `slack_us` late.
    """
    earlier = [time_us for time_us in arrivals if time_us <= sending_us + 1 / _NS_PER_US]
    if earlier:
        arrival_us = min(earlier) if len(arrivals) <= departures else max(earlier)
    else:
        arrival_us = min(arrivals, default=inf)
        if arrival_us > sending_us + slack_us:
            return None
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
