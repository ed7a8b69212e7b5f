# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The faults of a run as timed commands to switches, for both clocks. Times are model time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from scenarios.faults.fault import Fault
from scenarios.faults.kinds import LinkDown
from scenarios.faults.nodes import SwitchRestart
from testbed.control_plane.rerouting import Rerouting
from testbed.faults.impairments import impairment_commands
from testbed.faults.nodes import node_lines
from topologies.model import Link, Topology
from wire.dilation import Dilation


@dataclass(frozen=True)
class PlannedCommand:
    """A command to a switch, and its time since the start of the run."""

    time_ns: int
    switch: str
    line: str


@dataclass(frozen=True)
class _Outage:
    """A time during which a link is dead. `end_ns` None: for the rest of the run."""

    link: Link
    begin_ns: int
    end_ns: int | None

    def holds_at(self, time_ns: int) -> bool:
        return self.begin_ns <= time_ns and (self.end_ns is None or time_ns < self.end_ns)

    def later(self, delay_ns: int) -> _Outage:
        """Return the outage as switches know of it after a detection delay."""
        return _Outage(self.link, self.begin_ns + delay_ns, None if self.end_ns is None else self.end_ns + delay_ns)


def fault_commands(topology: Topology, faults: Sequence[Fault], dilation: Dilation) -> Sequence[PlannedCommand]:
    """Return all commands in order of time. At the same time, links and nodes change before routes.

    Times in the text of a command are wall ns.
    """
    cut = [(link, fault) for fault in faults if isinstance(fault, LinkDown) for link in fault.links(topology)]
    outages = [_Outage(link, fault.down_ns, fault.up_ns) for link, fault in cut]
    known = [outage.later(fault.detect_ns) for outage, (_, fault) in zip(outages, cut, strict=True)]
    known += _known_restarts(topology, faults)
    lines = [*node_lines(topology, faults), *impairment_commands(topology, faults, dilation)]
    commands = [
        *_link_commands(topology, outages),
        *(PlannedCommand(*line) for line in lines),
        *_route_commands(topology, known),
    ]
    return sorted(commands, key=lambda command: command.time_ns)


def _known_restarts(topology: Topology, faults: Iterable[Fault]) -> Iterator[_Outage]:
    """Yield the outages that other switches detect when a switch restarts: one for each of its links."""
    for fault in faults:
        if isinstance(fault, SwitchRestart) and fault.detect_ns is not None:
            for link in topology.links:
                if fault.place in (link.a.node, link.b.node):
                    yield _Outage(link, fault.at_ns, fault.up_ns).later(fault.detect_ns)


def _link_commands(topology: Topology, outages: Sequence[_Outage]) -> Iterator[PlannedCommand]:
    dead: frozenset[Link] = frozenset()
    for time_ns in _times(outages):
        now = _dead_at(time_ns, outages)
        for link in topology.links:
            if link in dead ^ now:
                yield from _link_command(topology, time_ns, link, "down" if link in now else "up")
        dead = now


def _link_command(topology: Topology, time_ns: int, link: Link, state: str) -> Iterator[PlannedCommand]:
    """Yield the commands for both ends of a link. A host's end needs none, since the switch's port models it."""
    for end in (link.a, link.b):
        if end.node in topology.switch:
            yield PlannedCommand(time_ns, end.node, f"port_link {end.number} {state}")


def _route_commands(topology: Topology, known: Sequence[_Outage]) -> Iterator[PlannedCommand]:
    rerouting = Rerouting(topology)
    for time_ns in _times(known):
        for switch, lines in rerouting.around(_dead_at(time_ns, known)).items():
            yield from (PlannedCommand(time_ns, switch, line) for line in lines)


def _times(outages: Iterable[_Outage]) -> list[int]:
    edges = {edge for outage in outages for edge in (outage.begin_ns, outage.end_ns)}
    return sorted(edge for edge in edges if edge is not None)


def _dead_at(time_ns: int, outages: Iterable[_Outage]) -> frozenset[Link]:
    return frozenset(outage.link for outage in outages if outage.holds_at(time_ns))
