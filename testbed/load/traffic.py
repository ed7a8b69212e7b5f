# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Frames over time, from a flow list and a scheme, as a fluid: what hosts send and receive and switches forward.

No packet is simulated. In bins of an eighth of the base RTT each host sends what its flows have and may have in flight,
at line rate; it joins the queue before the receiver, which empties at line rate; a base RTT after it was sent, and the
time in that queue, its acknowledgment is back. A queue above Q_th pauses those who send to it, as the scheme has it.
Whatever else holds senders back is left out (congestion control below its window, PFC, queues on the way, drops), which
tells of more frames than there are. A fluid has no bursts, which tells of fewer: of SFC's busiest round trips as few as
four fifths (tests/testbed/load/test_traffic.py has the bounds). The share of the cores that `testbed.load.prediction`
leaves free is for that (docs/sources.md#dilation).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scenarios.model.flow import Flow
from testbed.load.resume import Floats, Indexes, WorstResume
from topologies.model import Topology
from wire.roce.packets import data_frame_bytes
from wire.units import NS_PER_S

BINS_PER_RTT = 8
MOST_BINS = 2_048
"""Of a longer run the busiest stretch of this many bins is looked at."""
_LOCAL_BINS = 2
"""From a host to its ToR and back."""
_RECEIVERS_TOR, _SENDERS_TOR = 0, 1
_LITTLE = 1e-6


@dataclass(frozen=True)
class SendingRules:
    """What of a scheme decides how many frames there are at a time. Model units."""

    payload_bytes: int
    base_rtt_ns: int
    last_link_ns: int
    """Delay of the link to a receiver, behind the queue."""
    window_bytes: int | None
    """What a flow may have in flight; None: no limit."""
    pauses_at_bytes: float | None = None
    """Depth of the receiver's queue above which senders are paused; None: they are not."""
    pauses_down_to_bytes: float = 0.0
    pauses_from_ingress: bool = True
    """Whether arriving frames cause the pause, or those that have left the queue."""
    uses_frames: bool = True
    """Whether switches send a frame (BTS) for it, or acknowledgments tell the sender."""
    bts_latency_ns: float = 0.0
    """What a switch takes to build a BTS."""
    suppression_ns: float = 0.0
    has_cache: bool = False
    pauses_hosts: bool = False
    """Whether a pause stops all that its host sends (802.1Qbb), or one flow."""


@dataclass(frozen=True)
class Traffic:
    """Frames of each bin. Rows are bins; columns are hosts, or pairs of ToRs (source x ToRs + destination)."""

    bin_ns: float
    numbers: Indexes
    """Of each row's bin: those in which nothing is under way are left out."""
    sent: Floats
    """Data frames that a host sends."""
    received: Floats
    """Data frames that a host receives, and as many acknowledgments that it sends."""
    signals: Floats
    """BTS that a host receives."""
    begun: Floats
    """Messages that begin at a host, at either end."""
    forward: Floats
    """Data frames from ToR to ToR."""
    backward: Floats
    """Acknowledgments and BTS for data of this pair, which cross it the other way."""


@dataclass(frozen=True)
class _Flows:
    """The flow list as columns, in order of start."""

    src: Indexes
    dst: Indexes
    pair: Indexes
    start_ns: Floats
    frames: Floats
    frame_bytes: Floats


def traffic_of(
    topology: Topology, flows: Sequence[Flow], rules: SendingRules, until_ns: float, *, resumes: bool = False
) -> Traffic:
    """The frames of a run that ends at `until_ns` at the latest, in its busiest stretch.

    `resumes`: long after it, once more what paused flows send that resume at one instant (`testbed.load.resume`).
    """
    tors = [switch.name for switch in topology.switches if switch.is_tor]
    rates = np.array([host.rate_bps for host in topology.hosts], dtype=float)
    columns = _busiest(_columns(topology, tors, flows, rules.payload_bytes), rates, rules)
    fluid = _Fluid(columns, rates, len(tors), rules)
    fluid.run(until_ns)
    if resumes:
        fluid.resume_at_once()
    return fluid.traffic()


def _columns(topology: Topology, tors: Sequence[str], flows: Sequence[Flow], payload_bytes: int) -> _Flows:
    host = {each.name: index for index, each in enumerate(topology.hosts)}
    tor = {name: index for index, name in enumerate(tors)}
    tor_of = np.array([tor[each.switch] for each in topology.hosts], dtype=np.int64)
    ordered = sorted(flows, key=lambda flow: flow.start_ns)
    src = np.array([host[flow.src] for flow in ordered], dtype=np.int64)
    dst = np.array([host[flow.dst] for flow in ordered], dtype=np.int64)
    sizes = np.array([flow.size_bytes for flow in ordered], dtype=float)
    frames = np.ceil(sizes / payload_bytes)
    return _Flows(
        src=src,
        dst=dst,
        pair=tor_of[src] * len(tors) + tor_of[dst] if len(ordered) else src,
        start_ns=np.array([flow.start_ns for flow in ordered], dtype=float),
        frames=frames,
        frame_bytes=sizes / np.maximum(frames, 1) + data_frame_bytes(0, is_last=False),
    )


def _busiest(flows: _Flows, rates: Floats, rules: SendingRules) -> _Flows:
    """The flows that start in the stretch with most frames, and for as long before it as the fullest host is behind."""
    bin_ns = rules.base_rtt_ns / BINS_PER_RTT
    if not len(flows.src) or flows.start_ns[-1] - flows.start_ns[0] <= MOST_BINS * bin_ns / 2:
        return flows
    length_ns = MOST_BINS * bin_ns / 2
    total = np.concatenate(([0.0], np.cumsum(flows.frames)))
    ends = np.searchsorted(flows.start_ns, flows.start_ns + length_ns, side="right")
    first = int(np.argmax(total[ends] - total[:-1]))
    begin = int(np.searchsorted(flows.start_ns, flows.start_ns[first] - length_ns / 4))
    part = slice(begin, int(ends[first]))
    return _Flows(*(getattr(flows, name)[part] for name in _Flows.__dataclass_fields__))


class _Fluid:
    """The state of all flows, advanced bin by bin; only flows under way are touched."""

    def __init__(self, flows: _Flows, rates: Floats, tors: int, rules: SendingRules) -> None:
        self._flows = flows
        self._rules = rules
        self._tors = tors
        self._hosts = len(rates)
        self._bin_ns = rules.base_rtt_ns / BINS_PER_RTT
        self._bytes_per_ns = rates / 8 / NS_PER_S
        self._to_queue_bins = max(1, math.ceil((rules.base_rtt_ns / 2 - rules.last_link_ns) / self._bin_ns))
        self._building_bins = math.ceil(rules.bts_latency_ns / self._bin_ns)
        self._to_sender_bins = max(1, BINS_PER_RTT - self._to_queue_bins)
        count = len(flows.src)
        self._remaining = flows.frames.copy()
        self._in_flight = np.zeros(count)
        self._queued = np.zeros(count)
        self._paused = flows.src if rules.pauses_hosts else np.arange(count)
        self._paused_until_ns = np.zeros(max(count, self._hosts))
        self._signalled_ns = np.full((2, count), -np.inf)
        self._cached_until_ns = np.zeros(tors * self._hosts)
        self._cache_place = flows.pair // max(1, tors) * self._hosts + flows.dst
        self._window = np.inf if rules.window_bytes is None else max(1.0, rules.window_bytes / rules.payload_bytes)
        self._arriving: dict[int, tuple[Indexes, Floats]] = {}
        self._acknowledged: dict[int, tuple[Indexes, Floats]] = {}
        self._pausing: dict[int, list[tuple[Indexes, Floats]]] = defaultdict(list)
        self._leaving: dict[int, list[Indexes]] = defaultdict(list)
        self._numbers: list[int] = []
        self._rows: list[tuple[Floats, ...]] = []
        self._resume = WorstResume.none()

    def run(self, until_ns: float) -> None:
        """All bins until everything has arrived, time is over, or there are enough."""
        starts = self._flows.start_ns
        begin_ns = float(starts[0]) if len(starts) else 0.0
        under_way = np.empty(0, dtype=np.int64)
        first = 0
        number = 0
        while (first < len(starts) or len(under_way)) and len(self._rows) < MOST_BINS:
            if not len(under_way):  # nothing happens until the next flow starts
                number = max(number, int((starts[first] - begin_ns) // self._bin_ns))
            now_ns = begin_ns + number * self._bin_ns
            if now_ns > until_ns:
                break
            last = int(np.searchsorted(starts, now_ns + self._bin_ns))
            under_way = np.concatenate((under_way, np.arange(first, last)))
            self._advance(number, now_ns, under_way, under_way[len(under_way) - (last - first) :])
            first = last
            under_way = under_way[(self._remaining[under_way] > _LITTLE) | (self._in_flight[under_way] > _LITTLE)]
            number += 1

    def resume_at_once(self) -> None:
        """Adds the bins of the worst resume, when all before has long been done.

        The first of these frames is behind a queue as deep as pauses leave it, and tells of the next pause a base RTT
        after that is gone.
        """
        flows, resume = self._flows, self._resume
        source, destination, pair = flows.src[resume.flows], flows.dst[resume.flows], flows.pair[resume.flows]
        number = (self._numbers[-1] if self._numbers else 0) + MOST_BINS
        none, pairs = np.zeros(self._hosts), self._tors**2
        a_bin = self._bytes_per_ns * self._bin_ns / data_frame_bytes(self._rules.payload_bytes, is_last=False)
        empty_bins = (self._rules.pauses_down_to_bytes / (self._bytes_per_ns * self._bin_ns)).max(initial=0)
        until_paused = BINS_PER_RTT + math.ceil(empty_bins)
        for offset, frames in enumerate(resume.bins(source, a_bin, until_paused)):
            coming = _totals(destination, frames, self._hosts)
            received = np.minimum(coming, a_bin)
            acknowledged = frames * (received / np.maximum(coming, _LITTLE))[destination]
            forward, backward = _totals(pair, frames, pairs), _totals(pair, acknowledged, pairs)
            self._numbers.append(number + offset)
            self._rows.append((_totals(source, frames, self._hosts), received, none, none, forward, backward))

    def _advance(self, number: int, now_ns: float, under_way: Indexes, begun: Indexes) -> None:
        self._take_back(number)
        sending, sent = self._send(number, now_ns, under_way)
        leaving, left = self._pass_queue(number, now_ns, under_way)
        flows, pairs = self._flows, self._tors**2
        self._numbers.append(number)
        signalled = (self._signalled_ns[:, under_way] == now_ns).any(axis=0)
        signals = under_way[signalled] if self._rules.uses_frames else under_way[:0]
        signal, message = np.ones(len(signals)), np.ones(len(begun))
        self._rows.append(
            (
                _totals(flows.src[sending], sent, self._hosts),
                _totals(flows.dst[leaving], left, self._hosts),
                _totals(flows.src[signals], signal, self._hosts),
                _totals(flows.src[begun], message, self._hosts) + _totals(flows.dst[begun], message, self._hosts),
                _totals(flows.pair[sending], sent, pairs),
                _totals(flows.pair[leaving], left, pairs) + _totals(flows.pair[signals], signal, pairs),
            )
        )

    def _take_back(self, number: int) -> None:
        """Acknowledgments and pauses that reach their senders now."""
        flows, frames = self._acknowledged.pop(number, (np.empty(0, dtype=np.int64), np.empty(0)))
        self._in_flight[flows] -= frames
        for paused, until_ns in self._pausing.pop(number, ()):
            self._paused_until_ns[self._paused[paused]] = until_ns

    def _send(self, number: int, now_ns: float, under_way: Indexes) -> tuple[Indexes, Floats]:
        is_paused = self._paused_until_ns[self._paused[under_way]] > now_ns
        may = under_way[~is_paused & (self._remaining[under_way] > 0)]
        wanted = np.minimum(self._remaining[may], self._window - self._in_flight[may]).clip(0)
        source, frame_bytes = self._flows.src[may], self._flows.frame_bytes[may]
        wanted_bytes = _totals(source, wanted * frame_bytes, self._hosts)
        share = np.minimum(1, self._bytes_per_ns * self._bin_ns / np.maximum(wanted_bytes, _LITTLE))
        sent = wanted * share[source]
        if self._rules.pauses_at_bytes is not None and not self._rules.pauses_from_ingress:
            self._note_paused(under_way[is_paused])
        self._remaining[may] -= sent
        self._in_flight[may] += sent
        self._arriving[number + self._to_queue_bins] = (may, sent)
        if self._rules.has_cache:
            self._ask_caches(number, now_ns, may[sent > _LITTLE])
        return may, sent

    def _note_paused(self, paused: Indexes) -> None:
        space = self._window - self._in_flight[paused]
        self._resume.note(paused, np.minimum(self._remaining[paused], space).clip(0))

    def _ask_caches(self, number: int, now_ns: float, sending: Indexes) -> None:
        """A ToR that remembers a pause of the destination answers its own host."""
        until_ns = self._cached_until_ns[self._cache_place[sending]]
        hits = (until_ns > now_ns) & self._is_due(_SENDERS_TOR, now_ns, sending)
        self._signal(_SENDERS_TOR, number + self._building_bins + _LOCAL_BINS, now_ns, sending[hits], until_ns[hits])

    def _pass_queue(self, number: int, now_ns: float, under_way: Indexes) -> tuple[Indexes, Floats]:
        """What has arrived joins the receivers' queues, which send on what they can."""
        arrived, frames = self._arriving.pop(number, (np.empty(0, dtype=np.int64), np.empty(0)))
        self._queued[arrived] += frames
        destination, frame_bytes = self._flows.dst[under_way], self._flows.frame_bytes[under_way]
        queued = self._queued[under_way]
        depth = _totals(destination, queued * frame_bytes, self._hosts)
        share = np.minimum(1, self._bytes_per_ns * self._bin_ns / np.maximum(depth, _LITTLE))
        left = queued * share[destination]
        self._queued[under_way] -= left
        self._acknowledged[number + self._to_sender_bins] = (under_way, left)
        if self._rules.pauses_at_bytes is not None:
            seen = arrived[frames > _LITTLE]
            self._pause(
                number, now_ns, seen if self._rules.pauses_from_ingress else self._behind(number, seen, depth), depth
            )
        return under_way, left

    def _behind(self, number: int, arrived: Indexes, depth: Floats) -> Indexes:
        """Flows whose frames leave the queue now; those of frames that have arrived come when all before has left."""
        wait = (depth / (self._bytes_per_ns * self._bin_ns)).astype(np.int64)[self._flows.dst[arrived]]
        for bins in np.unique(wait):
            self._leaving[number + int(bins)].append(arrived[wait == bins])
        leaving = self._leaving.pop(number, [])
        return np.unique(np.concatenate(leaving)) if leaving else arrived[:0]

    def _pause(self, number: int, now_ns: float, seen: Indexes, depth: Floats) -> None:
        """The receiver's ToR pauses the senders of these frames where the queue is too deep."""
        rules = self._rules
        destination = self._flows.dst[seen]
        assert rules.pauses_at_bytes is not None
        chosen = (depth[destination] > rules.pauses_at_bytes) & self._is_due(_RECEIVERS_TOR, now_ns, seen)
        flows, target = seen[chosen], destination[chosen]
        pause_ns = (depth[target] - rules.pauses_down_to_bytes) / self._bytes_per_ns[target]
        bins = self._building_bins + self._to_queue_bins
        until_ns = now_ns + self._bin_ns * bins + pause_ns
        self._signal(_RECEIVERS_TOR, number + bins, now_ns, flows, until_ns)
        if rules.has_cache:
            np.maximum.at(self._cached_until_ns, self._cache_place[flows], until_ns)

    def _is_due(self, where: int, now_ns: float, flows: Indexes) -> NDArray[np.bool_]:
        """Whether that switch has not signalled the flow within the period of suppression."""
        due: NDArray[np.bool_] = now_ns - self._signalled_ns[where, flows] >= self._rules.suppression_ns
        return due

    def _signal(self, where: int, number: int, now_ns: float, flows: Indexes, until_ns: Floats) -> None:
        if len(flows):
            self._signalled_ns[where, flows] = now_ns
            self._pausing[number].append((flows, until_ns))

    def traffic(self) -> Traffic:
        """Of the bins so far."""
        widths = (*[self._hosts] * 4, *[self._tors**2] * 2)
        columns = zip(*self._rows, strict=True) if self._rows else ((np.zeros(width),) for width in widths)
        numbers = np.array(self._numbers or [0], dtype=np.int64)
        return Traffic(self._bin_ns, numbers, *(np.vstack(tuple(column)) for column in columns))


def _totals(places: Indexes, amounts: Floats, count: int) -> Floats:
    """The sum at each of so many places."""
    totals: Floats = np.bincount(places, amounts, count).astype(np.float64)
    return totals
