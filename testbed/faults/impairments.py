# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Impairments of links as commands to the switches at their ends. Model units but for what stands in a command."""

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
    """When which switch is told what; where one impairment ends as another begins, the end comes first."""
    found = [each for each in faults if isinstance(each, Impairment)]
    for fault in sorted(found, key=lambda each: each.from_ns):
        for sender, receiver in fault.directions(topology):
            yield from _commands(topology, fault, sender, receiver, dilation)


def longest_hold_ns(faults: Iterable[Fault]) -> int:
    """How long a frame may be under way beyond what its links take."""
    return sum(fault.hold_ns for fault in faults if isinstance(fault, Impairment))


def _commands(
    topology: Topology, fault: Impairment, sender: Port, receiver: Port, dilation: Dilation
) -> Iterator[tuple[int, str, str]]:
    """What a host sends is impaired where it arrives; a host's link is its switch's port."""
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
    """Links of one fault share no chance, nor do the two directions of a link."""
    return (fault.seed or 0) << 32 | crc32(f"{sender.node} {sender.number}".encode())
