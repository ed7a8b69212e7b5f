# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What happens to a flow, as lines in order of time; and many alike, such as packets, as one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class LifeEvent:
    """A line. Model µs."""

    time_us: float
    where: str
    what: str
    detail: str


@dataclass(frozen=True)
class PacketEvent:
    """Something that happened to one packet of a flow."""

    time_us: float
    where: str
    what: str
    packet: int
    """Its number in the message, from 0."""
    towards: str = ""
    wait_us: float | None = None
    """In a queue."""


def joined(packets: Iterable[PacketEvent], gap_us: float) -> list[LifeEvent]:
    """Packets to which the same happened at one place, one after the other with less than a gap between them, are one
    line."""
    kinds: dict[tuple[str, str, str], list[PacketEvent]] = {}
    for each in packets:
        kinds.setdefault((each.where, each.what, each.towards), []).append(each)
    lines: list[LifeEvent] = []
    for alike in kinds.values():
        alike.sort(key=lambda each: each.time_us)
        begin = 0
        for place in range(1, len(alike) + 1):
            if place == len(alike) or alike[place].time_us - alike[place - 1].time_us > gap_us:
                lines.append(_line(alike[begin:place]))
                begin = place
    return lines


def _line(alike: Sequence[PacketEvent]) -> LifeEvent:
    first, last = alike[0], alike[-1]
    said = numbers([each.packet for each in alike])
    if first.towards:
        said += f" to {first.towards}"
    waits = [each.wait_us for each in alike if each.wait_us is not None]
    if waits:
        said += f", waited {_range(min(waits), max(waits))}"
    if len(alike) > 1:
        said += f", until {last.time_us:,.2f}"
    return LifeEvent(first.time_us, first.where, first.what, said)


def numbers(packets: Sequence[int]) -> str:
    """packet 3, packets 0-124, 17 packets of 3-40."""
    low, high = min(packets), max(packets)
    if low == high:
        return f"packet {low}" if len(packets) == 1 else f"packet {low}, {len(packets)} times"
    if len(packets) == high - low + 1 == len(set(packets)):
        return f"packets {low}-{high}"
    return f"{len(packets)} packets of {low}-{high}"


def _range(low: float, high: float) -> str:
    least, most = f"{low:,.2f}", f"{high:,.2f}"
    return f"{most} µs" if least == most else f"{least} to {most} µs"
