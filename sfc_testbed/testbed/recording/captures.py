# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The files of a run's packet captures, for both clocks, and the conversion of tcpdump's output to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from itertools import count
from operator import itemgetter
from pathlib import Path

from sfc_testbed.telemetry.captures.clock import CaptureClock
from sfc_testbed.telemetry.captures.flow_packets import FlowFilter
from sfc_testbed.telemetry.captures.pcap import read_pcap
from sfc_testbed.telemetry.captures.pcapng import CaptureWriter, Direction
from sfc_testbed.testbed.targets.common.interfaces import interface_of
from sfc_testbed.topologies.model import Port, Topology, port_mac
from sfc_testbed.wire.addresses import pack_mac, parse_mac

FOLDER = "pcaps"
SUFFIX = ".pcapng"
_SOURCE = slice(6, 12)


def capture_folder(run_folder: Path, ports: Sequence[Port]) -> Path:
    """Return the folder of captures, and create it if any port is captured."""
    folder = run_folder / FOLDER
    if ports:
        folder.mkdir(exist_ok=True)
    return folder


def make_way(path: Path) -> None:
    """Rename an existing capture with this path, by appending the next free number."""
    numbered = (path.with_stem(f"{path.stem}-{number}") for number in count(1))
    if path.exists():
        path.rename(next(candidate for candidate in numbered if not candidate.exists()))


class Directions:
    """Finds the direction of frames at one end of a link by their source MAC, which every node sets to its own."""

    def __init__(self, topology: Topology, end: Port) -> None:
        self._local = _mac(topology, end)
        self._neighbour = _mac(topology, topology.link_at[end].other(end))

    def of(self, frame: bytes) -> Direction:
        """Return the direction of a frame, or unknown if its source is neither end of the link."""
        source = frame[_SOURCE]
        if source == self._local:
            return Direction.OUT
        return Direction.IN if source == self._neighbour else Direction.UNKNOWN


def _mac(topology: Topology, end: Port) -> bytes:
    host = topology.host.get(end.node)
    text = port_mac(topology.switch[end.node].switch_id, end.number) if host is None else host.mac
    return pack_mac(parse_mac(text))


def convert(
    pcaps: Mapping[Path, Direction],
    path: Path,
    topology: Topology,
    end: Port,
    clock: CaptureClock,
    flows: FlowFilter | None = None,
) -> None:
    """Merge tcpdump's files from one end of a link into one capture with model times, and remove the files.

    `clock` converts the times. If the direction of a file is unknown, its frames' addresses determine it. Only frames
    of `flows` are kept, if given. Raise CaptureError or OSError.
    """
    directions = Directions(topology, end)
    parts = [_part(pcap, direction, directions) for pcap, direction in pcaps.items()]
    with CaptureWriter(path, interface_of(topology, end), clock) as writer:
        for time_ns, direction, frame in merge(*parts, key=itemgetter(0)):
            if flows is None or flows.selects(frame):
                writer.write(time_ns, frame, direction)
    for pcap in pcaps:
        pcap.unlink()


def _part(pcap: Path, direction: Direction, directions: Directions) -> Iterator[tuple[int, Direction, bytes]]:
    for time_ns, frame in read_pcap(pcap):
        yield time_ns, direction or directions.of(frame), frame
