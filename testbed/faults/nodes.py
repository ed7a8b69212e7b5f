# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Faults of nodes: the commands to switches and the stalls of hosts. Times are model time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hosts.agent_config import HostStall
from scenarios.faults.fault import Fault
from scenarios.faults.nodes import Stall, SwitchRestart
from topologies.model import Topology

END_OF_STALL = "stall off"


def node_lines(topology: Topology, faults: Sequence[Fault]) -> Iterator[tuple[int, str, str]]:
    """Yield (time since the start, switch, command). Sorting by time must be stable, to keep the order at one instant.

    Overlapping faults of one kind on a switch end with the last one.
    """
    restarts = [fault for fault in faults if isinstance(fault, SwitchRestart)]
    stalls = [fault for fault in faults if isinstance(fault, Stall) and fault.place in topology.switch]
    down_spans = [(restart.place, restart.at_ns, restart.up_ns) for restart in restarts]
    stall_spans = [(stall.place, stall.at_ns, stall.until_ns) for stall in stalls]
    for place, begin_ns, end_ns in down_spans:
        yield begin_ns, place, "power off"
        if not _holds(down_spans, place, end_ns):
            yield end_ns, place, "power on"
    for stall, (place, begin_ns, end_ns) in zip(stalls, stall_spans, strict=True):
        yield begin_ns, place, f"stall on {stall.ring_frames}"
        if not _holds(stall_spans, place, end_ns):
            yield end_ns, place, END_OF_STALL


def _holds(spans: Iterable[tuple[str, int, int]], place: str, at_ns: int) -> bool:
    return any(name == place and begin_ns <= at_ns < end_ns for name, begin_ns, end_ns in spans)


def host_stalls(topology: Topology, faults: Iterable[Fault]) -> dict[str, tuple[HostStall, ...]]:
    """Return the stalls of each host that has any."""
    stalls: dict[str, tuple[HostStall, ...]] = {}
    for fault in faults:
        if isinstance(fault, Stall) and fault.place in topology.host:
            stall = HostStall(at_ns=fault.at_ns, for_ns=fault.for_ns, ring_frames=fault.ring_frames)
            stalls[fault.place] = (*stalls.get(fault.place, ()), stall)
    return stalls
