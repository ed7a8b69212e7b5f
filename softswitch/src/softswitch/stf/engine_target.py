# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Provides softswitch as the switch of a packet test. It must not know statements."""

from __future__ import annotations

from pathlib import Path

from softswitch.build import build_library
from softswitch.engine import SwitchEngine

PACKET_GAP_NS = 1_000_000

_REASONS = {
    "ingress": "by the program in ingress",
    "egress": "by the program in egress",
    "no_device": "because its port has no device",
    "memory_limit": "because memory ran out",
    "pass_limit": "because it went round too often",
    "no_copies": "because its multicast group is unknown or empty",
    "bad_destination": "because there is no such port or class",
    "bad_length": "because it is empty or too long",
    "link_down": "because a link is down",
    "queue_full": "because its queue was full",
    "step_limit": "because the program does not leave a loop",
}
"""The drop reasons that a test can cause, as text; other reasons keep their name in the statistics."""


class EngineTarget:
    """A switch in this process; each packet enters one simulated millisecond after the packet before.

    As in BMv2's packet tests, 510 and 511 are ports as all others, except that ingress drops what it sends to 511,
    and frames may have 0 bytes. MACs do not obey pause frames but pass them to the program, because the program is the
    subject of a test.
    """

    def __init__(self, json_path: Path, *, sanitize: bool = False) -> None:
        self._engine = SwitchEngine(build_library(json_path, sanitize=sanitize), bmv2_ports=True)
        self._now_ns = 0
        self._ports: set[int] = set()

    def command(self, line: str) -> str:
        """Run a control command. Raise CommandError if it is refused."""
        return self._engine.command(line)

    def send(self, port: int, frame: bytes) -> list[tuple[int, bytes]]:
        """Send a frame to a port, run until the switch is empty, and return the departed frames as (port, frame)."""
        if port not in self._ports:
            self._engine.command(f"port_mac_control {port} off")
            self._ports.add(port)
        self._now_ns += PACKET_GAP_NS
        departures = self._engine.step(port, frame, self._now_ns)
        while (due_ns := self._engine.next_timer_ns()) is not None:
            self._now_ns = max(self._now_ns, due_ns)
            departures += self._engine.advance(self._now_ns)
        return [(out_port, out_frame) for out_port, _, out_frame in departures]

    def drops(self) -> list[str]:
        """Return the reasons of the drops since the last call, each as the end of a sentence."""
        return [_why(line) for line in self._engine.command("drops_read").splitlines()]

    def __enter__(self) -> EngineTarget:
        return self

    def __exit__(self, *_: object) -> None:
        self._engine.close()


def _why(line: str) -> str:
    """Return the text for a line of drops_read: reason and port, then the place in the program and branch if known."""
    reason, port, *places = line.split("\t")
    text = f"{_REASONS.get(reason, reason)} (port {port})"
    if places:
        text += f", at {places[0]}"
    return f"{text} ({places[1]})" if len(places) > 1 else text
