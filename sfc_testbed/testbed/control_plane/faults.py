# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The faults of a run as timed commands to switches, and the stalls of hosts, for both clocks. Times are model time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

from sfc_testbed.hosts.agent_config import HostStall
from sfc_testbed.scenarios.faults.fault import Fault
from sfc_testbed.scenarios.faults.impairments import Impairment
from sfc_testbed.scenarios.faults.links import LinkDown
from sfc_testbed.scenarios.faults.nodes import Stall, SwitchRestart
from sfc_testbed.testbed.control_plane.commands import Configured
from sfc_testbed.testbed.control_plane.rerouting import Rerouting
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.control_plane.slow_links import slow_link_lines
from sfc_testbed.topologies.model import Link, Port, Topology
from sfc_testbed.wire.dilation import Dilation

END_OF_STALL = "stall off"


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

    def is_at(self, time_ns: int) -> bool:
        return self.begin_ns <= time_ns and (self.end_ns is None or time_ns < self.end_ns)

    def later(self, delay_ns: int) -> _Outage:
        """Return the outage as switches know of it after a detection delay."""
        return _Outage(self.link, self.begin_ns + delay_ns, None if self.end_ns is None else self.end_ns + delay_ns)


def fault_commands(
    topology: Topology, faults: Sequence[Fault], dilation: Dilation, configured: Configured
) -> Sequence[PlannedCommand]:
    """Return all commands in order of time. At the same time, links and nodes change before routes.

    Times in the text of a command are wall ns. `configured` is the configuration that slow links change.
    """
    cut = [(link, fault) for fault in faults if isinstance(fault, LinkDown) for link in fault.links(topology)]
    outages = [_Outage(link, fault.down_ns, fault.up_ns) for link, fault in cut]
    detected = [outage.later(fault.detect_ns) for outage, (_, fault) in zip(outages, cut, strict=True)]
    detected += _detected_restarts(topology, faults)
    lines = [
        *slow_link_lines(topology, faults, dilation, configured),
        *_node_lines(topology, faults),
        *_impairment_commands(topology, faults, dilation),
    ]
    commands = [
        *_link_commands(topology, outages),
        *(PlannedCommand(*line) for line in lines),
        *_route_commands(topology, detected, configured.settings),
    ]
    return sorted(commands, key=lambda command: command.time_ns)


def _detected_restarts(topology: Topology, faults: Iterable[Fault]) -> Iterator[_Outage]:
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


def _route_commands(
    topology: Topology, detected: Sequence[_Outage], settings: SwitchSettings
) -> Iterator[PlannedCommand]:
    rerouting = Rerouting(topology, settings)
    for time_ns in _times(detected):
        for switch, changes in rerouting.around(_dead_at(time_ns, detected)).items():
            yield from (PlannedCommand(time_ns, switch, str(change)) for change in changes)


def _times(outages: Iterable[_Outage]) -> list[int]:
    edges = {edge for outage in outages for edge in (outage.begin_ns, outage.end_ns)}
    return sorted(edge for edge in edges if edge is not None)


def _dead_at(time_ns: int, outages: Iterable[_Outage]) -> frozenset[Link]:
    return frozenset(outage.link for outage in outages if outage.is_at(time_ns))


def _node_lines(topology: Topology, faults: Sequence[Fault]) -> Iterator[tuple[int, str, str]]:
    """Yield (time since the start, switch, command). Sorting by time must be stable, to keep the order at one instant.

    Adjacent faults of one kind on a switch end with the last one.
    """
    restarts = [fault for fault in faults if isinstance(fault, SwitchRestart)]
    stalls = [fault for fault in faults if isinstance(fault, Stall) and fault.place in topology.switch]
    down_spans = [(restart.place, restart.at_ns, restart.up_ns) for restart in restarts]
    stall_spans = [(stall.place, stall.at_ns, stall.until_ns) for stall in stalls]
    for place, begin_ns, end_ns in down_spans:
        yield begin_ns, place, "power off"
        if not _is_within(down_spans, place, end_ns):
            yield end_ns, place, "power on"
    for stall, (place, begin_ns, end_ns) in zip(stalls, stall_spans, strict=True):
        yield begin_ns, place, f"stall on {stall.ring_frames}"
        if not _is_within(stall_spans, place, end_ns):
            yield end_ns, place, END_OF_STALL


def _is_within(spans: Iterable[tuple[str, int, int]], place: str, at_ns: int) -> bool:
    return any(name == place and begin_ns <= at_ns < end_ns for name, begin_ns, end_ns in spans)


def host_stalls(topology: Topology, faults: Iterable[Fault]) -> dict[str, tuple[HostStall, ...]]:
    """Return the stalls of each host that has any."""
    stalls: dict[str, tuple[HostStall, ...]] = {}
    for fault in faults:
        if isinstance(fault, Stall) and fault.place in topology.host:
            stall = HostStall(at_ns=fault.at_ns, for_ns=fault.for_ns, ring_frames=fault.ring_frames)
            stalls[fault.place] = (*stalls.get(fault.place, ()), stall)
    return stalls


def _impairment_commands(
    topology: Topology, faults: Iterable[Fault], dilation: Dilation
) -> Iterator[tuple[int, str, str]]:
    """Yield time, switch and command of each change, ordered so that an impairment ends before the next begins."""
    impairments = [fault for fault in faults if isinstance(fault, Impairment)]
    for fault in sorted(impairments, key=lambda impairment: impairment.from_ns):
        for sender, receiver in fault.directions(topology):
            yield from _directed_commands(topology, fault, sender, receiver, dilation)


def longest_hold_ns(faults: Iterable[Fault]) -> int:
    """Return the longest time by which impairments may delay a frame beyond its links' delays."""
    return sum(fault.hold_ns for fault in faults if isinstance(fault, Impairment))


def _directed_commands(
    topology: Topology, fault: Impairment, sender: Port, receiver: Port, dilation: Dilation
) -> Iterator[tuple[int, str, str]]:
    """Yield the commands for one direction. A host's frames are impaired where they enter its switch."""
    is_sent = sender.node in topology.switch
    port = sender if is_sent else receiver
    words = f"port_impair {port.number} {'out' if is_sent else 'in'} {fault.switch_kind or fault.kind}"
    settings = [f"rate_ppb={fault.rate_ppb}", f"seed={_seed(fault, sender)}"]
    if fault.hold_ns:
        settings.append(f"time_ns={dilation.wall_ns(fault.hold_ns)}")
    if fault.udp_port is not None:
        settings.append(f"udp_port={fault.udp_port}")
    yield fault.from_ns, port.node, " ".join([words, *settings])
    if fault.until_ns is not None:
        yield fault.until_ns, port.node, f"{words} off"


def _seed(fault: Impairment, sender: Port) -> int:
    """Return a seed that differs between links, directions and faults."""
    return (fault.seed or 0) << 32 | crc32(f"{sender.node} {sender.number}".encode())
