# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The content of a network file, in the file's own names, and the checks that every format needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sfc_testbed.request.checks import MAX_RATE_BPS
from sfc_testbed.request.quantities import in_unit
from sfc_testbed.request.shown import nearest, shown
from sfc_testbed.topologies.model import MAX_PORT, TopologyError

MIN_RATE_BPS = 100_000
MAX_DELAY_NS = 1_000_000_000
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]{0,7}")
"""Names of nodes that are kept. An interface has the name of its node and port, with 15 characters at most."""


class NetworkFileError(TopologyError):
    """A network file that cannot be used; the message is one line that begins with the line in the file."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")


@dataclass(frozen=True, slots=True)
class DescribedLink:
    """A link of a file. A rate or delay is None if the file does not have it."""

    a: str
    b: str
    rate_bps: int | None = None
    delay_ns: int | None = None
    ports: tuple[int | None, int | None] = (None, None)
    """Port numbers at both ends, where the file has them."""


@dataclass(frozen=True)
class Description:
    """The nodes and links of a file."""

    hosts: Sequence[str]
    switches: Sequence[str]
    links: Sequence[DescribedLink]
    line_of: Callable[[int], int]
    """Returns the line of a link by its index."""
    may_repeat: bool = False
    """Whether two links between the same switches are two links, and not a mistake."""
    pass_latency_ns: Mapping[str, int] = field(default_factory=dict)
    """Latencies of switches, where the file has them."""
    notes: Sequence[str] = ()
    """Sentences about content of the file that is not used."""
    planes: int = 1
    """The number of networks without links between them. Each has an equal part of the hosts and of the switches."""


def bounded_rate(text: str, line: int | None = None) -> int:
    """Return a rate such as 100Gbps in bit/s. NetworkFileError if it is no rate or out of bounds."""
    return _bounded(text, "bps", (MIN_RATE_BPS, MAX_RATE_BPS), line)


def bounded_delay(text: str, line: int | None = None) -> int:
    """Return a delay such as 0.001ms in ns. NetworkFileError if it is no time or out of bounds."""
    return _bounded(text, "ns", (0, MAX_DELAY_NS), line)


def _bounded(text: str, unit: str, bounds: tuple[int, int], line: int | None) -> int:
    what, shown_unit = ("rate", "bit/s") if unit == "bps" else ("delay", "ns")
    try:
        value = in_unit(text, unit)
    except ValueError as error:
        raise NetworkFileError(f"{what} {error}", line) from error
    if not bounds[0] <= value <= bounds[1]:
        raise NetworkFileError(f"{what} must be from {bounds[0]} to {bounds[1]} {shown_unit}, not {shown(text)}", line)
    return round(value)


def check(described: Description) -> None:
    """Raise NetworkFileError, with the line, for links that cannot form a network of hosts with one NIC each."""
    if not described.hosts:
        raise NetworkFileError("no host in this file; a network needs hosts that send")
    if not described.switches:
        raise NetworkFileError("no switch in this file; every host needs a link to a switch")
    hosts, switches = set(described.hosts), set(described.switches)
    switch_of: dict[str, str] = {}
    earlier: dict[frozenset[str], int] = {}
    for number, link in enumerate(described.links):
        for node in (link.a, link.b):
            if node not in hosts and node not in switches:
                near = nearest(node, (*described.hosts, *described.switches))
                raise NetworkFileError(f"unknown node {shown(node)}{near}", described.line_of(number))
        refused = _refused(described, link, hosts, switch_of, earlier)
        if refused is not None:
            raise NetworkFileError(refused, described.line_of(number))
        earlier.setdefault(frozenset((link.a, link.b)), number)
    lonely = [host for host in described.hosts if host not in switch_of]
    if lonely:
        raise NetworkFileError(f"host {shown(lonely[0])} has no link")
    _check_ports(described, switches)
    _check_planes(described)
    for plane in range(described.planes):
        _check_connected(described, _part(described.hosts, plane, described.planes))


def _refused(
    described: Description,
    link: DescribedLink,
    hosts: set[str],
    switch_of: dict[str, str],
    earlier: Mapping[frozenset[str], int],
) -> str | None:
    """Return why a link is impossible, or note the switch of its host."""
    if link.a == link.b:
        return f"node {shown(link.a)} has a link to itself"
    ends = [node for node in (link.a, link.b) if node in hosts]
    if len(ends) > 1:
        return f"hosts {shown(link.a)} and {shown(link.b)} are linked; a host has a link to a switch"
    for host in ends:
        switch = link.b if host == link.a else link.a
        if host in switch_of:
            return (
                f"host {shown(host)} has a second link, to {shown(switch)} beside {shown(switch_of[host])}; "
                "a host has one NIC, so describe each NIC as a host"
            )
        switch_of[host] = switch
    before = earlier.get(frozenset((link.a, link.b)))
    if before is not None and not described.may_repeat:
        names = f"{shown(link.a)} and {shown(link.b)}"
        return f"{names} are already linked in line {described.line_of(before)}"
    return None


def _check_ports(described: Description, switches: set[str]) -> None:
    seen: dict[tuple[str, int], int] = {}
    for number, link in enumerate(described.links):
        for node, port in zip((link.a, link.b), link.ports, strict=True):
            if port is None or node not in switches:
                continue
            if not 1 <= port <= MAX_PORT:
                raise NetworkFileError(
                    f"port {port} of {shown(node)}: must be from 1 to {MAX_PORT}", described.line_of(number)
                )
            before = seen.setdefault((node, port), number)
            if before != number:
                line = described.line_of(before)
                raise NetworkFileError(
                    f"port {port} of {shown(node)} already has a link, in line {line}", described.line_of(number)
                )


def _part(nodes: Sequence[str], plane: int, planes: int) -> Sequence[str]:
    size = len(nodes) // planes
    return nodes[plane * size : (plane + 1) * size]


def _check_planes(described: Description) -> None:
    planes = described.planes
    for kind, nodes in (("hosts", described.hosts), ("switches", described.switches)):
        if len(nodes) % planes:
            raise NetworkFileError(f"{len(nodes)} {kind} cannot be divided among {planes} planes")
    plane_of = {
        node: plane
        for nodes in (described.hosts, described.switches)
        for plane in range(planes)
        for node in _part(nodes, plane, planes)
    }
    for number, link in enumerate(described.links):
        if plane_of[link.a] != plane_of[link.b]:
            raise NetworkFileError(
                f"{shown(link.a)} and {shown(link.b)} are linked, but are in different planes",
                described.line_of(number),
            )


def _check_connected(described: Description, hosts: Sequence[str]) -> None:
    """Raise NetworkFileError unless there are paths between all these hosts."""
    peers: dict[str, list[str]] = {node: [] for node in (*described.hosts, *described.switches)}
    for link in described.links:
        peers[link.a].append(link.b)
        peers[link.b].append(link.a)
    first = hosts[0]
    reached = {first}
    waiting = [first]
    while waiting:
        for peer in peers[waiting.pop()]:
            if peer not in reached:
                reached.add(peer)
                waiting.append(peer)
    cut = [host for host in hosts if host not in reached]
    if cut:
        raise NetworkFileError(
            f"the network is disconnected: no path from {shown(first)} to {shown(cut[0])} "
            f"({len(cut)} of {len(hosts)} hosts are out of reach)"
        )


def kept_names(names: Iterable[str], letter: str, taken: set[str]) -> dict[str, str]:
    """Return the name in the network of each name in a file: the same if possible, else a letter and a number.

    `taken` are names of other nodes, and the new names are added to it.
    """
    names = list(names)
    kept = {name: name for name in names if _NAME.fullmatch(name) and name not in taken and name != "all"}
    taken |= kept.keys()
    number = 0
    for name in names:
        if name not in kept:
            number += 1
            while f"{letter}{number}" in taken:
                number += 1
            kept[name] = f"{letter}{number}"
            taken.add(kept[name])
    return {name: kept[name] for name in names}
