# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Expected starts and ideal completion times of messages that wait for others, in a network without other traffic.

A message is expected to begin when the messages that it waits for have ended, its delay has passed, and earlier
messages have left its host. It then takes as long as in an idle network. During a run the NICs determine the real
starts. The expected starts serve estimates before a run, such as load and disk space. The ideal completion time of a
tag is a bound (`testbed.flows.completion_bound`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import repeat
from math import floor

import numpy as np
from numpy.typing import NDArray

from sfc_testbed.scenarios.model.flow_table import FlowTable
from sfc_testbed.testbed.flows.completion_bound import completion_bound_ns
from sfc_testbed.testbed.flows.ideal import IdealTimes, PathChange, ideal_times_ns
from sfc_testbed.topologies.model import Topology


@dataclass(frozen=True)
class Waits:
    """Ideal times of a flow list, for the tags with messages that wait for others."""

    start_ns: Mapping[int, int]
    """Time at which each message is ready, by index in the list, from 0."""
    completion_ns: Mapping[str, int]
    """The least possible time from the first ready message to the last acknowledgment, by tag."""

    def expected(self, flows: FlowTable) -> FlowTable:
        """Return the flow list with ideal starts."""
        if not self.start_ns:
            return flows
        starts = flows.start_ns.copy()
        starts[list(self.start_ns)] = list(self.start_ns.values())
        return replace(flows, start_ns=starts)


def ideal_waits(
    topology: Topology,
    table: FlowTable,
    payload_bytes: int,
    *,
    nic_bps: int | None,
    change: PathChange = PathChange.NEVER,
) -> Waits:
    """Compute the ideal times of a flow list, whose flows are numbered by position from 1."""
    if not table.waits:
        return Waits({}, {})
    times = ideal_times_ns(topology, table, payload_bytes, nic_bps=nic_bps, change=change)
    waiting = np.fromiter(table.waits, dtype=np.int64, count=len(table.waits))
    start_ns = _Schedule(table, times, np.unique(table.tag[waiting])).run()
    completion_ns = {}
    alone = waiting[table.job[waiting] == 0]  # jobs have ideal iterations
    flows = list(table) if alone.size else []
    for tag in sorted(table.tags[number] for number in np.unique(table.tag[alone]).tolist()):
        tagged = [place for place, flow in enumerate(flows) if flow.tag == tag]
        completion_ns[tag] = floor(completion_bound_ns(flows, times, tagged))  # a bound: never rounded up
    return Waits({place: round(at_ns) for place, at_ns in start_ns.items()}, completion_ns)


class _Schedule:
    """A schedule of the flows of some tags and of the flows that they wait for. A host sends one message at a time."""

    def __init__(self, flows: FlowTable, times: IdealTimes, tags: NDArray[np.int32]) -> None:
        self._src, self._dst = flows.src.tolist(), flows.dst.tolist()
        self._sent, self._delivered, self._acknowledged = (
            column.tolist() for column in (times.sent, times.delivered, times.acknowledged)
        )
        waits = flows.waits
        chosen = np.flatnonzero(np.isin(flows.tag, tags)).tolist()
        scheduled = {*chosen, *(number - 1 for place in chosen if place in waits for number in waits[place][0])}
        self._missing = {place: len(waits[place][0]) if place in waits else 0 for place in sorted(scheduled)}
        self._dependents: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for place, count in self._missing.items():
            if count:
                after, delay_ns = waits[place]
                delays_ns = delay_ns if isinstance(delay_ns, tuple) else repeat(delay_ns, count)
                for number, own_ns in zip(after, delays_ns, strict=True):
                    self._dependents[number - 1].append((place, own_ns))
        starts_ns = flows.start_ns.tolist()
        self._ready_ns = {place: float(starts_ns[place]) for place in self._missing}
        self._free_ns: dict[int, float] = defaultdict(float)

    def run(self) -> Mapping[int, float]:
        """Return the time at which each flow is ready."""
        due = [(self._ready_ns[place], place) for place, count in self._missing.items() if not count]
        heapify(due)
        while due:
            ready_ns, place = heappop(due)
            source = self._src[place]
            begin_ns = max(ready_ns, self._free_ns[source])
            self._free_ns[source] = begin_ns + self._sent[place]
            for later, delay_ns in self._dependents.get(place, ()):
                self._note_end(later, place, begin_ns, delay_ns)
                if not self._missing[later]:
                    heappush(due, (self._ready_ns[later], later))
        return self._ready_ns

    def _note_end(self, later: int, place: int, begin_ns: float, delay_ns: int) -> None:
        is_received = self._dst[place] == self._src[later]
        end_ns = begin_ns + (self._delivered if is_received else self._acknowledged)[place]
        self._missing[later] -= 1
        self._ready_ns[later] = max(self._ready_ns[later], end_ns + delay_ns)
