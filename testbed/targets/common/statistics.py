# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a part of a switch target counts and measures by itself, besides what the P4 program counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hosts.io.summaries import LatenessSummary, SpacingSummary
from testbed.targets.common.drops import absorbed_frames, target_only_drops


@dataclass(frozen=True)
class PartStatistics:
    """One part: a switch, or something else on the packets' way."""

    name: str
    lateness: LatenessSummary | None
    """By how much wall time packets left later than modelled; None: not measured."""
    spacing: SpacingSummary | None = None
    """How far its departures were from bytes over rate; None: they are not its own to measure."""
    drops: Counter[str] = field(default_factory=Counter)
    """Frames that it dropped by itself, by reason."""
    absorbed: int = 0
    """Frames that it consumed as intended."""
    held: int = 0
    """Frames that wait in its queues."""
    kernel_drops: int = 0
    duplicated: int = 0
    """Copies that impaired links made of frames."""
    refused: int = 0
    """Planned commands that it refused when their time came."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Everything it has to say, for the log."""


def softswitch_statistics(name: str, found: Mapping[str, Any]) -> PartStatistics:
    """From what softswitch says of itself (softswitch/src/switch/statistics.c)."""
    return PartStatistics(
        name=name,
        lateness=LatenessSummary(**found["lateness"]["departures"]),
        spacing=SpacingSummary(**found["spacing"]),
        drops=target_only_drops(found),
        absorbed=absorbed_frames(found),
        held=found["queued_packets"],
        kernel_drops=found["kernel_drops"],
        duplicated=found["duplicated"],
        refused=found["planned_failed"],
        details=found,
    )
