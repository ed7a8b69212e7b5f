# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads what the switches of a run counted, through the control commands that every target understands.

What there is to read and what it means stands in `wire.counters`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from wire.counters import COUNTERS, PEAKS, BtsEvent, CounterEvent, PfcEvent, Role

Command = Callable[[str], str]

_PACKETS = re.compile(r"(\d+) packets")
_OWN_SIGNALS = 0
"""The ingress port of a switch's own BTS on its second pass, where its drop counts if it cannot be routed."""


@dataclass
class SwitchCounts:
    """What one switch, or all together, counted in P4 counters and registers."""

    by_table: dict[type[CounterEvent], Counter[CounterEvent]] = field(
        default_factory=lambda: {counter.events: Counter() for counter in COUNTERS}
    )
    peaks: Counter[str] = field(default_factory=Counter)
    """By field of result.json."""

    def events(self) -> Iterator[tuple[CounterEvent, int]]:
        """How often what happened, of all tables."""
        for counts in self.by_table.values():
            yield from counts.items()

    def total(self, name: str) -> int:
        """A field of result.json: the sum of its events, or a peak."""
        return self.peaks[name] + sum(count for event, count in self.events() if name in event.fields)

    @property
    def drops(self) -> Counter[str]:
        """Packets that the program dropped, by reason."""
        return Counter({event.label: count for event, count in self.events() if count and event.role is Role.DROPPED})

    @property
    def bts(self) -> Counter[CounterEvent]:
        return self.by_table[BtsEvent]

    @property
    def pfc(self) -> Counter[CounterEvent]:
        return self.by_table[PfcEvent]

    @property
    def bts_sent(self) -> int:
        return self.total("bts.sent")

    @property
    def bts_suppressed(self) -> int:
        return self.total("bts.suppressed")

    @property
    def max_suppression_entries(self) -> int:
        return self.total("bts.max_suppression_entries")

    @property
    def max_cache_entries(self) -> int:
        return self.total("bts.max_cache_entries")

    @property
    def generated(self) -> int:
        """Frames that this switch made."""
        return sum(count for event, count in self.events() if event.role is Role.GENERATED)

    @property
    def other_events(self) -> dict[str, int]:
        """Events that happened and that nothing else of result.json sums up."""
        return {
            event.label: count
            for event, count in self.events()
            if count and event.role is Role.NEUTRAL and not event.fields
        }

    def add(self, other: SwitchCounts) -> None:
        """Sums counts; a peak stays that of any one switch."""
        for table, counts in other.by_table.items():
            self.by_table[table].update(counts)
        self.peaks |= other.peaks


def read_counts(command: Command, ports: Iterable[int]) -> SwitchCounts:
    """The P4 program's counts on one switch with these ports."""
    counts = SwitchCounts()
    every_port = sorted({_OWN_SIGNALS, *ports})
    for counter in COUNTERS:
        found = counts.by_table[counter.events]
        for event in counter.events:
            for port in every_port if counter.is_per_port else (0,):
                found[event] += _packets(command(f"counter_read {counter.name} {counter.index(event, port)}"))
    for peak in PEAKS:
        counts.peaks[peak.field] = _value(command(f"register_read {peak.register} {peak.index}"))
    return counts


def read_all_lives(command: Command, ports: Sequence[int]) -> SwitchCounts:
    """The same of softswitch, with what it counted before it was restarted."""
    counts = read_counts(command, ports)
    for life in range(int(command("past"))):
        counts.add(read_counts(partial(_command_past, command, life), ports))
    return counts


def _command_past(command: Command, life: int, line: str) -> str:
    return command(f"past {life} {line}")


def _packets(text: str) -> int:
    found = _PACKETS.search(text)
    if found is None:
        raise ValueError(f"not a counter: {text!r}")
    return int(found.group(1))


def _value(text: str) -> int:
    return int(text.rpartition("=")[2])
