# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What the runner and the workers of one run in virtual time say to each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from hosts.protocol import Record
from telemetry.queue_samples import Samples
from testbed.plan.plan import RunPlan
from testbed.virtual.exchange import Descriptors
from testbed.virtual.part import Counts
from testbed.virtual.shares import Share

CRASHED = 3
"""A worker's exit status after an exception in the host engine; the last line of its log describes the exception."""


@dataclass(frozen=True)
class Task:
    """What all workers are told. Each knows its number, which is that of its share."""

    plan: RunPlan
    folder: Path
    shares: list[Share]
    round_ns: int
    descriptors: Descriptors | None = None
    """Where workers meet in shared memory."""


@dataclass
class Told:
    """What a worker tells. Records by round; of the end, `counts` too."""

    rounds: int
    records: list[tuple[int, list[Record]]]
    samples: list[tuple[str, Samples]] = field(default_factory=list)
    counts: Counts | None = None
    was_asked: bool = False
    """Of the end: whether that is why it came."""


class Runner(Protocol):
    """Whom a worker tells, and who may ask it to end."""

    def poll(self) -> bool:
        """Whether there is something to be received: to end is all that there is to be asked."""

    def recv(self) -> object:
        """Takes that."""

    def send(self, told: Told, /) -> None:
        """Hands it over."""
