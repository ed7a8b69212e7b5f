# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The exchange between all workers of a run in each round, as workers know it."""

from __future__ import annotations

from typing import Protocol

from softswitch.engine import Fabric


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
