# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Messages between the runner and the workers of one run in virtual time, and the exchange between workers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sfc_testbed.hosts.protocol import Record
from sfc_testbed.telemetry.queue_samples import Samples
from sfc_testbed.telemetry.writer import RowValues
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.virtual.part import Counts
from sfc_testbed.testbed.virtual.shares import Share
from softswitch.engine import Fabric

RecordValues = tuple[type[Record], RowValues]
"""The class and the values of a record, which take less time to send than the record."""
CRASHED = 3
"""A worker's exit status after an exception in the host engine; the last line of its log describes the exception."""


@dataclass(frozen=True)
class Task:
    """The task of all workers. A worker's number is the index of its share."""

    plan: RunPlan
    folder: Path
    shares: list[Share]
    round_ns: int


@dataclass
class WorkerReport:
    """A report of a worker, with records by round. Only the final report has `counts`."""

    rounds: int
    records: list[tuple[int, list[RecordValues]]]
    samples: list[tuple[str, Samples]] = field(default_factory=list)
    counts: Counts | None = None
    was_interrupted: bool = False
    """Whether the run ended because the runner asked for it; set in the final report."""
    time_ns: int = 0
    """The end of the last round; not set in the final report."""
    undelivered: int = 0
    """`FlowEnds.undelivered` of all workers; set in the final report."""
    delivered_packets: int = 0
    """The number of data packets that this worker's hosts have received, each packet once."""


class Runner(Protocol):
    """The runner as a worker's counterpart: it takes reports and may ask for the end of the run."""

    def poll(self) -> bool:
        """Return whether a message can be received; the only message is the request to end."""

    def recv(self) -> object:
        """Receive the request to end."""

    def send(self, report: WorkerReport, /) -> None:
        """Send a report from the worker to the runner."""


class Exchange(Protocol):
    """One worker's end of an exchange. In each round, it calls the methods in the order in which they are here.

    Frames are sent as soon as the switches have run, and notes after the hosts have run, so that other workers seldom
    wait. `softswitch.meeting.Meeting` exchanges through shared memory, and `testbed.virtual.mpi.Meeting` over MPI.
    """

    def send_frames(self, fabric: Fabric) -> None:
        """Send the frames that the fabric has collected for other workers."""

    def send_note(self, note: bytes) -> None:
        """Send all other workers a note."""

    def receive_frames(self, fabric: Fabric) -> None:
        """Hand the frames of other workers to the fabric, which forgets the frames that it has sent."""

    def receive_notes(self) -> list[bytes]:
        """Return the notes of all other workers."""
