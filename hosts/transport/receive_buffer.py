# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The buffer of a receiver that is slower than its wire: data packets leave it at a fixed rate.

When more than half of the buffer is used, the NIC may ask its switch port to pause (802.1Qbb); below a quarter it lets
the port resume. Packets that find the buffer full are lost, as in hardware. Control packets do not pass through the
buffer, because they cost a NIC hardly any time.
"""

from collections import deque
from collections.abc import Callable

from sfc_testbed.hosts.transport.counters import NicCounters
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER
from sfc_testbed.hosts.transport.scheduling.timers import Wakeable
from sfc_testbed.hosts.transport.scheduling.wire_schedule import WireSchedule
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.wire import pfc
from sfc_testbed.wire.constants import CLASS_DATA, PFC_MAX_QUANTA
from sfc_testbed.wire.roce.decoder import RoceHeader
from sfc_testbed.wire.units import NS_PER_S

_BIT_NS = 8 * NS_PER_S


class DataPacket:
    """A data packet with a correct ICRC."""

    __slots__ = ("body_crc", "frame", "header", "size_bytes")

    def __init__(self, header: RoceHeader, frame: bytes, body_crc: int) -> None:
        """Store the packet; `body_crc` is the CRC-32 of its body, or -1 if it was not computed."""
        self.header = header
        self.frame = frame
        self.size_bytes = len(frame) - header.shim_bytes
        """Size of the frame without its telemetry, which counts against the receiver's rate and buffer."""
        self.body_crc = body_crc


class ReceiveBuffer(Wakeable):
    """Data packets that the host has not processed yet. Times and rates are wall values."""

    __slots__ = (
        "_capacity_bytes", "_counters", "_deliver", "_held_bytes", "_is_pausing", "_pause_frame", "_rate_bps",
        "_refresh_every_ns", "_refresh_ns", "_resume_frame", "_sends_pauses", "_waiting", "_wire",
    )  # fmt: skip

    def __init__(
        self,
        wall: TransportSettings,
        *,
        mac: int,
        sends_pauses: bool,
        wire: WireSchedule,
        counters: NicCounters,
        deliver: Callable[[DataPacket, int], None],
    ) -> None:
        """Call `deliver` with every packet and the time at which the receiver has processed it.

        `wall` is the NIC's settings in wall units, with `receiver_rate_bps` above 0.
        """
        super().__init__()
        self._rate_bps = wall.receiver_rate_bps
        self._capacity_bytes = wall.receiver_buffer_bytes
        self._sends_pauses = sends_pauses
        self._wire = wire
        self._counters = counters
        self._deliver = deliver
        self._pause_frame = pfc.pack_frame(mac, {CLASS_DATA: PFC_MAX_QUANTA})
        self._resume_frame = pfc.pack_frame(mac, {CLASS_DATA: 0})
        self._refresh_every_ns = pfc.quanta_ns(PFC_MAX_QUANTA, wall.line_rate_bps) // 2
        self._waiting: deque[tuple[int, DataPacket]] = deque()
        self._held_bytes = 0
        self._is_pausing = False
        self._refresh_ns = NEVER

    def offer(self, packet: DataPacket, now_ns: int) -> bool:
        """Store an arriving packet. Returns False and counts the packet if there is no room for it."""
        size_bytes = packet.size_bytes
        if self._held_bytes + size_bytes > self._capacity_bytes:
            self._counters.receiver_overruns += 1
            return False
        begin_ns = max(now_ns, self._waiting[-1][0]) if self._waiting else now_ns
        self._waiting.append((begin_ns + size_bytes * _BIT_NS // self._rate_bps, packet))
        self._held_bytes += size_bytes
        if self._sends_pauses and not self._is_pausing and self._held_bytes > self._capacity_bytes // 2:
            self._is_pausing = True
            self._ask_for_pause(now_ns)
        self._arm()
        return True

    def on_wake(self, now_ns: int) -> None:
        """Deliver the packets that are processed, and refresh or end the pause of the switch port."""
        while self._waiting and self._waiting[0][0] <= now_ns:
            done_ns, packet = self._waiting.popleft()
            self._held_bytes -= packet.size_bytes
            self._deliver(packet, done_ns)
        if self._is_pausing and self._held_bytes < self._capacity_bytes // 4:
            self._is_pausing = False
            self._refresh_ns = NEVER
            self._send(self._resume_frame)
        elif self._refresh_ns <= now_ns:
            self._ask_for_pause(now_ns)
        self._arm()

    def _ask_for_pause(self, now_ns: int) -> None:
        self._refresh_ns = now_ns + self._refresh_every_ns
        self._send(self._pause_frame)

    def _send(self, frame: bytes) -> None:
        self._counters.pfc_sent += 1
        self._wire.send_mac_control(frame)

    def _arm(self) -> None:
        earliest_ns = min(self._waiting[0][0] if self._waiting else NEVER, self._refresh_ns)
        if earliest_ns < self.wake_ns:
            self.wake_ns = earliest_ns
            self._wire.wake_at(earliest_ns, self)
