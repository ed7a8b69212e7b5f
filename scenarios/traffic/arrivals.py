# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Poisson traffic: messages between all hosts at a load, and incast events. Callers pass the random generators.

A load is a share of each host's own line rate: at a load of 0.5 every host sends and receives at half its line rate
on average. If rates are mixed, fast hosts are drawn more often (`scenarios.traffic.shares`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.flow_table import FlowTable, table_of
from sfc_testbed.scenarios.traffic.distribution import SizeDistribution
from sfc_testbed.scenarios.traffic.shares import are_mixed, chance_to_be_drawn, draw_positions, others_of, pull_of_hosts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NS = 1e9


def poisson_times_ns(mean_gap_ns: float, until_ns: float, random: np.random.Generator) -> NDArray[np.int64]:
    """Return the arrival times of a Poisson process before `until_ns`."""
    import numpy as np

    chunk = max(16, int(1.2 * until_ns / mean_gap_ns))
    times = np.cumsum(random.exponential(mean_gap_ns, chunk))
    while times[-1] < until_ns:
        times = np.concatenate([times, times[-1] + np.cumsum(random.exponential(mean_gap_ns, chunk))])
    return np.rint(times[times < until_ns]).astype(np.int64)


def even_times_ns(gap_ns: float, until_ns: float) -> NDArray[np.int64]:
    """Return times one gap apart before `until_ns`, the first after half a gap: as many as Poisson has on average."""
    import numpy as np

    times: NDArray[np.int64] = np.rint(np.arange(gap_ns / 2, until_ns, gap_ns)).astype(np.int64)
    return times


def all_to_all(
    hosts: Sequence[str],
    rates_bps: Sequence[int],
    sizes: SizeDistribution,
    load: float,
    until_ns: float,
    random: np.random.Generator,
    tag: str,
) -> FlowTable:
    """Return messages of random size from every host to random other hosts.

    Each host has its own random stream, so its messages do not depend on the messages of other hosts.
    """
    import numpy as np

    pull = pull_of_hosts(hosts, rates_bps) if are_mixed(rates_bps) else None
    columns = []
    for number, (rate_bps, stream) in enumerate(zip(rates_bps, random.spawn(len(hosts)), strict=True)):
        mean_gap_ns = 8 * sizes.mean_bytes / (load * rate_bps) * _NS
        starts_ns = poisson_times_ns(mean_gap_ns, until_ns, stream)
        sizes_bytes = sizes.sample(starts_ns.size, stream)
        if pull is None:
            # Draw an index among the other hosts, then skip the sender's own index.
            others = stream.integers(0, len(hosts) - 1, starts_ns.size)
            receivers = others + (others >= number)
        else:
            receivers = stream.choice(len(hosts), starts_ns.size, p=others_of(pull, number))
        columns.append((np.full(starts_ns.size, number), receivers, sizes_bytes, starts_ns))
    sources, destinations, sizes_bytes, starts_ns = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return table_of(hosts, (tag,), sources, destinations, np.zeros_like(sources), sizes_bytes, starts_ns)


def on_standing_pairs(requests: Iterable[FlowRequest], pairs: int) -> Iterator[FlowRequest]:
    """Yield the messages in order of start, assigned in turn to `pairs` persistent queue pairs per pair of hosts."""
    turns: Counter[tuple[str, str]] = Counter()
    for request in sorted(requests, key=attrgetter("start_ns")):
        ends = request.src, request.dst
        yield replace(request, queue_pair=turns[ends] % pairs + 1)
        turns[ends] += 1


@dataclass(frozen=True)
class IncastEvents:
    """Incast events: each has a random receiver and `degree` random senders that start within the window."""

    degree: int
    message_bytes: int
    window_ns: float

    def mean_gap_ns(self, load: float, total_rate_bps: float) -> float:
        """Return the mean time between events at which their load is this share of all hosts' line rates together."""
        return 8 * self.degree * self.message_bytes / (load * total_rate_bps) * _NS

    def highest_share(self, load: float, rates_bps: Sequence[int]) -> float:
        """Return the highest share of its own rate that any host sends in incasts of this load.

        It exceeds the load if an incast needs many senders and therefore draws slow hosts often.
        """
        if not are_mixed(rates_bps):
            return load
        chances = chance_to_be_drawn(rates_bps, self.degree).tolist()
        most = max(chance / rate for chance, rate in zip(chances, rates_bps, strict=True))
        return float(load * sum(rates_bps) / self.degree * most)

    def flows(
        self,
        hosts: Sequence[str],
        rates_bps: Sequence[int],
        begins_ns: NDArray[np.int64],
        random: np.random.Generator,
        tag: str,
    ) -> Iterator[FlowRequest]:
        """Yield the messages of the incast events that begin at these times."""
        for begin_ns in begins_ns:
            receiver, *senders = self._members(rates_bps, random)
            for sender in senders:
                start_ns = int(begin_ns) + round(random.uniform(0, self.window_ns))
                yield FlowRequest(hosts[sender], hosts[receiver], self.message_bytes, start_ns, tag)

    def _members(self, rates_bps: Sequence[int], random: np.random.Generator) -> Iterable[int]:
        """Draw the positions of a receiver and of its senders."""
        if not are_mixed(rates_bps):
            members: Iterable[int] = random.permutation(len(rates_bps))[: self.degree + 1]
            return members
        [receiver] = draw_positions(chance_to_be_drawn(rates_bps, 1), 1, random)
        others = [place for place in range(len(rates_bps)) if place != receiver]
        chance = chance_to_be_drawn([rates_bps[place] for place in others], self.degree)
        return [receiver, *(others[place] for place in draw_positions(chance, self.degree, random))]
