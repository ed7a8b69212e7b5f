# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Captures that begin and end while a network runs, each as a run's `--pcap` makes it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from testbed.errors import UsageError
from testbed.execution.execute import give_to_caller
from testbed.live.capture import LiveCaptures
from testbed.live.run import LiveNetwork, common_epoch_ns
from testbed.recording.captures import SUFFIX, capture_folder, make_way
from testbed.targets.common.interfaces import interface_of
from topologies.model import Port


class Captures:
    """The captures of one session; those still running end with it."""

    def __init__(self, network: LiveNetwork, folder: Callable[[], Path], start_ns: Callable[[], int]) -> None:
        """`folder` is the session's own. Model time 0 of a capture is where `start_ns` stands when it begins."""
        self._network = network
        self._folder = folder
        self._start_ns = start_ns
        self._running: dict[str, tuple[LiveCaptures, Path]] = {}

    def start(self, end: Port) -> Path:
        """Begins one; returns once it listens. The file that it will be."""
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
        """Ends one: where its file is, if there is one, and what that lacks, a line each."""
        interface = self._interface(end)
        if interface not in self._running:
            raise UsageError(f"{interface} is not being captured")
        return self._end(interface)

    def close(self, tell: Callable[[str], None]) -> None:
        """Ends them all, even if one cannot be kept; `tell` hears the lines of each."""
        with ExitStack() as stack:
            for interface in reversed(self._running):
                stack.callback(self._end_telling, interface, tell)

    def _end_telling(self, interface: str, tell: Callable[[str], None]) -> None:
        for line in self._end(interface):
            tell(line)

    def _end(self, interface: str) -> tuple[str, ...]:
        capture, path = self._running.pop(interface)
        try:
            lacking = capture.stop()
        finally:
            give_to_caller(path.parents[1])
        return (f"captured {path}", *lacking) if path.exists() else lacking

    def _listen(self, end: Port, folder: Path, logs: Path) -> LiveCaptures:
        network, plan = self._network, self._network.plan
        pids = {host.name: network.emulation.host_pid(host.name) for host in plan.topology.hosts}
        try:
            return LiveCaptures(plan.topology, [end], pids, folder, network.run_id, logs, plan.dilation.factor)
        except FileNotFoundError as error:
            raise UsageError("tcpdump is not installed") from error

    def _interface(self, end: Port) -> str:
        return interface_of(self._network.plan.topology, end)
