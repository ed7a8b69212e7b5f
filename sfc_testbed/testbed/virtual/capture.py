# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Captures of a run in virtual time: the frames that hosts and switches exchange."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import ExitStack
from operator import itemgetter
from pathlib import Path

from sfc_testbed.telemetry.captures.clock import CaptureClock
from sfc_testbed.telemetry.captures.pcapng import CaptureWriter, Direction
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.recording.captures import SUFFIX, Directions, capture_folder
from sfc_testbed.testbed.targets.common.interfaces import interface_of
from sfc_testbed.testbed.virtual.shares import Share
from softswitch.engine import SeenFrame

_TIME_AND_DIRECTION = itemgetter(0, 3)


class VirtualCapture:
    """Writes the frames of a share's captured hosts and switch ports. Nodes are known by their index in the share."""

    def __init__(self, plan: RunPlan, share: Share, folder: Path) -> None:
        self._resources = ExitStack()
        self._hosts: dict[int, tuple[CaptureWriter, Directions]] = {}
        self._ports: dict[tuple[int, int], CaptureWriter] = {}
        self._waiting: list[SeenFrame] = []
        self._selects = None if plan.captured_flows is None else plan.captured_flows.selects
        capture_root = capture_folder(folder, plan.captured)
        places = {name: place for names in (share.hosts, share.switches) for place, name in enumerate(names)}
        clock = CaptureClock(plan.dilation.factor, start_ns=0, switch_epoch_ns=0)
        for end in plan.captured:
            if end.node not in places:
                continue
            interface = interface_of(plan.topology, end)
            writer = self._resources.enter_context(
                CaptureWriter(capture_root / f"{interface}{SUFFIX}", interface, clock)
            )
            if end.node in plan.topology.host:
                self._hosts[places[end.node]] = writer, Directions(plan.topology, end)
            else:
                self._ports[places[end.node], end.number] = writer

    @property
    def hosts(self) -> frozenset[int]:
        """The hosts whose frames are captured."""
        return frozenset(self._hosts)

    @property
    def ports(self) -> Collection[tuple[int, int]]:
        """The switches and ports whose frames are captured."""
        return self._ports.keys()

    def frame(self, host: int, frame: bytes, time_ns: int) -> None:
        """Write a frame that a host sent or received. The frames of a host come in order of time."""
        writer, directions = self._hosts[host]
        if self._selects is None or self._selects(frame):
            writer.write(time_ns, frame, directions.of(frame))

    def frames_of_ports(self, frames: Iterable[SeenFrame], until_ns: int) -> None:
        """Write frames at switch ports, in any order; frames of later calls are due after `until_ns`.

        A switch reports a frame when its transmission starts, so frames that are due later wait for a later call.
        """
        self._waiting += frames if self._selects is None else (seen for seen in frames if self._selects(seen[4]))
        self._waiting.sort(key=_TIME_AND_DIRECTION)
        due = 0
        for time_ns, switch, port, leaves, frame in self._waiting:
            if time_ns > until_ns:
                break
            self._ports[switch, port].write(time_ns, frame, Direction.OUT if leaves else Direction.IN)
            due += 1
        del self._waiting[:due]

    def close(self) -> None:
        """Write the waiting frames and close the files."""
        if self._waiting:
            self.frames_of_ports((), self._waiting[-1][0])
        self._resources.close()
