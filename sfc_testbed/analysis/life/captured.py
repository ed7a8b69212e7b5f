# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Finds the packets of one flow in the captures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from sfc_testbed.telemetry.captures.flow_packets import FlowOnWire, Kind
from sfc_testbed.telemetry.captures.pcapng import Direction, read_capture

_NUMBERED = (Kind.DATA, Kind.TRIMMED, Kind.RETURNED, Kind.ACK, Kind.NAK)


class Sighting(NamedTuple):
    """A numbered packet of the flow, or an answer to one, at an interface."""

    time_us: float
    direction: Direction
    kind: Kind
    packet: int
    """The number of the packet in the message, from 0; for an ACK or NAK, the number that its PSN refers to."""
    frame_bytes: int


def sightings(path: Path, flow: FlowOnWire) -> list[Sighting]:
    """Return the flow's numbered packets in a capture, in order of time. Packets without a model time are left out.

    Raises CaptureError or OSError if the capture cannot be read.
    """
    packets: list[Sighting] = []
    for captured in read_capture(path):
        recognised = flow.recognise(captured.frame)
        clock = captured.interface.clock
        time_us = None if clock is None else clock.model_us(captured.time_ns)
        if time_us is not None and recognised is not None and recognised[0] in _NUMBERED:
            packets.append(Sighting(time_us, captured.direction, *recognised, len(captured.frame)))
    return sorted(packets, key=lambda sighting: sighting.time_us)
