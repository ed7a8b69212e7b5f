# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Impairments of links as commands to the switches at their ends. Times are model time, but wall time in commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from zlib import crc32

from scenarios.faults.fault import Fault
from scenarios.faults.impairments import Impairment
from topologies.model import Port, Topology
from wire.dilation import Dilation


def impairment_commands(
    topology: Topology, faults: Iterable[Fault], dilation: Dilation
) -> Iterator[tuple[int, str, str]]:
    """Yield time, switch and command of each change, ordered so that an impairment ends before the next begins."""
    impairments = [fault for fault in faults if isinstance(fault, Impairment)]
    for fault in sorted(impairments, key=lambda impairment: impairment.from_ns):
        for sender, receiver in fault.directions(topology):
            yield from _commands(topology, fault, sender, receiver, dilation)


def longest_hold_ns(faults: Iterable[Fault]) -> int:
    """Return the longest time by which impairments may delay a frame beyond its links' delays."""
    return sum(fault.hold_ns for fault in faults if isinstance(fault, Impairment))


def _commands(
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
