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

from telemetry.captures.clock import CaptureClock
from telemetry.captures.pcapng import CaptureError, Direction
from testbed.recording.captures import FOLDER, SUFFIX, convert
from testbed.system.child import Child
from testbed.system.namespace import in_network_of
from testbed.targets.common.interfaces import interface_of
from topologies.model import Port, Topology

_READY_SECONDS = 20.0
_PATIENCE_SECONDS = 5.0
_HANDED_OVER_SECONDS = 1.2
"""The kernel hands packets to tcpdump once a second, and drops without a word what it still has when that ends."""
_ASK_SECONDS = 0.05
_COUNTS = re.compile(r"(\d+) packets? captured, (\d+) packets? received by filter, (\d+) packets? dropped by kernel")
"""What tcpdump says when it is asked (SIGUSR1). The kernel's counts are ahead of its own."""
_LOOKS = 9
_DROPPED = re.compile(r"(\d+) packets? dropped by ")
"""By the kernel, or by the interface: in both cases it was on the wire and is not in the file."""


@dataclass(frozen=True)
class _Running:
    """A tcpdump of a capture, and the file that it fills. Both ways are one's, unless it is told which."""

    child: Child
    end: Port
    pcap: Path
    direction: Direction

    @property
    def patience_s(self) -> float:
        """The kernel counts both ways: a tcpdump of one may never have as many, and has them when the kernel must."""
        return _PATIENCE_SECONDS if self.direction is Direction.UNKNOWN else _HANDED_OVER_SECONDS


class LiveCaptures:
    """tcpdump on interfaces; all of them listen before anything is sent.

    What a host's NIC sends the kernel shows at its own interface. softswitch sends past where the kernel looks
    (PACKET_QDISC_BYPASS): what leaves its port is what arrives at the other end of the link.
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
    ) -> None:
        """`pids` are of the hosts."""
        self._topology = topology
        self._pids = pids
        self._run_id = run_id
        self._logs = logs
        self._clock = CaptureClock(dilation)
        self._running: list[_Running] = []
        try:
            for end in ends:
                self._listen(end, folder)
            for each in self._running:
                each.child.wait_for_line("listening on", _READY_SECONDS)
        except BaseException:
            self.stop()
            raise

    def _listen(self, end: Port, folder: Path) -> None:
        interface = interface_of(self._topology, end)
        if end.node in self._pids:
            self._start(end, end, folder / f"{interface}.pcap", Direction.UNKNOWN)
            return
        link = self._topology.link_at[end]
        neighbour = link.b if link.a == end else link.a
        self._start(end, end, folder / f"{interface}-in.pcap", Direction.IN)
        self._start(end, neighbour, folder / f"{interface}-out.pcap", Direction.OUT)

    def _start(self, end: Port, where: Port, pcap: Path, direction: Direction) -> None:
        """For a capture of `end`, listens at `where`: to what arrives there, if a direction is told."""
        words = ["tcpdump", "-U", "-Z", "root", "-s", "0", "--nano", "-i", interface_of(self._topology, where)]
        words += ["-w", str(pcap)] if direction is Direction.UNKNOWN else ["-Q", "in", "-w", str(pcap)]
        if where.node in self._pids:
            words = in_network_of(self._pids[where.node], *words)
        name = end.node if direction is Direction.UNKNOWN else pcap.stem
        log = self._logs / f"tcpdump-{name}.log"
        child = Child(f"tcpdump of {name}", words, self._run_id, log, errors_are_lines=True)
        self._running.append(_Running(child, end, pcap, direction))

    def begin(self, start_ns: int, switch_epoch_ns: int | None) -> None:
        """Says when model time 0 is, and where the switches' clocks begin if they begin together (CLOCK_MONOTONIC)."""
        lead_ns = _calendar_lead_ns()
        epoch_ns = None if switch_epoch_ns is None else switch_epoch_ns + lead_ns
        self._clock = CaptureClock(self._clock.dilation, start_ns + lead_ns, epoch_ns)

    def stop(self) -> tuple[str, ...]:
        """Ends them; what their files lack, a sentence each. A second time there is nothing to do or to say."""
        running, self._running = self._running, []
        _wait_for_kernel({each.child: each.patience_s for each in running})
        troubles = [each.child.trouble() for each in running]
        said = [(each.end, _end(each.child, trouble)) for each, trouble in zip(running, troubles, strict=True)]
        for end in dict.fromkeys(each.end for each in running):
            said.append((end, self._keep(end, [each for each in running if each.end == end])))
        return tuple(
            f"{FOLDER}/{interface_of(self._topology, end)}{SUFFIX} {lack}." for end, lack in said if lack is not None
        )

    def _keep(self, end: Port, parts: Sequence[_Running]) -> str | None:
        """Makes one capture of its parts, which says how its times become model times; what is wrong with them."""
        path = parts[0].pcap.parent / f"{interface_of(self._topology, end)}{SUFFIX}"
        try:
            convert({each.pcap: each.direction for each in parts}, path, self._topology, end, self._clock)
        except FileNotFoundError:
            return "was not written"
        except CaptureError as error:
            return f"cannot be made: {error}"
        return None


def _calendar_lead_ns() -> int:
    """How far the clock of packets is ahead of CLOCK_MONOTONIC. Between two readings of one, the other is read: the
    closest two know best."""
    looks = []
    for _ in range(_LOOKS):
        before_ns, calendar_ns, after_ns = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        looks.append((after_ns - before_ns, calendar_ns - (before_ns + after_ns) // 2))
    return min(looks)[1]


def _wait_for_kernel(patience_s: Mapping[Child, float]) -> None:
    """Until each has written what the kernel had taken for it when it was first asked, or its patience ends."""
    begun_s = time.monotonic()
    taken: dict[Child, int] = {}
    behind = [child for child in patience_s if not child.has_ended]
    while behind:
        for child in behind:
            child.send_signal(signal.SIGUSR1)
        time.sleep(_ASK_SECONDS)
        waited_s = time.monotonic() - begun_s
        behind = [
            child
            for child in behind
            if not _has_all(child, taken) and waited_s < patience_s[child] and not child.has_ended
        ]


def _has_all(child: Child, taken: dict[Child, int]) -> bool:
    """What was taken is what the first answer says."""
    for line in child.lines():
        if (found := _COUNTS.search(line)) is not None:
            captured, received, dropped = map(int, found.groups())
            if captured >= taken.setdefault(child, received - dropped):
                return True
    return False


def _end(child: Child, trouble: str | None) -> str | None:
    """Ends a tcpdump; what its file lacks. Only tcpdump knows what the kernel kept from it, and says so in words."""
    child.stop()
    if trouble is not None:
        return f"ends early: {trouble}"
    dropped = [int(found[1]) for line in child.rest if (found := _DROPPED.match(line))]
    if not dropped:
        return f"may end early: {child.obituary()}"
    return f"lacks {sum(dropped)} packets that the kernel dropped" if any(dropped) else None
