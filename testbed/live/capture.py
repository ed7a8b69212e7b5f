# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Captures of hosts' wires (`--pcap h1,h8`): tcpdump in a live run, the frames themselves in a virtual one."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from testbed.system.child import Child

_READY_SECONDS = 20.0
_HANDED_OVER_SECONDS = 1.2
"""The kernel hands packets to tcpdump once a second, and drops without a word what it still has when that ends."""
_NS = 1_000_000_000
_ETHERNET = 1
_DROPPED = re.compile(r"(\d+) packets? dropped by ")
"""By the kernel, or by the interface: in both cases it was on the wire and is not in the file."""


class LiveCaptures:
    """tcpdump on the interface of each host; all of them listen before anything is sent."""

    def __init__(self, pids: Mapping[str, int], folder: Path, run_id: str, logs: Path) -> None:
        self._children: dict[Path, Child] = {}
        try:
            for name, pid in pids.items():
                path = folder / f"{name}-eth0.pcap"
                words = ["mnexec", "-a", str(pid), "tcpdump", "-U", "-Z", "root", "-s", "0"]
                words += ["-i", f"{name}-eth0", "-w", str(path)]
                log = logs / f"tcpdump-{name}.log"
                self._children[path] = Child(f"tcpdump of {name}", words, run_id, log, errors_are_lines=True)
            for child in self._children.values():
                child.wait_for_line("listening on", _READY_SECONDS)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> tuple[str, ...]:
        """Ends them; what their files lack, a sentence each. A second time there is nothing to do or to say."""
        children, self._children = self._children, {}
        if children:
            time.sleep(_HANDED_OVER_SECONDS)
        troubles = {path: child.trouble() for path, child in children.items()}
        return tuple(
            f"{path.parent.name}/{path.name} {lack}."
            for path, child in children.items()
            if (lack := _end(child, troubles[path])) is not None
        )


def _end(child: Child, trouble: str | None) -> str | None:
    """Ends a tcpdump; what its file lacks. Only tcpdump knows what the kernel kept from it, and says so in words."""
    child.stop()
    if trouble is not None:
        return f"ends early: {trouble}"
    dropped = [int(found[1]) for line in child.rest if (found := _DROPPED.match(line))]
    if not dropped:
        return f"may end early: {child.obituary()}"
    return f"lacks {sum(dropped)} packets that the kernel dropped" if any(dropped) else None


class VirtualCapture:
    """Writes the frames of chosen hosts as nanosecond pcap files. Knows hosts by numbers of its caller."""

    def __init__(self, hosts: dict[int, str], folder: Path) -> None:
        self._resources = ExitStack()
        self._writers: dict[int, Any] = {}
        if hosts:
            from scapy.utils import RawPcapWriter  # scapy is slow to load, and rarely wanted here

            for index, name in hosts.items():
                path = str(folder / f"{name}-eth0.pcap")
                writer = RawPcapWriter(path, linktype=_ETHERNET, nano=True)
                self._resources.callback(writer.close)
                writer.write_header(None)
                self._writers[index] = writer

    @property
    def hosts(self) -> frozenset[int]:
        """Those whose frames it wants."""
        return frozenset(self._writers)

    def frame(self, host: int, frame: bytes, time_ns: int) -> None:
        """A frame on the wire of a host, sent or received."""
        writer = self._writers.get(host)
        if writer is not None:
            writer.write_packet(frame, sec=time_ns // _NS, usec=time_ns % _NS)

    def close(self) -> None:
        self._resources.close()


def capture_folder(run_folder: Path, hosts: Sequence[str]) -> Path:
    """Where the captures of a run go; made only if there are any."""
    folder = run_folder / "pcaps"
    if hosts:
        folder.mkdir(exist_ok=True)
    return folder
