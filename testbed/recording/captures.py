# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Where the captures of a run go on either clock, and how what tcpdump wrote becomes one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from itertools import count
from operator import itemgetter
from pathlib import Path

from telemetry.captures.clock import CaptureClock
from telemetry.captures.pcap import read_pcap
from telemetry.captures.pcapng import CaptureWriter, Direction
from testbed.targets.common.interfaces import interface_of
from topologies.model import Port, Topology, port_mac
from wire.addresses import pack_mac, parse_mac

FOLDER = "pcaps"
SUFFIX = ".pcapng"
_SOURCE = slice(6, 12)


def capture_folder(run_folder: Path, ports: Sequence[Port]) -> Path:
    """Made only if something is captured."""
    folder = run_folder / FOLDER
    if ports:
        folder.mkdir(exist_ok=True)
    return folder


def make_way(path: Path) -> None:
    """For a capture of that name: one that is there already gets a number, the next that is free."""
    numbered = (path.with_stem(f"{path.stem}-{number}") for number in count(1))
    if path.exists():
        path.rename(next(free for free in numbered if not free.exists()))


class Directions:
    """Which way a frame went at one end of a link. Every node sends under its own address, whatever it forwards."""

    def __init__(self, topology: Topology, end: Port) -> None:
        link = topology.link_at[end]
        self._own = _mac(topology, end)
        self._neighbour = _mac(topology, link.b if link.a == end else link.a)

    def of(self, frame: bytes) -> Direction:
        """Unknown of a frame that neither end sends by itself."""
        source = frame[_SOURCE]
        if source == self._own:
            return Direction.OUT
        return Direction.IN if source == self._neighbour else Direction.UNKNOWN


def _mac(topology: Topology, end: Port) -> bytes:
    host = topology.host.get(end.node)
    text = port_mac(topology.switch[end.node].switch_id, end.number) if host is None else host.mac
    return pack_mac(parse_mac(text))


def convert(pcaps: Mapping[Path, Direction], path: Path, topology: Topology, end: Port, clock: CaptureClock) -> None:
    """Makes one capture of what tcpdump wrote at an end of a link, which says how its times become model times, and
    removes the parts. Where a part does not say which way its frames went, they do. CaptureError, OSError."""
    directions = Directions(topology, end)
    parts = [_part(pcap, told, directions) for pcap, told in pcaps.items()]
    with CaptureWriter(path, interface_of(topology, end), clock) as writer:
        for time_ns, direction, frame in merge(*parts, key=itemgetter(0)):
            writer.write(time_ns, frame, direction)
    for pcap in pcaps:
        pcap.unlink()


def _part(pcap: Path, told: Direction, directions: Directions) -> Iterator[tuple[int, Direction, bytes]]:
    for time_ns, frame in read_pcap(pcap):
        yield time_ns, told or directions.of(frame), frame
