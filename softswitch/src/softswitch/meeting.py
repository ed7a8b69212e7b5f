# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The exchange between fabrics of forked processes, through memory that they share; see `c/switch/meeting.h`.

The memory has no name and waiting processes sleep on words in it, so nothing stays behind, however a process ends.
"""

from __future__ import annotations

import ctypes
import mmap
from pathlib import Path

from softswitch.engine import Fabric
from softswitch.library import Note, load


class NoRoom(Exception):
    """The frames of a round are too large for the shared memory."""


class Meeting:
    """Memory for `members` processes, and after `join` one member's end of it.

    In each round, a member calls `send_frames`, `send_note`, `receive_frames` and `receive_notes` in this order. If a
    member has died, the others wait for ever: the process that started them must notice that and end them.
    """

    def __init__(self, library: Path, members: int, room_bytes: int) -> None:
        """Reserve room for members that each send another one at most `room_bytes` per round.

        `library` comes from `softswitch.build.build_library`. Unused bytes take no memory.
        """
        self._library = load(library)
        self._members = members
        self._room_bytes = room_bytes
        self._memory = mmap.mmap(-1, self._library.sw_meeting_bytes(members, room_bytes))
        self._notes = (Note * members)()
        self._notes_of_others: list[Note] = []
        self._handle: int | None = None

    def join(self, mine: int) -> None:
        """Use this meeting as the member with the number `mine` from now on."""
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._handle = self._library.sw_meeting_join(address, self._members, self._room_bytes, mine)
        if not self._handle:
            raise MemoryError("no memory for a meeting")
        self._notes_of_others = [self._notes[member] for member in range(self._members) if member != mine]

    def send_frames(self, fabric: Fabric) -> None:
        """Send each other member the frames that the fabric has collected for it. Raises NoRoom."""
        self._check(self._library.sw_meeting_send_frames(self._handle, fabric.handle))

    def send_note(self, note: bytes) -> None:
        """Send all other members a note. Raises NoRoom."""
        self._check(self._library.sw_meeting_send_note(self._handle, note, len(note)))

    def receive_frames(self, fabric: Fabric) -> None:
        """Wait for the frames of all other members and hand them to the fabric, which forgets the frames it sent."""
        if self._library.sw_meeting_receive_frames(self._handle, fabric.handle):
            raise ValueError("frames that do not fit these engines")

    def receive_notes(self) -> list[bytes]:
        """Wait for the notes of all other members, return them in the order of the members, and end the round."""
        self._library.sw_meeting_receive_notes(self._handle, self._notes)
        return [ctypes.string_at(note.bytes, note.n_bytes) for note in self._notes_of_others]

    def waits(self) -> tuple[int, int]:
        """Return how often this member has waited by polling, and by sleeping."""
        polled, slept = ctypes.c_uint64(), ctypes.c_uint64()
        self._library.sw_meeting_waits(self._handle, ctypes.byref(polled), ctypes.byref(slept))
        return polled.value, slept.value

    def _check(self, failed: int) -> None:
        if failed:
            raise NoRoom(f"the frames of one round do not fit into the {self._room_bytes} bytes between two members")
