# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Captures that start and stop while a network runs; their files have the format of `--pcap`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.live.capture import LiveCaptures
from sfc_testbed.testbed.live.run import LiveNetwork, common_epoch_ns
from sfc_testbed.testbed.recording.captures import SUFFIX, capture_folder, make_way
from sfc_testbed.testbed.recording.folder import give_to_caller
from sfc_testbed.testbed.targets.common.interfaces import interface_of
from sfc_testbed.topologies.model import Port


class Captures:
    """The captures of one session; those still running end with the session."""

    def __init__(self, network: LiveNetwork, folder: Callable[[], Path], start_ns: Callable[[], int]) -> None:
        """`folder` returns the session's folder; `start_ns` returns model time 0, read when a capture starts."""
        self._network = network
        self._folder = folder
        self._start_ns = start_ns
        self._running: dict[str, tuple[LiveCaptures, Path]] = {}

    def start(self, end: Port) -> Path:
        """Start a capture and wait until tcpdump is listening; return the path of the future file."""
        interface = self._interface(end)
        if interface in self._running:
            raise UsageError(f"{interface} is being captured already")
        path = capture_folder(self._folder(), [end]) / f"{interface}{SUFFIX}"
        make_way(path)
        capture = self._listen(end, path.parent, path.parents[1] / "logs")
        capture.begin(self._start_ns(), common_epoch_ns(self._network))
        self._running[interface] = (capture, path)
        return path

    def stop(self, end: Port) -> tuple[str, ...]:
        """Stop a capture; return lines that name its file, if there is one, and the defects of the file."""
        interface = self._interface(end)
        if interface not in self._running:
            raise UsageError(f"{interface} is not being captured")
        return self._end(interface)

    def close(self, tell: Callable[[str], None]) -> None:
        """End all captures, even if one fails; `tell` receives the lines of each capture."""
        with ExitStack() as stack:
            for interface in reversed(self._running):
                stack.callback(self._end_telling, interface, tell)

    def _end_telling(self, interface: str, tell: Callable[[str], None]) -> None:
        for line in self._end(interface):
            tell(line)

    def _end(self, interface: str) -> tuple[str, ...]:
        capture, path = self._running.pop(interface)
        try:
            defects = capture.stop()
        finally:
            give_to_caller(path.parents[1])
        return (f"captured {path}", *defects) if path.exists() else defects

    def _listen(self, end: Port, folder: Path, logs: Path) -> LiveCaptures:
        network, plan = self._network, self._network.plan
        pids = network.emulation.host_pids()
        try:
            return LiveCaptures(plan.topology, [end], pids, folder, network.run_id, logs, plan.dilation.factor)
        except FileNotFoundError as error:
            raise UsageError("tcpdump is not installed") from error

    def _interface(self, end: Port) -> str:
        return interface_of(self._network.plan.topology, end)
