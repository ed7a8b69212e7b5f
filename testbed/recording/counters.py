# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Adds up what hosts, switches and the machine counted in a run. The one place for both clocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from analysis.results.counters import Lateness, RunCounters, Spacing
from analysis.results.result import BtsCounts, PacketCounts, PfcCounts
from hosts.io.summaries import LatenessSummary, SpacingSummary
from hosts.protocol import HostStatistics
from testbed.targets.common.counters import SwitchCounts
from testbed.targets.common.drops import DOWN, RECEIVE_RING
from testbed.targets.common.statistics import PartStatistics


def run_counters(
    hosts: Sequence[HostStatistics],
    switches: Iterable[SwitchCounts],
    parts: Sequence[PartStatistics],
    *,
    undelivered: int = 0,
    host_lateness: Iterable[LatenessSummary] = (),
    host_spacing: Iterable[SpacingSummary] = (),
    interrupted: bool,
    wall_s: float,
    broken: Iterable[str] = (),
    lacking: Iterable[str] = (),
) -> RunCounters:
    """The counters of a run. `parts`: switches and whatever else stands on the packets' way.

    `undelivered`: messages acknowledged to the end that their receivers do not have. `host_lateness` and `host_spacing`
    are those of each agent. Without a record they are not measured: the virtual clock is never late.
    """
    counted = SwitchCounts()
    for each in switches:
        counted.add(each)
    return RunCounters(
        packets=PacketCounts(
            sent=sum(host.nic.frames_sent for host in hosts),
            received=sum(host.nic.frames_received for host in hosts),
            switch_generated=counted.generated,
            link_duplicated=sum(part.duplicated for part in parts),
            switch_absorbed=sum(part.absorbed for part in parts),
            in_flight=sum(part.held for part in parts),
        ),
        drops=dict(sum((part.drops for part in parts), counted.drops + _lost_at_hosts(hosts))),
        kernel_drops=sum(host.kernel_drops for host in hosts) + sum(part.kernel_drops for part in parts),
        bts=BtsCounts(**{name: counted.total(f"bts.{name}") for name in BtsCounts.model_fields}),
        pfc=PfcCounts(**{name: counted.total(f"pfc.{name}") for name in PfcCounts.model_fields}),
        switch_events=counted.other_events,
        host_events=_host_events(hosts, undelivered),
        host_lateness=_worst(host_lateness),
        switch_lateness=_worst(part.lateness for part in parts if part.lateness is not None),
        host_spacing=_worst_spacing(host_spacing),
        switch_spacing=_worst_spacing(part.spacing for part in parts if part.spacing is not None),
        interrupted=interrupted,
        wall_s=wall_s,
        broken=(*broken, *_refused(parts)),
        lacking=tuple(lacking),
    )


def _lost_at_hosts(hosts: Iterable[HostStatistics]) -> Counter[str]:
    """What hosts sent into dead links, and what found their rings full, by the names that softswitch has for it."""
    lost: Counter[str] = Counter()
    for host in hosts:
        lost.update({DOWN: host.link_down, RECEIVE_RING: host.nic.ring_overruns})
    return +lost


def _refused(parts: Iterable[PartStatistics]) -> Iterator[str]:
    """A fault that did not happen: the run is not the one that was asked for."""
    for part in parts:
        if part.refused:
            yield f"{part.name} refused {part.refused} of the commands that make its faults."


def _host_events(hosts: Sequence[HostStatistics], undelivered: int) -> dict[str, int]:
    """Return what does not happen at hosts that are honest, answer and have a window of a packet or more."""
    events = {
        "acknowledgements_refused": sum(host.nic.acknowledgements_refused for host in hosts),
        "messages_failed": sum(host.nic.messages_failed for host in hosts),
        "messages_undelivered": undelivered,
        "small_window_packets": sum(host.nic.small_window_packets for host in hosts),
    }
    return {name: count for name, count in events.items() if count}


def _worst(measured: Iterable[LatenessSummary]) -> Lateness | None:
    """The worst of several processes' percentiles: a run is as late as its latest part."""
    seen = [each for each in measured if each.count]
    if not seen:
        return None
    return Lateness(
        p50_ns=float(max(each.p50_ns for each in seen)),
        p99_ns=float(max(each.p99_ns for each in seen)),
        max_ns=float(max(each.max_ns for each in seen)),
    )


def _worst_spacing(measured: Iterable[SpacingSummary]) -> Spacing | None:
    """That of the part whose P99 is the worst, with the pairs of frames of all."""
    seen = [each for each in measured if each.count]
    if not seen:
        return None
    worst = max(seen, key=lambda each: each.p99_ns)
    return Spacing(
        count=sum(each.count for each in seen),
        p50_ns=float(worst.p50_ns),
        p99_ns=float(worst.p99_ns),
        max_ns=float(max(each.max_ns for each in seen)),
        ideal_ns=float(worst.ideal_ns),
    )
