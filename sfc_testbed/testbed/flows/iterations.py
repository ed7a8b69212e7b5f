# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The jobs of a flow list, and the least possible time of one iteration: the alpha-beta bound.

A message of m bytes takes at least alpha + beta m: its time from the first bit to its receipt in an idle network, after
the messages that it waits for. The messages of one host share its NIC, and those to one host share its link. No run is
faster, because the order of the messages is free in the bound. docs/sources.md#collectives has the formula that the
bound becomes for each algorithm.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import floor
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sfc_testbed.request.spec import BARRIER_TAG, JobPlan
from sfc_testbed.scenarios.model.flow_table import FlowTable
from sfc_testbed.scenarios.model.scenario import Job
from sfc_testbed.testbed.flows.completion_bound import Transmission, end_of_nic_ns
from sfc_testbed.testbed.flows.ideal import IdealTimes, PathChange, ideal_times_ns
from sfc_testbed.topologies.model import Topology

if TYPE_CHECKING:
    from numpy.typing import NDArray


def job_plans(
    topology: Topology,
    flows: FlowTable,
    described: Sequence[Job],
    payload_bytes: int,
    *,
    nic_bps: int | None,
    change: PathChange = PathChange.NEVER,
) -> tuple[JobPlan, ...]:
    """Return the jobs of a flow list in the order of their numbers. A list from a file has no described jobs."""
    if not flows.has_jobs:
        return ()
    is_data = np.array([tag != BARRIER_TAG for tag in flows.tags])[flows.tag]
    plans = []
    for number in np.unique(flows.job[flows.job > 0]).tolist():
        places = np.flatnonzero((flows.job == number) & is_data)
        if not places.size:
            continue
        iterations = flows.iteration[places]
        first = places[iterations == iterations.min()]
        times = ideal_times_ns(topology, flows.independent(first), payload_bytes, nic_bps=nic_bps, change=change)
        job = described[number - 1] if number <= len(described) else None
        plans.append(
            JobPlan(
                number=number,
                collective=job.collective if job else "",
                algorithm=job.algorithm if job else "",
                ranks=job.ranks if job else len({*flows.src[places].tolist(), *flows.dst[places].tolist()}),
                size_bytes=job.size_bytes if job else None,
                bus_factor=job.bus_factor if job else None,
                iterations=int(iterations.max()),
                ideal_us=floor(iteration_bound_ns(flows, first, times)) / 1000,  # a bound: never rounded up
            )
        )
    return tuple(plans)


def iteration_bound_ns(flows: FlowTable, members: NDArray[np.intp], times: IdealTimes) -> float:
    """Return a lower bound of the time from the start to the last receipt of the messages at these positions.

    `times` are those of the members, which are in the order in which they may become ready. Members that wait for none
    of the others are ready at once.
    """
    return _Bound(flows, members, times).last_receipt_ns()


Waits: TypeAlias = tuple[tuple[int, int], ...]
"""Messages that a message waits for, with the delays after them in ns."""


class _Bound:
    """The messages of an iteration, numbered from 0."""

    def __init__(self, flows: FlowTable, members: NDArray[np.intp], times: IdealTimes) -> None:
        self._flows = flows
        self._places = members.tolist()
        self._src, self._dst = flows.src[members].tolist(), flows.dst[members].tolist()
        self._sent, self._delivered, self._acknowledged = (
            column.tolist() for column in (times.sent, times.delivered, times.acknowledged)
        )
        self._arriving, self._reaching, self._behind = (
            column.tolist() for column in (times.arriving, times.reaching, times.behind)
        )
        self._ready_ns = [0.0] * len(self._places)

    def last_receipt_ns(self) -> float:
        """Return the bound: the least time in which each NIC can send its messages, and the rest can follow."""
        inner = self._inner_waits()
        ends: dict[tuple[Waits, int], float] = {}
        for number, waits in enumerate(inner):
            if waits:
                key = waits, self._src[number]
                if key not in ends:
                    ends[key] = self._last_end_ns(*key)
                self._ready_ns[number] = ends[key]
        tails_ns = self._tails_ns(inner)
        by_source: dict[int, list[Transmission]] = defaultdict(list)
        for number, source in enumerate(self._src):
            by_source[source].append(self._transmission(number, self._ready_ns[number], tails_ns[number]))
        return max(*map(end_of_nic_ns, by_source.values()), self._link_bound_ns(range(len(self._places))))

    def _inner_waits(self) -> list[Waits]:
        """Return the members that each message waits for."""
        number_of = {place: number for number, place in enumerate(self._places)}
        inner = []
        for place in self._places:
            after, delay_ns = self._flows.waits.get(place, ((), 0))
            delays_ns = delay_ns if isinstance(delay_ns, tuple) else (delay_ns,) * len(after)
            pairs = zip(after, delays_ns, strict=True)
            inner.append(tuple((number_of[at - 1], by_ns) for at, by_ns in pairs if at - 1 in number_of))
        return inner

    def _tails_ns(self, inner: Sequence[Waits]) -> list[float]:
        """Return the least time from the receipt of each message to the last receipt of all.

        The messages that a host sends after one message share its NIC.
        """
        following: list[list[int]] = [[] for _ in inner]
        for number, waits in enumerate(inner):
            for other, _ in waits:
                if self._src[number] == self._dst[other]:
                    following[other].append(number)
        tails_ns = [0.0] * len(inner)
        known: dict[tuple[int, ...], float] = {}
        for number in reversed(range(len(inner))):
            key = tuple(following[number])
            if key and key not in known:
                known[key] = end_of_nic_ns([self._transmission(later, 0.0, tails_ns[later]) for later in key])
            tails_ns[number] = known.get(key, 0.0)
        return tails_ns

    def _transmission(self, number: int, ready_ns: float, tail_ns: float) -> Transmission:
        return Transmission(
            ready_ns, self._sent[number], self._behind[number] + tail_ns, self._delivered[number] + tail_ns
        )

    def _end_ns(self, number: int, host: int | None) -> float:
        """Return the least end of a message, as this host sees it; None: as its receiver sees it."""
        is_receipt = host in (None, self._dst[number])
        took_ns: float = (self._delivered if is_receipt else self._acknowledged)[number]
        return self._ready_ns[number] + took_ns

    def _last_end_ns(self, waits: Waits, host: int) -> float:
        """Return a lower bound of the end of all these messages, plus their delays in ns, as this host sees it."""
        if len(waits) == 1:
            [(number, delay_ns)] = waits
            return self._end_ns(number, host) + delay_ns
        received = [(number, delay_ns) for number, delay_ns in waits if self._dst[number] == host]
        carried_ns = self._link_bound_ns(number for number, _ in received)
        return max(self._nic_bound_ns(waits, host), carried_ns + min((delay for _, delay in received), default=0))

    def _nic_bound_ns(self, waits: Waits, host: int) -> float:
        by_source: dict[int, list[Transmission]] = defaultdict(list)
        for number, delay_ns in waits:
            ready_ns = self._ready_ns[number]
            least_ns = self._end_ns(number, host) - ready_ns
            rest_ns = self._behind[number] + least_ns - self._delivered[number] + delay_ns
            by_source[self._src[number]].append(
                Transmission(ready_ns, self._sent[number], rest_ns, least_ns + delay_ns)
            )
        return max(map(end_of_nic_ns, by_source.values()))

    def _link_bound_ns(self, numbers: Iterable[int]) -> float:
        """Return the least time at which the links of all receivers have carried these messages."""
        arrivals: dict[int, list[tuple[float, float]]] = defaultdict(list)
        for number in numbers:
            first_ns = self._ready_ns[number] + self._reaching[number]
            arrivals[self._dst[number]].append((first_ns, self._arriving[number]))
        last_ns = 0.0
        for of_host in arrivals.values():
            now_ns = 0.0
            for first_ns, arriving_ns in sorted(of_host):
                now_ns = max(now_ns, first_ns) + arriving_ns
            last_ns = max(last_ns, now_ns)
        return last_ns
