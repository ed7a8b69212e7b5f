# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads what switches hold and remember, and changes rates of ports: by control commands alone, for any target."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Protocol

from topologies.features import byte_time_us_q24
from topologies.model import SwitchPort, Topology
from wire.constants import (
    CACHE_KEY_ADDRESS_SHIFT,
    CACHE_KEY_DSCP_SHIFT,
    CACHE_RING_PLACES,
    CLASS_BITS,
    CLASS_COUNT,
    DSCP_MASK,
)
from wire.dilation import Dilation

_COMPILER_MADE = "tbl_"


class Commanded(Protocol):
    """A switch that takes control commands."""

    name: str

    def command(self, line: str) -> str:
        """Executes one; ValueError when it is refused."""


@dataclass(frozen=True)
class QueueDepth:
    """Bytes that wait in one queue."""

    switch: str
    port: SwitchPort
    traffic_class: int
    held_bytes: int
    """Frames with their headers."""


@dataclass(frozen=True)
class CachedPause:
    """An entry of a pause cache. Model units."""

    address: IPv4Address
    host: str
    dscp: int
    left_us: float
    """How long it still holds; negative: it is over and not yet forgotten."""


@dataclass(frozen=True)
class PauseCache:
    """What a switch remembers of pauses, and the most that it ever did."""

    entries: tuple[CachedPause, ...]
    most_entries: int


def buffer_bytes(switch: Commanded) -> int:
    """What waits in all queues of a switch."""
    return register(switch, "buffer_bytes", 0)


def port_bytes(switch: Commanded, port: int) -> int:
    """What waits in the queues of one port."""
    return register(switch, "port_bytes", port)


def queue_depths(topology: Topology, switch: Commanded) -> Iterator[QueueDepth]:
    """Yield the queues that hold something. All are read by one command, so that they add up."""
    cells = switch.command("register_read queue_bytes").partition("=")[2].split(",")
    for port in topology.ports[switch.name]:
        for traffic_class in range(CLASS_COUNT):
            held_bytes = int(cells[port.number << CLASS_BITS | traffic_class])
            if held_bytes:
                yield QueueDepth(switch.name, port, traffic_class, held_bytes)


def pause_cache(topology: Topology, switch: Commanded, dilation: Dilation, clock_zero_ns: int) -> PauseCache:
    """Live entries of a switch whose clock began at this instant of CLOCK_MONOTONIC.

    The ring turns with every packet, also between two reads: a place that is met twice is one entry, and one without a
    key has been retired meanwhile.
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
        host = next((each.name for each in topology.hosts if each.ip == address), "?")
        dscp = key >> CACHE_KEY_DSCP_SHIFT & DSCP_MASK
        entries.append(CachedPause(address, host, dscp, dilation.model_us(end_ns - now_ns)))
    return PauseCache(tuple(entries), register(switch, "cache_max_entries", 0))


def register(switch: Commanded, name: str, index: int) -> int:
    """One cell."""
    return int(switch.command(f"register_read {name} {index}").rpartition("=")[2])


def set_rate(switch: Commanded, port: SwitchPort, wall_bps: int) -> None:
    """Changes how fast a port sends, and what the P4 program knows of it: pauses and telemetry follow from that."""
    switch.command(f"port_rate {port.number} {wall_bps}")
    _modify(switch, "congested_port", port.number, f"port_speed {byte_time_us_q24(wall_bps)} {int(port.peer_is_host)}")
    _modify(switch, "int_port", port.number, f"port_rate {wall_bps // 1000}")


def _modify(switch: Commanded, table: str, key: int, action: str) -> None:
    """Another action for the entry of a table with one exact key, if there is one."""
    for line in switch.command(f"table_dump {table}").splitlines():
        entry, _, rest = line.partition(": ")
        if entry.startswith("entry ") and rest.split(" => ")[0].strip() == str(key):
            name, _, parameters = action.partition(" ")
            switch.command(f"table_modify {table} {name} {entry.removeprefix('entry ')} => {parameters}")


def tables(switch: Commanded) -> list[tuple[str, str]]:
    """Full name and description of each table of its program."""
    return [(line.split()[0], line) for line in switch.command("show_tables").splitlines() if line.strip()]


def is_compiler_made(table: str) -> bool:
    """Whether nobody wrote this table: p4c makes one of every statement outside of actions."""
    return table.startswith(_COMPILER_MADE)


def short_name(table: str) -> str:
    """Without the controls that it stands in."""
    return table.rpartition(".")[2]
