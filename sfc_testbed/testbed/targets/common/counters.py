# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads the counters of a run's switches through the control commands that every target understands.

`wire.counters` lists the counters and their meaning.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from sfc_testbed.wire.counters import COUNTERS, PEAKS, BtsEvent, CounterEvent, PfcEvent, Role

Command = Callable[[str], str]
Commands = Callable[[Sequence[str]], Sequence[str]]
"""A function that runs commands in order and returns their answers."""

_PACKETS = re.compile(r"(\d+) packets")
_OWN_SIGNALS = 0
"""Ingress port of a BTS on its second pass through its switch. An unroutable BTS is counted as a drop at this port."""


@dataclass
class SwitchCounts:
    """Values of P4 counters and registers, of one switch or summed over all."""

    by_table: dict[type[CounterEvent], Counter[CounterEvent]] = field(
        default_factory=lambda: {counter.events: Counter() for counter in COUNTERS}
    )
    peaks: Counter[str] = field(default_factory=Counter)
    """Highest values, by field of result.json."""

    def events(self) -> Iterator[tuple[CounterEvent, int]]:
        """Yield each event and its count, for all counter tables."""
        for counts in self.by_table.values():
            yield from counts.items()

    def total(self, name: str) -> int:
        """Return the value of a field of result.json: the sum of its events, or a peak."""
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
    def max_suppression_entries(self) -> int:
        return self.total("bts.max_suppression_entries")

    @property
    def max_cache_entries(self) -> int:
        return self.total("bts.max_cache_entries")

    @property
    def generated(self) -> int:
        """The number of frames that this switch generated."""
        return sum(count for event, count in self.events() if event.role is Role.GENERATED)

    @property
    def absorbed(self) -> int:
        """The number of frames that ended in the program of this switch as intended."""
        return sum(count for event, count in self.events() if event.role is Role.ABSORBED)

    @property
    def other_events(self) -> dict[str, int]:
        """Counts of the neutral events that no other field of result.json sums up."""
        return {
            event.label: count
            for event, count in self.events()
            if count and event.role is Role.NEUTRAL and not event.fields
        }

    def add(self, other: SwitchCounts) -> None:
        """Add the counts of another switch. A peak becomes the larger of both peaks."""
        for table, counts in other.by_table.items():
            self.by_table[table].update(counts)
        self.peaks |= other.peaks


def one_by_one(command: Command) -> Commands:
    """Return a function that runs several commands with one call for each."""
    return lambda lines: [command(line) for line in lines]


def read_counts(commands: Commands, ports: Iterable[int]) -> SwitchCounts:
    """Return the counts of the P4 program on a switch with these ports. One call runs all commands."""
    cells = list(_cells(sorted({_OWN_SIGNALS, *ports})))
    lines = [f"counter_read {name} {index}" for _, _, name, index in cells]
    answers = commands([*lines, *(f"register_read {peak.register} {peak.index}" for peak in PEAKS)])
    counts = SwitchCounts()
    for (table, event, _, _), answer in zip(cells, answers, strict=False):
        counts.by_table[table][event] += _packets(answer)
    for peak, answer in zip(PEAKS, answers[len(cells) :], strict=True):
        counts.peaks[peak.field] = _value(answer)
    counts.peaks["bfc.max_signals"] = counts.total("bfc.dequeue_signals")
    return counts


def _cells(ports: Sequence[int]) -> Iterator[tuple[type[CounterEvent], CounterEvent, str, int]]:
    """Yield table, event, name and index of each cell of the counters."""
    for counter in COUNTERS:
        for event in counter.events:
            for port in ports if counter.is_per_port else (0,):
                yield counter.events, event, counter.name, counter.index(event, port)


def read_all_lives(commands: Commands, ports: Sequence[int]) -> SwitchCounts:
    """Return the counts of a softswitch, including the counts from before each restart."""
    counts = read_counts(commands, ports)
    for life in range(int(commands(["past"])[0])):
        counts.add(read_counts(partial(_commands_past, commands, life), ports))
    return counts


def _commands_past(commands: Commands, life: int, lines: Sequence[str]) -> Sequence[str]:
    return commands([f"past {life} {line}" for line in lines])


def _packets(text: str) -> int:
    match = _PACKETS.search(text)
    if match is None:
        raise ValueError(f"not a counter: {text!r}")
    return int(match.group(1))


def _value(text: str) -> int:
    return int(text.rpartition("=")[2])
