# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Adds up the counters of hosts, switches and the kernel after a run, for both clocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from sfc_testbed.analysis.results.counters import Lateness, RunCounters, Spacing
from sfc_testbed.analysis.results.result import BfcCounts, BtsCounts, PacketCounts, PfcCounts, ResentCounts
from sfc_testbed.hosts.io.summaries import LatenessSummary, SpacingSummary
from sfc_testbed.hosts.protocol import HostStatistics
from sfc_testbed.hosts.transport.counters import NicCounters
from sfc_testbed.testbed.targets.common.counters import SwitchCounts
from sfc_testbed.testbed.targets.common.statistics import DOWN, RECEIVE_RING, PartStatistics


def run_counters(
    hosts: Sequence[HostStatistics],
    switches: Iterable[SwitchCounts],
    parts: Sequence[PartStatistics],
    *,
    resends_successors: bool = False,
    undelivered: int = 0,
    host_lateness: Iterable[LatenessSummary] = (),
    host_spacing: Iterable[SpacingSummary] = (),
    interrupted: bool,
    wall_s: float,
    broken: Iterable[str] = (),
    lacking: Iterable[str] = (),
) -> RunCounters:
    """Return the counters of a run. `parts` are the switches and other processes that packets pass.

    `resends_successors` is that of the hosts' `LossRecovery`. `undelivered` counts messages that are fully acknowledged
    but incomplete at their receivers. `host_lateness` and `host_spacing` have an entry per agent. Without
    entries they are not measured, as on the virtual clock.
    """
    counted = SwitchCounts()
    for switch in switches:
        counted.add(switch)
    drops = dict(sum((part.drops for part in parts), counted.drops + _lost_at_hosts(hosts)))
    kernel_drops = sum(host.kernel_drops for host in hosts) + sum(part.kernel_drops for part in parts)
    dropped = sum(drops.values()) + kernel_drops
    return RunCounters(
        packets=PacketCounts(
            sent=sum(host.nic.frames_sent for host in hosts),
            received=sum(host.nic.frames_received for host in hosts),
            switch_generated=counted.generated,
            link_duplicated=sum(part.duplicated for part in parts),
            switch_absorbed=counted.absorbed + sum(part.absorbed for part in parts),
            in_flight=sum(part.held for part in parts),
        ),
        drops=drops,
        kernel_drops=kernel_drops,
        bts=BtsCounts(**{name: counted.total(f"bts.{name}") for name in BtsCounts.model_fields}),
        pfc=PfcCounts(**{name: counted.total(f"pfc.{name}") for name in PfcCounts.model_fields}),
        bfc=BfcCounts(**{name: counted.total(f"bfc.{name}") for name in BfcCounts.model_fields}),
        resent=resent_counts(hosts, dropped=dropped, resends_successors=resends_successors),
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
    """Return frames that hosts sent into dead links or lost to full receive rings, under softswitch's drop reasons."""
    lost: Counter[str] = Counter()
    for host in hosts:
        lost.update({DOWN: host.link_down, RECEIVE_RING: host.nic.ring_overruns})
    return +lost


def _refused(parts: Iterable[PartStatistics]) -> Iterator[str]:
    """Yield a sentence for each part that refused commands of faults, since the run then differs from the plan."""
    for part in parts:
        if part.refused:
            yield f"{part.name} refused {part.refused} of the commands that make its faults."


def _host_events(hosts: Sequence[HostStatistics], undelivered: int) -> dict[str, int]:
    """Return the counts of events that never happen at honest, responding hosts with a window of a packet or more."""
    events = {
        "acknowledgements_refused": sum(host.nic.acknowledgements_refused for host in hosts),
        "messages_failed": sum(host.nic.messages_failed for host in hosts),
        "messages_undelivered": undelivered,
        "small_window_packets": sum(host.nic.small_window_packets for host in hosts),
    }
    return {name: count for name, count in events.items() if count}


def _worst(measured: Iterable[LatenessSummary]) -> Lateness | None:
    """Return the highest percentiles of all processes, since a run is as late as its latest part."""
    summaries = [summary for summary in measured if summary.count]
    if not summaries:
        return None
    return Lateness(
        p50_ns=float(max(summary.p50_ns for summary in summaries)),
        p99_ns=float(max(summary.p99_ns for summary in summaries)),
        max_ns=float(max(summary.max_ns for summary in summaries)),
    )


def _worst_spacing(measured: Iterable[SpacingSummary]) -> Spacing | None:
    """Return the spacing of the part with the highest P99, but the count and the maximum of all parts."""
    summaries = [summary for summary in measured if summary.count]
    if not summaries:
        return None
    worst = max(summaries, key=lambda summary: summary.p99_ns)
    return Spacing(
        count=sum(summary.count for summary in summaries),
        p50_ns=float(worst.p50_ns),
        p99_ns=float(worst.p99_ns),
        max_ns=float(max(summary.max_ns for summary in summaries)),
        ideal_ns=float(worst.ideal_ns),
    )


def resent_counts(hosts: Sequence[HostStatistics], *, dropped: int, resends_successors: bool) -> ResentCounts:
    """Return the packets that these hosts sent again, by reason.

    Hosts count the packets that they sent again after a timeout, and the packets that arrived trimmed. All others were
    sent again because a later packet was answered first. The sender cannot tell whether the earlier packet or its
    answer was lost or only late. But a lost packet explains one packet sent again, or with go-back-N the packets sent
    again for one NAK. What the lost packets of the whole run do not explain was sent again because of reordering.

    `dropped` packets were lost in switches, on links or by the kernel. `resends_successors` is that of `LossRecovery`.
    """
    nics = [host.nic for host in hosts]
    packets = sum(nic.retransmissions for nic in nics)
    timeout = sum(nic.resent_after_timeout for nic in nics)
    trimmed = min(packets - timeout, sum(nic.trimmed_received + nic.returned_received for nic in nics))
    overtaken = packets - timeout - trimmed
    reports = sum(nic.loss_reports for nic in nics)
    for_each = -(-overtaken // reports) if resends_successors and reports else 1
    loss = min(overtaken, for_each * (dropped + sum(map(_lost, nics))))
    return ResentCounts(packets=packets, timeout=timeout, trimmed=trimmed, loss=loss, reordering=overtaken - loss)


def _lost(nic: NicCounters) -> int:
    """Return the packets that a host dropped or found damaged."""
    return nic.corrupted + nic.receiver_overruns + nic.control_overruns
