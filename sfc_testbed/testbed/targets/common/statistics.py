# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Statistics that a part of a switch target keeps itself, in addition to the P4 program's counters.

Frames that a target drops or consumes outside the P4 program belong to a run's packet balance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sfc_testbed.hosts.io.summaries import LatenessSummary, SpacingSummary

DOWN = "link_down"
"""Drop reason: the link was down."""
RECEIVE_RING = "receive_ring"
"""Drop reason: the receive ring of a stopped node was full."""

_COUNTED_BY_PROGRAM = ("ingress", "egress")
_OUR_NAMES = {"link_udp_loss": "link_bts_loss"}
"""softswitch names the loss after UDP ports, the testbed after BTS."""


@dataclass(frozen=True)
class PartStatistics:
    """Statistics of one part: a switch, or another process that packets pass, such as a delay line."""

    name: str
    lateness: LatenessSummary | None
    """Wall time by which packets left later than modelled. None: not measured."""
    spacing: SpacingSummary | None = None
    """Deviation of the departures from frame length divided by rate. None: not measured."""
    drops: Counter[str] = field(default_factory=Counter)
    """Frames dropped by the part itself, by reason."""
    absorbed: int = 0
    """Pause frames and other MAC control frames, which end at the MAC."""
    held: int = 0
    """Frames in the queues."""
    kernel_drops: int = 0
    duplicated: int = 0
    """Copies of frames made by impaired links."""
    refused: int = 0
    """Planned commands that were refused when they were due."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """All statistics of the part, for the log."""


def softswitch_statistics(name: str, statistics: Mapping[str, Any]) -> PartStatistics:
    """Convert the statistics that softswitch prints (its c/switch/statistics.c)."""
    return PartStatistics(
        name=name,
        lateness=LatenessSummary(**statistics["lateness"]["departures"]),
        spacing=SpacingSummary(**statistics["spacing"]),
        drops=_target_only_drops(statistics),
        absorbed=statistics["pause_frames"] + statistics["mac_control_ignored"],
        held=statistics["queued_packets"],
        kernel_drops=statistics["kernel_drops"],
        duplicated=statistics["duplicated"],
        refused=statistics["planned_failed"],
        details=statistics,
    )


def _target_only_drops(statistics: Mapping[str, Any]) -> Counter[str]:
    """Return the drops by the target itself, by reason. Drops by the P4 program are in the program's counters."""
    drops: Mapping[str, int] = statistics["drops"]
    by_target = {name: count for name, count in drops.items() if count and name not in _COUNTED_BY_PROGRAM}
    return Counter({_OUR_NAMES.get(name, name): count for name, count in by_target.items()})
