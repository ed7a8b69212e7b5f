# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The events of a flow, and the merging of consecutive packet events into one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class LifeEvent:
    """An event of a flow, printed as one line. The time is in model µs."""

    time_us: float
    where: str
    what: str
    detail: str


@dataclass(frozen=True)
class PacketEvent:
    """An event of one packet of a flow. Times are in model µs."""

    time_us: float
    where: str
    what: str
    packet: int
    """The number of the packet in the message, from 0."""
    towards: str = ""
    """The next node; empty except at switches."""
    wait_us: float | None = None
    """The time in the queue; None except for queued packets."""


def joined(packets: Iterable[PacketEvent], gap_us: float) -> list[LifeEvent]:
    """Merge the packet events into lines: one for events of the same kind and place, at most `gap_us` apart."""
    groups: dict[tuple[str, str, str], list[PacketEvent]] = {}
    for event in packets:
        groups.setdefault((event.where, event.what, event.towards), []).append(event)
    lines: list[LifeEvent] = []
    for events in groups.values():
        events.sort(key=lambda event: event.time_us)
        begin = 0
        for end in range(1, len(events) + 1):
            if end == len(events) or events[end].time_us - events[end - 1].time_us > gap_us:
                lines.append(_line(events[begin:end]))
                begin = end
    return lines


def _line(events: Sequence[PacketEvent]) -> LifeEvent:
    first, last = events[0], events[-1]
    detail = numbers([event.packet for event in events])
    if first.towards:
        detail += f" to {first.towards}"
    waits = [event.wait_us for event in events if event.wait_us is not None]
    if waits:
        detail += f", waited {_range(min(waits), max(waits))}"
    if len(events) > 1:
        detail += f", until {last.time_us:,.2f}"
    return LifeEvent(first.time_us, first.where, first.what, detail)


def numbers(packets: Sequence[int]) -> str:
    """Return packet numbers as text: `packet 3`, `packets 0-124` or `17 packets of 3-40`."""
    low, high = min(packets), max(packets)
    if low == high:
        return f"packet {low}" if len(packets) == 1 else f"packet {low}, {len(packets)} times"
    if len(packets) == high - low + 1 == len(set(packets)):
        return f"packets {low}-{high}"
    return f"{len(packets)} packets of {low}-{high}"


def _range(low: float, high: float) -> str:
    shortest, longest = f"{low:,.2f}", f"{high:,.2f}"
    return f"{longest} µs" if shortest == longest else f"{shortest} to {longest} µs"
