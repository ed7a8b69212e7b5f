# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Captures of a live run (`--pcap h1,tor1:3`): tcpdump on interfaces of hosts and switches."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sfc_testbed.telemetry.captures.clock import CaptureClock
from sfc_testbed.telemetry.captures.flow_packets import FlowFilter
from sfc_testbed.telemetry.captures.pcapng import CaptureError, Direction
from sfc_testbed.testbed.recording.captures import FOLDER, SUFFIX, convert
from sfc_testbed.testbed.system.child import RunChild
from sfc_testbed.testbed.system.namespace import in_network_of
from sfc_testbed.testbed.targets.common.interfaces import interface_of
from sfc_testbed.topologies.model import Port, Topology

_READY_SECONDS = 20.0
_PATIENCE_SECONDS = 5.0
_HANDED_OVER_SECONDS = 1.2
"""Seconds for the kernel to hand over packets: it does so once a second, and drops the rest when tcpdump ends."""
_ASK_SECONDS = 0.05
_COUNTS = re.compile(r"(\d+) packets? captured, (\d+) packets? received by filter, (\d+) packets? dropped by kernel")
"""Counts that tcpdump prints on SIGUSR1. The kernel's counts run ahead of tcpdump's own count."""
_CLOCK_READINGS = 9
_DROPPED = re.compile(r"(\d+) packets? dropped by ")
"""Packets dropped by the kernel or by the interface: they were on the wire but are missing in the file."""


@dataclass(frozen=True)
class _Running:
    """A tcpdump process of a capture, and the file that it writes. Direction UNKNOWN stands for both directions."""

    child: RunChild
    end: Port
    pcap: Path
    direction: Direction

    @property
    def patience_s(self) -> float:
        """Seconds to wait for the kernel's packets; short for one direction, as the kernel counts both directions."""
        return _PATIENCE_SECONDS if self.direction is Direction.UNKNOWN else _HANDED_OVER_SECONDS


class LiveCaptures:
    """The tcpdump processes of a run; all of them are listening before anything is sent.

    The kernel shows frames that a host's NIC sends at the host's own interface. The softswitch sends past the kernel's
    capture hook (PACKET_QDISC_BYPASS), so frames that it sends are captured where they arrive, at the link's other end.
    """

    def __init__(
        self,
        topology: Topology,
        ends: Sequence[Port],
        pids: Mapping[str, int],
        folder: Path,
        run_id: str,
        logs: Path,
        dilation: int,
        flows: FlowFilter | None = None,
    ) -> None:
        """`pids` maps the names of hosts to processes in their network namespaces. `flows` selects frames."""
        self._topology = topology
        self._pids = pids
        self._run_id = run_id
        self._logs = logs
        self._flows = flows
        self._clock = CaptureClock(dilation)
        self._running: list[_Running] = []
        try:
            for end in ends:
                self._listen(end, folder)
            for process in self._running:
                process.child.wait_for_line("listening on", _READY_SECONDS)
        except BaseException:
            self.stop()
            raise

    def _listen(self, end: Port, folder: Path) -> None:
        interface = interface_of(self._topology, end)
        if end.node in self._pids:
            self._start(end, end, folder / f"{interface}.pcap", Direction.UNKNOWN)
            return
        neighbour = self._topology.link_at[end].other(end)
        self._start(end, end, folder / f"{interface}-in.pcap", Direction.IN)
        self._start(end, neighbour, folder / f"{interface}-out.pcap", Direction.OUT)

    def _start(self, end: Port, where: Port, pcap: Path, direction: Direction) -> None:
        """Start one tcpdump at interface `where` for a capture of `end`: both directions, or incoming frames only."""
        words = ["tcpdump", "-U", "-Z", "root", "-s", "0", "--nano", "-i", interface_of(self._topology, where)]
        words += ["-w", str(pcap)] if direction is Direction.UNKNOWN else ["-Q", "in", "-w", str(pcap)]
        if self._flows is not None:
            words.append(self._flows.expression())
        if where.node in self._pids:
            words = in_network_of(self._pids[where.node], *words)
        name = end.node if direction is Direction.UNKNOWN else pcap.stem
        log = self._logs / f"tcpdump-{name}.log"
        child = RunChild(f"tcpdump of {name}", words, self._run_id, log, merges_stderr=True)
        self._running.append(_Running(child, end, pcap, direction))

    def begin(self, start_ns: int, switch_epoch_ns: int | None) -> None:
        """Set when model time 0 is, and when the switches' clocks begin if they share one epoch (CLOCK_MONOTONIC)."""
        lead_ns = _calendar_lead_ns()
        epoch_ns = None if switch_epoch_ns is None else switch_epoch_ns + lead_ns
        self._clock = CaptureClock(self._clock.dilation, start_ns + lead_ns, epoch_ns)

    def stop(self) -> tuple[str, ...]:
        """End the captures; return one sentence for each defect of a file. A second call does nothing."""
        running, self._running = self._running, []
        _wait_for_kernel({process.child: process.patience_s for process in running})
        troubles = [process.child.trouble() for process in running]
        defects = [(part.end, _end(part.child, trouble)) for part, trouble in zip(running, troubles, strict=True)]
        for end in dict.fromkeys(process.end for process in running):
            defects.append((end, self._keep(end, [process for process in running if process.end == end])))
        return tuple(
            f"{FOLDER}/{interface_of(self._topology, end)}{SUFFIX} {defect}."
            for end, defect in defects
            if defect is not None
        )

    def _keep(self, end: Port, parts: Sequence[_Running]) -> str | None:
        """Convert the parts of a capture into one pcapng file with the clock's metadata; return an error, or None."""
        path = parts[0].pcap.parent / f"{interface_of(self._topology, end)}{SUFFIX}"
        try:
            pcaps = {part.pcap: part.direction for part in parts}
            convert(pcaps, path, self._topology, end, self._clock, self._flows)
        except FileNotFoundError:
            return "was not written"
        except CaptureError as error:
            return f"cannot be written: {error}"
        return None


def _calendar_lead_ns() -> int:
    """Return how far CLOCK_REALTIME, the clock of packets, is ahead of CLOCK_MONOTONIC.

    Each sample reads CLOCK_REALTIME between two readings of CLOCK_MONOTONIC; the shortest interval is the best sample.
    """
    samples = []
    for _ in range(_CLOCK_READINGS):
        before_ns, calendar_ns, after_ns = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        samples.append((after_ns - before_ns, calendar_ns - (before_ns + after_ns) // 2))
    return min(samples)[1]


def _wait_for_kernel(patience_s: Mapping[RunChild, float]) -> None:
    """Wait until each tcpdump has written the packets that the kernel had received at the start; give up in time."""
    begin_s = time.monotonic()
    received_counts: dict[RunChild, int] = {}
    behind = [child for child in patience_s if not child.has_ended]
    while behind:
        for child in behind:
            child.send_signal(signal.SIGUSR1)
        time.sleep(_ASK_SECONDS)
        waited_s = time.monotonic() - begin_s
        behind = [
            child
            for child in behind
            if not _has_all(child, received_counts) and waited_s < patience_s[child] and not child.has_ended
        ]


def _has_all(child: RunChild, received_counts: dict[RunChild, int]) -> bool:
    """Return whether tcpdump has written all packets that its first SIGUSR1 report counted as received."""
    for line in child.lines():
        if (match := _COUNTS.search(line)) is not None:
            captured, received, dropped = map(int, match.groups())
            if captured >= received_counts.setdefault(child, received - dropped):
                return True
    return False


def _end(child: RunChild, trouble: str | None) -> str | None:
    """End a tcpdump; return what its file lacks, or None. Only tcpdump's output says how many packets were dropped."""
    child.stop()
    if trouble is not None:
        return f"ends early: {trouble}"
    dropped = [int(match[1]) for line in child.rest if (match := _DROPPED.match(line))]
    if not dropped:
        return f"may end early: {child.obituary()}"
    return f"lacks {sum(dropped)} packets that the kernel dropped" if any(dropped) else None
