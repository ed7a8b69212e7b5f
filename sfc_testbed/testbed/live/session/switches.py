# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads the queues and pause caches of switches, and changes port rates, with control commands of any target."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Protocol

from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.testbed.control_plane.entries import ChangedEntry, TableEntry
from sfc_testbed.testbed.control_plane.features import pause_time_entry, telemetry_entry
from sfc_testbed.testbed.control_plane.fixed_point import FixedPointError
from sfc_testbed.testbed.control_plane.load_balancing import conga_link
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.topologies.model import SwitchPort, Topology
from sfc_testbed.wire.constants import (
    CACHE_KEY_ADDRESS_SHIFT,
    CACHE_KEY_DSCP_SHIFT,
    CACHE_RING_PLACES,
    CLASS_BITS,
    CLASS_COUNT,
    CLASS_DATA,
    DSCP_MASK,
)
from sfc_testbed.wire.dilation import Dilation

_COMPILER_PREFIX = "tbl_"


class Commanded(Protocol):
    """A switch that executes control commands."""

    name: str

    def command(self, line: str) -> str:
        """Execute a command and return its output; raise ValueError if it is refused."""


@dataclass(frozen=True)
class QueueDepth:
    """The bytes queued in one queue."""

    switch: str
    port: SwitchPort
    traffic_class: int
    held_bytes: int
    """The size of the queued frames, with headers."""


@dataclass(frozen=True)
class CachedPause:
    """An entry of a pause cache, in model units."""

    address: IPv4Address
    host: str
    dscp: int
    left_us: float
    """The remaining pause; negative for a pause that is over but still in the cache."""


@dataclass(frozen=True)
class PauseCache:
    """The entries of a switch's pause cache, and the most entries that it has ever had."""

    entries: tuple[CachedPause, ...]
    most_entries: int


def queue_depths(topology: Topology, switch: Commanded) -> Iterator[QueueDepth]:
    """Yield the non-empty queues of a switch. One command reads all of them, so that they are consistent."""
    cells = switch.command("register_read queue_bytes").partition("=")[2].split(",")
    for port in topology.ports[switch.name]:
        for traffic_class in range(CLASS_COUNT):
            held_bytes = int(cells[port.number << CLASS_BITS | traffic_class])
            if held_bytes:
                yield QueueDepth(switch.name, port, traffic_class, held_bytes)


def pause_cache(topology: Topology, switch: Commanded, dilation: Dilation, clock_zero_ns: int) -> PauseCache:
    """Return the live entries of a switch whose clock was at 0 at `clock_zero_ns` of CLOCK_MONOTONIC.

    Each packet advances the ring, also between two reads. So a place that appears twice is one entry, and a place
    without a key was cleared meanwhile.
    """
    head, tail = (register(switch, "cache_ring_ends", end) for end in (0, 1))
    now_ns = time.monotonic_ns() - clock_zero_ns
    entries = []
    turns = range(max(head, tail - CACHE_RING_PLACES), tail)
    for place in dict.fromkeys(register(switch, "cache_ring", turn % CACHE_RING_PLACES) for turn in turns):
        key = register(switch, "cache_key", place)
        if not key:
            continue
        end_ns = register(switch, "cache_end_us", place) * 1000
        address = IPv4Address(key >> CACHE_KEY_ADDRESS_SHIFT)
        host = next((topology_host.name for topology_host in topology.hosts if topology_host.ip == address), "?")
        dscp = key >> CACHE_KEY_DSCP_SHIFT & DSCP_MASK
        entries.append(CachedPause(address, host, dscp, dilation.model_us(end_ns - now_ns)))
    return PauseCache(tuple(entries), register(switch, "cache_max_entries", 0))


def pauses_class(switch: Commanded, port: int) -> bool:
    """Return whether a switch has paused the data class of its neighbour at a port (PFC)."""
    return bool(register(switch, "pfc_is_paused", port << CLASS_BITS | CLASS_DATA))


def paused_queues(switch: Commanded, port: int) -> int:
    """Return how many of a switch's flow queues at a port are paused by its neighbour (BFC)."""
    return register(switch, "bfc_paused_queues", port).bit_count()


def register(switch: Commanded, name: str, index: int) -> int:
    """Return one cell of a register."""
    return int(switch.command(f"register_read {name} {index}").rpartition("=")[2])


def set_rate(
    topology: Topology,
    switch: Commanded,
    port: SwitchPort,
    rate_bps: int,
    dilation: Dilation,
    settings: SwitchSettings,
) -> None:
    """Change the model rate of a port, also in the P4 program's tables, on which pauses, telemetry and CONGA depend.

    Raise UsageError, and change nothing, for a rate for which the P4 program cannot compute pauses.
    """
    try:
        pause_time = pause_time_entry(settings, port, rate_bps, dilation)
        link = conga_link(settings, port.number, rate_bps, dilation)
    except FixedPointError as error:
        raise UsageError(str(error)) from error
    switch.command(f"port_rate {port.number} {dilation.wall_bps(rate_bps)}")
    _modify(switch, pause_time)
    _modify(switch, telemetry_entry(topology, port.number, rate_bps, dilation))
    _modify(switch, link)


def check_rates_have_codes(transport: TransportSettings, rates_gbps: Iterable[float]) -> None:
    """Raise UsageError for a port rate for which compact telemetry has no code, if the NICs use that layout."""
    known_gbps = [rate_bps / 1e9 for rate_bps in transport.link_rates_bps]
    for gbps in rates_gbps:
        if known_gbps and gbps not in known_gbps:
            choices = ", ".join(f"{known:g}" for known in known_gbps)
            raise UsageError(
                f"a port rate of {gbps:g} Gb/s has no code in compact telemetry; choose from {choices} Gb/s, "
                "or start with --set transport.int_layout=growing"
            )


def _modify(switch: Commanded, new: TableEntry) -> None:
    """Change the action of the entry with the new one's exact key; do nothing without such an entry."""
    for line in switch.command(f"table_dump {new.table}").splitlines():
        entry, _, rest = line.partition(": ")
        if entry.startswith("entry ") and rest.split(" => ")[0].strip() == str(new.keys[0]):
            handle = int(entry.removeprefix("entry "))
            switch.command(str(ChangedEntry(handle, new.table, new.action, new.parameters)))


def tables(switch: Commanded) -> list[tuple[str, str]]:
    """Return the full name and the description of each table of the switch's program."""
    return [(line.split()[0], line) for line in switch.command("show_tables").splitlines() if line.strip()]


def is_compiler_made(table: str) -> bool:
    """Return whether p4c generated this table: it makes one of every statement outside of actions."""
    return table.startswith(_COMPILER_PREFIX)


def short_name(table: str, tables: Collection[str]) -> str:
    """Return the end of a table's name that no other table has; it begins with the name of a control if need be."""
    parts = table.split(".")
    for length in range(1, len(parts)):
        ending = ".".join(parts[-length:])
        if not any(other != table and f".{other}".endswith(f".{ending}") for other in tables):
            return ending
    return table
