# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What either clock hands back after a run, besides the traces, and what it tells while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from analysis.results.counters import RunCounters


@dataclass(frozen=True)
class ClockOutcome:
    """What a clock hands back: the counters of a run and how it ended.

    `notes` are sentences that a reader of the result must know, whatever the verdict.
    """

    counters: RunCounters
    notes: tuple[str, ...] = ()


class Progress(Protocol):
    """Told what happens during a run, often; must be cheap."""

    def hosts_up(self, count: int, total: int) -> None:
        """Hosts whose NIC runs."""

    def flows_done(self, count: int, total: int) -> None:
        """Flows completed."""

    def hottest_buffer(self, switch: str, used_bytes: int) -> None:
        """The switch with most bytes queued now."""

    def ending(self, is_interrupted: bool) -> None:
        """Nothing is sent any more; queues run empty, which takes a while where the clock is slow."""


class Silent:
    """Progress that nobody watches."""

    def hosts_up(self, count: int, total: int) -> None:
        pass

    def flows_done(self, count: int, total: int) -> None:
        pass

    def hottest_buffer(self, switch: str, used_bytes: int) -> None:
        pass

    def ending(self, is_interrupted: bool) -> None:
        pass
