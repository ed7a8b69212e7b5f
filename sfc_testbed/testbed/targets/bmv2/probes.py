# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Measures the lateness of a BMv2 switch as the transit time of a small frame through a separate, otherwise idle port.

BMv2 does not report overload. A probe passes the same input queue, parser and pipelines as the traffic and leaves by a
port without a rate limit. Its transit time is therefore delay that the model does not contain. No host counts probes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from ipaddress import IPv4Network

import numpy as np

from sfc_testbed.hosts.io.links import Links
from sfc_testbed.hosts.io.packet_socket import PacketSocket
from sfc_testbed.hosts.io.summaries import LatenessSummary
from sfc_testbed.testbed.control_plane.entries import TableEntry
from sfc_testbed.topologies.model import MAX_PORT
from sfc_testbed.wire.addresses import parse_mac
from sfc_testbed.wire.constants import DSCP_CONTROL
from sfc_testbed.wire.roce.framer import RoceFramer
from sfc_testbed.wire.roce.packets import PSN_OFFSET, Opcode, Syndrome, pack_aeth, pack_psn_word

PROBE_PORT = MAX_PORT
_HOST = "192.0.2.1"
"""An address of the range for documentation (RFC 5737), which no topology uses."""
_ADDRESS = 0xC000_0201
_MAC = "02:00:c0:00:02:01"
_PSN_MASK = 0xFF_FFFF

PROBE_ROUTE = TableEntry("ipv4_lpm", "next_hop", (IPv4Network(_HOST),), (PROBE_PORT, _MAC, _MAC))


def make_probe_port(switch: str, interface: str) -> str:
    """Create a veth pair in the current namespace: `interface` for the switch, and the returned one for probes."""
    outer = f"probe-{switch}"
    with Links() as links:
        links.add_pair(interface, outer)
        links.set_up(outer)
    return outer


def summary_of(transits_ns: Sequence[int]) -> LatenessSummary | None:
    """Return the percentiles of the transit times, or None without any."""
    if not transits_ns:
        return None
    p50_ns, p99_ns = np.percentile(np.asarray(transits_ns, dtype=np.float64), [50, 99])
    return LatenessSummary(len(transits_ns), float(p50_ns), float(p99_ns), float(max(transits_ns)))


class Prober:
    """Sender of probes through one switch that measures their transit times. Several threads may use it."""

    def __init__(self, outer: str) -> None:
        self._socket = PacketSocket(outer)
        self._lock = threading.Lock()
        mac = parse_mac(_MAC)
        self._framer = RoceFramer(
            destination_mac=mac,
            source_mac=mac,
            source_ip=_ADDRESS,
            destination_ip=_ADDRESS,
            source_qpn=1,
            destination_qpn=1,
            tos=DSCP_CONTROL << 2,
        )
        self._sent_ns: dict[int, int] = {}
        self._transits_ns: list[int] = []
        self._count = 0

    def probe(self) -> None:
        """Receive the probes that have returned and send the next one."""
        with self._lock:
            self._receive()
            number = self._count & _PSN_MASK
            frame = self._framer.frame(Opcode.ACKNOWLEDGE, pack_psn_word(number), pack_aeth(Syndrome.ACK, 0))
            self._sent_ns[number] = time.monotonic_ns()
            self._socket.send(frame)
            self._count += 1

    def lateness(self) -> LatenessSummary | None:
        """Return the percentiles of all transit times, or None without a probe. A missing probe counts with its age."""
        with self._lock:
            self._receive()
            now_ns = time.monotonic_ns()
            transits_ns = self._transits_ns + [now_ns - sent_ns for sent_ns in self._sent_ns.values()]
        return summary_of(transits_ns)

    def reset(self) -> None:
        """Forget all measurements and the missing probes, because a new switch process takes over."""
        with self._lock:
            self._receive()
            self._sent_ns.clear()
            self._transits_ns.clear()

    def close(self) -> None:
        self._socket.close()

    def _receive(self) -> None:
        frames, times_ns = self._socket.receive()
        while frames:
            for frame, received_ns in zip(frames, times_ns, strict=True):
                number = int.from_bytes(frame[PSN_OFFSET + 1 : PSN_OFFSET + 4], "big")
                sent_ns = self._sent_ns.pop(number, None)
                if sent_ns is not None:
                    self._transits_ns.append(max(0, received_ns - sent_ns))
            frames, times_ns = self._socket.receive()
