# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Captures that begin and end while a network runs: tcpdump on a host's or a switch's interface."""

from __future__ import annotations

import time
from pathlib import Path

from testbed.errors import UsageError
from testbed.live.run import LiveNetwork
from testbed.system.child import Child
from testbed.system.namespace import in_network_of
from testbed.targets.common.interfaces import interface_of
from topologies.model import Port

FOLDER = Path("pcaps")
_READY_SECONDS = 20.0
_QUIET_SECONDS = 0.3
_PATIENCE_SECONDS = 3.0


class Captures:
    """The captures of one network; those still running end with it."""

    def __init__(self, network: LiveNetwork) -> None:
        self._network = network
        self._running: dict[str, tuple[Child, Path]] = {}

    def start(self, end: Port) -> Path:
        """Begins one; returns once it listens. The file it writes, in the current folder's `pcaps`."""
        interface = interface_of(self._network.plan.topology, end)
        if interface in self._running:
            raise UsageError(f"{interface} is being captured already")
        FOLDER.mkdir(exist_ok=True)
        path = (FOLDER / f"{interface}.pcap").absolute()
        words = ["tcpdump", "--immediate-mode", "-U", "-Z", "root", "-s", "0", "-i", interface, "-w", str(path)]
        if end.node in self._network.plan.topology.host:
            words = in_network_of(self._network.emulation.host_pid(end.node), *words)
        log = self._network.logs / f"tcpdump-{interface}.log"
        try:
            child = Child(f"tcpdump of {interface}", words, self._network.run_id, log, errors_are_lines=True)
        except FileNotFoundError as error:
            raise UsageError("tcpdump is not installed") from error
        try:
            child.wait_for_line("listening on", _READY_SECONDS)
        except BaseException:
            child.stop()
            raise
        self._running[interface] = (child, path)
        return path

    def stop(self, end: Port) -> Path:
        """Ends one; its file."""
        interface = interface_of(self._network.plan.topology, end)
        if interface not in self._running:
            raise UsageError(f"{interface} is not being captured")
        child, path = self._running.pop(interface)
        _wait_until_quiet(path)
        child.stop()
        return path

    def close(self) -> None:
        """Ends them all."""
        for child, _ in self._running.values():
            child.stop()
        self._running.clear()


def _wait_until_quiet(path: Path) -> None:
    """Frames that were on their way when somebody asked for the end belong to it, but a busy wire has an end."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    size = -1
    while size != path.stat().st_size and time.monotonic() < deadline:
        size = path.stat().st_size
        time.sleep(_QUIET_SECONDS)
