# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the counters of a run: the sums over hosts, switches and other parts."""

from __future__ import annotations

from collections import Counter
from functools import partial

from sfc_testbed.analysis.results.counters import Lateness, Spacing
from sfc_testbed.hosts.io.summaries import LatenessSummary, SpacingSummary
from sfc_testbed.hosts.protocol import HostStatistics
from sfc_testbed.hosts.transport.counters import NicCounters
from sfc_testbed.testbed.recording.counters import run_counters
from sfc_testbed.testbed.targets.common.counters import SwitchCounts
from sfc_testbed.testbed.targets.common.statistics import PartStatistics, softswitch_statistics
from sfc_testbed.wire.counters import BtsEvent, CopyEvent, CounterEvent, DropReason, PfcEvent, QueueEvent


def counts(*events: tuple[CounterEvent, int], **peaks: int) -> SwitchCounts:
    """Return the counts of a switch.

    Events are passed as pairs because events of different tables may compare equal.
    """
    switch = SwitchCounts(peaks=Counter({f"bts.{name}": peak for name, peak in peaks.items()}))
    for event, count in events:
        switch.by_table[type(event)][event] = count
    return switch


counters_of = partial(run_counters, interrupted=False, wall_s=1.0)
NOTHING = LatenessSummary(0, 0, 0, 0)
HOSTS = [
    HostStatistics("h1", NicCounters(frames_sent=100, frames_received=40), kernel_drops=1),
    HostStatistics("h2", NicCounters(frames_sent=50, frames_received=90), kernel_drops=2),
]
SWITCHES = [
    counts(
        (BtsEvent.SENT_QUEUE, 4),
        (BtsEvent.SENT_CACHE, 1),
        (BtsEvent.SUPPRESSED_CACHE, 2),
        (DropReason.BUFFER_FULL, 3),
        max_suppression_entries=9,
        max_cache_entries=1,
    ),
    counts(
        (DropReason.BUFFER_FULL, 2),
        (DropReason.TTL_EXPIRED, 1),
        (PfcEvent.XOFF, 2),
        (CopyEvent.MADE, 7),
        (CopyEvent.UNUSED, 1),
        (QueueEvent.QUEUE_UNDERFLOW, 6),
        max_cache_entries=5,
    ),
]
PARTS = [
    PartStatistics("tor1", LatenessSummary(10, 1, 7, 8), drops=Counter(no_device=1), absorbed=2, held=4),
    PartStatistics("tor2", LatenessSummary(10, 2, 5, 9), held=1, kernel_drops=3),
    PartStatistics("wires", NOTHING, duplicated=6),
    PartStatistics("probe", None),
]


def test_every_counter_is_summed_into_its_field() -> None:
    """Peaks are the maximum over all switches. Drops by the program and by the target are merged."""
    counters = run_counters(HOSTS, SWITCHES, PARTS, interrupted=True, wall_s=2.0)
    assert counters.packets.model_dump() == {
        "sent": 150, "received": 130, "switch_generated": 7, "link_duplicated": 6, "switch_absorbed": 3, "in_flight": 5,
    }  # fmt: skip
    assert counters.drops == {"buffer_full": 5, "ttl_expired": 1, "no_device": 1}
    assert counters.kernel_drops == 6
    assert counters.bts.model_dump() == {
        "sent": 5, "suppressed": 2, "cache_hits": 3, "max_suppression_entries": 9, "max_cache_entries": 5,
    }  # fmt: skip
    assert counters.pfc.sent == 2
    assert counters.switch_events == {"queue_underflow": 6}
    assert counters.host_events == {}
    assert counters.unexplained_loss == 150 + 7 + 6 - 130 - 3 - 5 - 7
    assert (counters.interrupted, counters.wall_s) == (True, 2.0)


def test_ring_overruns_of_stalled_hosts_and_switches_are_drops_with_one_reason() -> None:
    hosts = [HostStatistics("h1", NicCounters(frames_sent=9, frames_received=2, ring_overruns=4))]
    parts = [PartStatistics("tor1", NOTHING, drops=Counter(receive_ring=3))]
    counters = counters_of(hosts, [], parts)
    assert (counters.drops, counters.unexplained_loss) == ({"receive_ring": 7}, 0)


def test_unusual_host_events_are_summed_over_hosts_and_omitted_if_zero() -> None:
    dishonest = [
        HostStatistics("h1", NicCounters(acknowledgements_refused=2)),
        HostStatistics("h2", NicCounters(acknowledgements_refused=3, messages_failed=1)),
    ]
    counters = counters_of(dishonest, SWITCHES, PARTS)
    assert counters.host_events == {"acknowledgements_refused": 5, "messages_failed": 1}
    counters = counters_of(HOSTS, SWITCHES, PARTS, undelivered=4)
    assert counters.host_events == {"messages_undelivered": 4}
    hosts = [HostStatistics(name, NicCounters(small_window_packets=3)) for name in ("h1", "h2")]
    assert counters_of(hosts, SWITCHES, PARTS).host_events == {"small_window_packets": 6}


def test_a_run_is_as_late_as_its_latest_part() -> None:
    late = [LatenessSummary(3, 10, 30, 90), NOTHING, LatenessSummary(3, 20, 25, 40)]
    counters = counters_of(HOSTS, SWITCHES, PARTS, host_lateness=late)
    assert counters.host_lateness == Lateness(20.0, 30.0, 90.0)
    assert counters.switch_lateness == Lateness(2.0, 7.0, 9.0)
    assert counters_of(HOSTS, SWITCHES, PARTS[2:]).switch_lateness is None


def test_spacing_is_that_of_the_worst_part() -> None:
    hosts = [SpacingSummary(3, 10, 30, 90, 500), SpacingSummary(0, 0, 0, 0, 0), SpacingSummary(4, 20, 25, 99, 600)]
    parts = [PartStatistics("tor1", NOTHING), PartStatistics("tor2", NOTHING, spacing=hosts[1])]
    counters = counters_of(HOSTS, SWITCHES, parts, host_spacing=hosts)
    assert counters.host_spacing == Spacing(count=7, p50_ns=10, p99_ns=30, max_ns=99, ideal_ns=500)
    assert counters.switch_spacing is None


def test_frames_queued_in_a_switch_are_in_flight() -> None:
    """A frame in the queue of a paused port at the end of a run is neither received nor lost."""
    statistics = {
        "lateness": {"departures": {"count": 0, "p50_ns": 0, "p99_ns": 0, "max_ns": 0}},
        "spacing": {"count": 0, "p50_ns": 0, "p99_ns": 0, "max_ns": 0, "ideal_ns": 0},
        "drops": {"ingress": 5, "no_device": 1},
        "pause_frames": 2,
        "mac_control_ignored": 1,
        "queued_packets": 4,
        "kernel_drops": 0,
        "planned_failed": 0,
        "duplicated": 0,
    }
    part = softswitch_statistics("tor1", statistics)
    assert (part.held, part.absorbed, part.drops) == (4, 3, {"no_device": 1})
    sender = HostStatistics("h1", NicCounters(frames_sent=10, frames_received=2))
    counters = counters_of([sender], [], [part])
    assert (counters.packets.in_flight, counters.unexplained_loss) == (4, 0)


def test_a_refused_fault_breaks_the_run() -> None:
    """A run without the fault is not the requested run."""
    parts = [PartStatistics("tor1", None, refused=2), PartStatistics("tor2", None)]
    counters = counters_of([], [], parts)
    assert counters.broken == ("tor1 refused 2 of the commands that make its faults.",)
