# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads and changes the mirroring (clone) sessions of a switch, for servers of control protocols and for scripts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from softswitch.control import CommandError, Commands

_PART = re.compile(r"(port|mgid|most_bytes)=(\d+)")
_COMMANDS = {
    (True, False): "mirroring_add",
    (False, True): "mirroring_add_mc",
    (True, True): "mirroring_add_port_and_mgrp",
}


@dataclass(frozen=True)
class MirrorSession:
    """The destinations of the copies of one session: a port, a multicast group, or both.

    A copy of more than `most_bytes` bytes is cut to this length before egress; 0 means that no copy is cut.
    """

    port: int | None = None
    group: int | None = None
    most_bytes: int = 0


@dataclass(frozen=True)
class MirrorSessions:
    """The mirroring sessions of one switch. A refused call raises CommandError, which names the reason."""

    control: Commands

    def set(self, number: int, session: MirrorSession) -> None:
        """Create a session or replace it."""
        command = _COMMANDS.get((session.port is not None, session.group is not None))
        if command is None:
            raise CommandError("a session leads to a port, to a group or to both")
        targets = [target for target in (session.port, session.group) if target is not None]
        most_bytes = [session.most_bytes] if session.most_bytes else []
        self.control.command(" ".join([command, *map(str, [number, *targets, *most_bytes])]))

    def get(self, number: int) -> MirrorSession:
        parts = {name: int(word) for name, word in _PART.findall(self.control.command(f"mirroring_get {number}"))}
        return MirrorSession(parts.get("port"), parts.get("mgid"), parts.get("most_bytes", 0))

    def delete(self, number: int) -> None:
        self.control.command(f"mirroring_delete {number}")
