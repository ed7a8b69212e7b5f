# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Which run it was and what hosts, switches and the machine counted: what a result is made from besides the traces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from analysis.results.result import BtsCounts, Clock, PacketCounts, PfcCounts


@dataclass(frozen=True)
class RunIdentity:
    """Which run it was. Times in model units."""

    scenario: str
    scheme: str
    scale: str
    switch: str
    clock: Clock
    dilation: int
    seed: int
    base_rtt_us: float
    window_us: tuple[float, float] | None = None
    """Flows that start outside are warm-up or cool-down: left out of slowdown and throughput, counted in totals."""
    retry_of: str | None = None
    """Folder of the late run that this one tried again, at a greater D."""
    ideal_completion_us: Mapping[str, float] = field(default_factory=dict)
    """By tag, of messages that wait for one another: of all of them, undisturbed."""
    program: str | None = None
    """The P4 program, where it is not the testbed's own."""


@dataclass(frozen=True)
class Lateness:
    """How late timers and packets were served, in wall ns."""

    p50_ns: float
    p99_ns: float
    max_ns: float


@dataclass(frozen=True)
class Spacing:
    """How far frames that follow one another on a wire were off bytes over rate, in wall ns."""

    count: int
    """Pairs of frames."""
    p50_ns: float
    p99_ns: float
    max_ns: float
    ideal_ns: float
    """What their spacing should have been, in the mean."""


@dataclass(frozen=True)
class RunCounters:
    """What was counted, in the shapes of result.json. Packets are frames."""

    packets: PacketCounts
    drops: Mapping[str, int]
    """Frames dropped by switches and hosts on purpose and counted, by reason."""
    kernel_drops: int
    """Frames dropped by the kernel outside the modelled queues; they are not in `drops`."""
    bts: BtsCounts
    pfc: PfcCounts
    switch_events: Mapping[str, int] = field(default_factory=dict)
    """What else the P4 program counted: events that no other field sums up."""
    host_events: Mapping[str, int] = field(default_factory=dict)
    """What hosts counted that does not happen while all are honest and answer."""
    host_lateness: Lateness | None = None
    switch_lateness: Lateness | None = None
    host_spacing: Spacing | None = None
    switch_spacing: Spacing | None = None
    interrupted: bool = False
    wall_s: float = 0.0
    broken: tuple[str, ...] = ()
    """What of the run itself failed, so that its figures are not those of what was asked for: a sentence each."""
    unbalanced: str = ""
    """A sentence that says why the balance of packets shows no losses: the network was counted while it went on."""
    lacking: tuple[str, ...] = ()
    """What the run was to leave beside its figures and did not, such as a whole capture: a sentence each."""

    @property
    def unexplained_loss(self) -> int:
        """Frames sent, generated or duplicated, less those received, absorbed, held or dropped; negative: gained."""
        packets = self.packets
        entered = packets.sent + packets.switch_generated + packets.link_duplicated
        left = packets.received + packets.switch_absorbed + packets.in_flight + sum(self.drops.values())
        return entered - left
