# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Faults of nodes: what a switch is told and when, and when hosts stand still. Model units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hosts.agent_config import HostStall
from scenarios.faults.fault import Fault
from scenarios.faults.nodes import Stall, SwitchRestart
from topologies.model import Topology

END_OF_STALL = "stall off"


def node_lines(topology: Topology, faults: Sequence[Fault]) -> Iterator[tuple[int, str, str]]:
    """(since the start, switch, command); those of one instant in an order that leaves what should hold.

    Faults of one kind that overlap on a switch end with the last.
    """
    restarts = [fault for fault in faults if isinstance(fault, SwitchRestart)]
    stalls = [fault for fault in faults if isinstance(fault, Stall) and fault.place in topology.switch]
    downs = [(each.place, each.at_ns, each.up_ns) for each in restarts]
    stills = [(each.place, each.at_ns, each.until_ns) for each in stalls]
    for place, begin_ns, end_ns in downs:
        yield begin_ns, place, "power off"
        if not _holds(downs, place, end_ns):
            yield end_ns, place, "power on"
    for stall, (place, begin_ns, end_ns) in zip(stalls, stills, strict=True):
        yield begin_ns, place, f"stall on {stall.ring_frames}"
        if not _holds(stills, place, end_ns):
            yield end_ns, place, END_OF_STALL


def _holds(spans: Iterable[tuple[str, int, int]], place: str, at_ns: int) -> bool:
    return any(name == place and begin_ns <= at_ns < end_ns for name, begin_ns, end_ns in spans)


def host_stalls(topology: Topology, faults: Iterable[Fault]) -> dict[str, tuple[HostStall, ...]]:
    """When hosts stand still, those that do."""
    found: dict[str, tuple[HostStall, ...]] = {}
    for fault in faults:
        if isinstance(fault, Stall) and fault.place in topology.host:
            stall = HostStall(at_ns=fault.at_ns, for_ns=fault.for_ns, ring_frames=fault.ring_frames)
            found[fault.place] = (*found.get(fault.place, ()), stall)
    return found
