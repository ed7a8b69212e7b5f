# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The counters of a run's hosts and switches: the inputs of a result besides the traces and the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sfc_testbed.analysis.results.result import BfcCounts, BtsCounts, PacketCounts, PfcCounts, ResentCounts


@dataclass(frozen=True)
class Lateness:
    """Lateness of timers and packets, in ns of wall time."""

    p50_ns: float
    p99_ns: float
    max_ns: float


@dataclass(frozen=True)
class Spacing:
    """Error in the spacing of back-to-back frames on a wire, in ns of wall time. The ideal is frame bytes / rate."""

    count: int
    """The number of pairs of frames."""
    p50_ns: float
    p99_ns: float
    max_ns: float
    ideal_ns: float
    """The mean ideal spacing."""


@dataclass(frozen=True)
class RunCounters:
    """The counters of a run, in the types of result.json. Packets are frames."""

    packets: PacketCounts
    drops: Mapping[str, int]
    """Frames dropped by switches and hosts on purpose and counted, by reason."""
    kernel_drops: int
    """Frames dropped by the kernel outside the modelled queues; they are not in `drops`."""
    bts: BtsCounts
    pfc: PfcCounts
    bfc: BfcCounts = field(default_factory=BfcCounts)
    resent: ResentCounts | None = None
    switch_events: Mapping[str, int] = field(default_factory=dict)
    """Events counted by the P4 program that no other field contains."""
    host_events: Mapping[str, int] = field(default_factory=dict)
    """Unusual events at hosts, such as forged acknowledgements or messages without an answer."""
    host_lateness: Lateness | None = None
    switch_lateness: Lateness | None = None
    host_spacing: Spacing | None = None
    switch_spacing: Spacing | None = None
    interrupted: bool = False
    wall_s: float = 0.0
    broken: tuple[str, ...] = ()
    """Failures of the run that make its figures invalid, one sentence each."""
    unbalanced: str = ""
    """The reason why losses cannot be computed: the counters were read while the network was still running."""
    lacking: tuple[str, ...] = ()
    """Missing outputs that do not affect the figures, such as a complete capture, one sentence each."""

    @property
    def unexplained_loss(self) -> int:
        """Frames sent, generated or duplicated minus those received, absorbed, queued or dropped; negative: gained."""
        packets = self.packets
        entered = packets.sent + packets.switch_generated + packets.link_duplicated
        left = packets.received + packets.switch_absorbed + packets.in_flight + sum(self.drops.values())
        return entered - left
