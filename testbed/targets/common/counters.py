# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads what the switches of a run counted, through the control commands that every target understands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from wire.constants import BtsEvent, DropReason, PfcEvent

Command = Callable[[str], str]

_PACKETS = re.compile(r"(\d+) packets")
_REASON_BITS = 4
_SUPPRESSION_MOST = 2


@dataclass
class SwitchCounts:
    """What one switch, or all together, counted in P4 counters and registers."""

    drops: Counter[str] = field(default_factory=Counter)
    bts: Counter[BtsEvent] = field(default_factory=Counter)
    pfc: Counter[PfcEvent] = field(default_factory=Counter)
    max_suppression_entries: int = 0
    max_cache_entries: int = 0

    @property
    def bts_sent(self) -> int:
        return sum(self.bts[each] for each in (BtsEvent.SENT_QUEUE, BtsEvent.SENT_CACHE, BtsEvent.SENT_ESTIMATOR))

    @property
    def bts_suppressed(self) -> int:
        suppressed = (BtsEvent.SUPPRESSED_QUEUE, BtsEvent.SUPPRESSED_CACHE, BtsEvent.SUPPRESSED_ESTIMATOR)
        return sum(self.bts[each] for each in suppressed)

    @property
    def cache_hits(self) -> int:
        return self.bts[BtsEvent.SENT_CACHE] + self.bts[BtsEvent.SUPPRESSED_CACHE]

    @property
    def pfc_sent(self) -> int:
        """Pause frames of every kind."""
        return self.pfc.total()

    @property
    def generated(self) -> int:
        """Frames that this switch made; SFC-P only turns one into another."""
        return self.bts_sent + self.pfc_sent - self.pfc[PfcEvent.SFC_P]

    def add(self, other: SwitchCounts) -> None:
        """Sums counts; the two maxima stay maxima of any one switch."""
        self.drops += other.drops
        self.bts += other.bts
        self.pfc += other.pfc
        self.max_suppression_entries = max(self.max_suppression_entries, other.max_suppression_entries)
        self.max_cache_entries = max(self.max_cache_entries, other.max_cache_entries)


def read_counts(command: Command, ports: Iterable[int]) -> SwitchCounts:
    """The P4 program's counts on one switch with these ports."""
    counts = SwitchCounts()
    for port in ports:
        for reason in DropReason:
            packets = _packets(command(f"counter_read drops {port << _REASON_BITS | reason}"))
            if packets:
                counts.drops[reason.name.lower()] += packets
    for event in BtsEvent:
        counts.bts[event] = _packets(command(f"counter_read bts_events {int(event)}"))
    for pause in PfcEvent:
        counts.pfc[pause] = _packets(command(f"counter_read pfc_events {int(pause)}"))
    counts.max_suppression_entries = _value(command(f"register_read suppression_state {_SUPPRESSION_MOST}"))
    counts.max_cache_entries = _value(command("register_read cache_max_entries 0"))
    return counts


def _packets(text: str) -> int:
    found = _PACKETS.search(text)
    if found is None:
        raise ValueError(f"not a counter: {text!r}")
    return int(found.group(1))


def _value(text: str) -> int:
    return int(text.rpartition("=")[2])
