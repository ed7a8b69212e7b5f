# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The outcome of a run on either clock, besides its traces, and the interface for progress reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from sfc_testbed.analysis.results.counters import RunCounters

Stage = Literal["starting", "simulating", "writing results", "drawing the page"]
"""The stages of a run, in this order; a live run reports its hosts and flows in place of `simulating`."""


@dataclass(frozen=True)
class ClockOutcome:
    """The counters of a run and how it ended.

    `notes` are sentences that a reader of the result must know, independent of the verdict.
    """

    counters: RunCounters
    notes: tuple[str, ...] = ()


class Progress(Protocol):
    """An observer of a run. Its methods are called often and must be cheap."""

    def stage(self, stage: Stage) -> None:
        """Report that a stage begins."""

    def share_done(self, share: float) -> None:
        """Report the share of a simulation that is done, from 0 to 1."""

    def hosts_up(self, count: int, total: int) -> None:
        """Report the number of hosts whose NIC runs, in a live run."""

    def flows_done(self, count: int, total: int) -> None:
        """Report the number of completed flows, in a live run."""

    def hottest_buffer(self, switch: str, used_bytes: int) -> None:
        """Report the switch with the most queued bytes at this moment."""

    def draining(self, is_interrupted: bool) -> None:
        """Report that sending has ended and queues drain, which takes some time at a large dilation."""


class Silent:
    """An observer that ignores all reports."""

    def stage(self, stage: Stage) -> None:
        pass

    def share_done(self, share: float) -> None:
        pass

    def hosts_up(self, count: int, total: int) -> None:
        pass

    def flows_done(self, count: int, total: int) -> None:
        pass

    def hottest_buffer(self, switch: str, used_bytes: int) -> None:
        pass

    def draining(self, is_interrupted: bool) -> None:
        pass
