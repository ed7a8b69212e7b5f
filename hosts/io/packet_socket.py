# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A raw Ethernet socket that sends and receives whole frames on one interface.

Every received frame has the kernel's time stamp. The kernel gives it in CLOCK_REALTIME; this module converts it to
CLOCK_MONOTONIC, the clock of NICs and switches.
"""

import errno
import os
import socket
import struct

from sfc_testbed.hosts.io import kernel_calls
from sfc_testbed.hosts.io.socket_filter import NIC_FRAMES, Program, attach_filter
from sfc_testbed.wire.ethernet import LONGEST_FRAME_BYTES

_SOL_PACKET = 263
_PACKET_STATISTICS = 6
_PACKET_IGNORE_OUTGOING = 23
_SO_TIMESTAMPNS = 35
_SO_RCVBUFFORCE = 33
_SO_SNDBUFFORCE = 32
_ETH_P_ALL = 0x0003
_BUFFER_BYTES = 16 << 20
_STATISTICS = struct.Struct("@II")
_ROOM_REFUSALS = (errno.EAGAIN, errno.ENOBUFS, errno.ENXIO)


class PacketSocket:
    """A packet socket that is opened in the current network namespace and can be used from any."""

    def __init__(self, interface: str, frame_filter: Program = NIC_FRAMES) -> None:
        """Open the socket for the frames that the BPF program `frame_filter` accepts.

        Raises OSError if there is no such interface or raw sockets are forbidden.
        """
        self.interface = interface
        self.send_failures = self.link_down = 0
        """Frames that the kernel refused, for lack of room or because the interface was down."""
        self._drops = 0
        self._cut = 0
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        try:
            self._prepare(frame_filter)
        except OSError:
            self._socket.close()
            raise

    def _prepare(self, frame_filter: Program) -> None:
        sock = self._socket
        attach_filter(sock, frame_filter)
        sock.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
        sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        sock.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
        sock.setsockopt(socket.SOL_SOCKET, _SO_SNDBUFFORCE, _BUFFER_BYTES)
        sock.setblocking(False)
        sock.bind((self.interface, _ETH_P_ALL))

    def fileno(self) -> int:
        """Return the descriptor, for epoll."""
        return self._socket.fileno()

    def receive(self) -> tuple[list[bytes], list[int]]:
        """Return up to a burst of waiting frames, oldest first, and their arrival times (CLOCK_MONOTONIC ns).

        Both lists are empty if no frame is waiting or the interface is down.
        """
        try:
            frames, times_ns, cut = kernel_calls.receive(self._socket, LONGEST_FRAME_BYTES)
        except OSError as error:
            if error.errno != errno.ENETDOWN:
                raise
            return [], []
        self._cut += cut
        return frames, times_ns

    def send(self, frame: bytes) -> bool:
        """Send one frame. Returns False and counts the frame if the kernel has no room or the interface is down."""
        _, refusal = kernel_calls.send(self._socket, [(0, frame)], 0)
        if refusal:
            self._count_refused(frame, refusal)
        return not refusal

    def send_batch(self, leaving: list[tuple[int, bytes]]) -> None:
        """Send many frames; every item is a pair of the ideal departure time, which is ignored, and the frame."""
        place, refusal = kernel_calls.send(self._socket, leaving, 0)
        while refusal:
            self._count_refused(leaving[place][1], refusal)
            place, refusal = kernel_calls.send(self._socket, leaving, place + 1)

    def _count_refused(self, frame: bytes, refusal: int) -> None:
        if refusal == errno.EMSGSIZE:
            raise OSError(refusal, f"{self.interface} cannot carry a frame of {len(frame)} B: its MTU is too small")
        if refusal == errno.ENETDOWN:
            self.link_down += 1
        elif refusal in _ROOM_REFUSALS:
            self.send_failures += 1
        else:
            raise OSError(refusal, os.strerror(refusal))

    def kernel_drops(self) -> int:
        """Return the frames lost since the socket was opened: not read in time, or longer than any MTU."""
        raw = self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, _STATISTICS.size)
        self._drops += _STATISTICS.unpack(raw)[1]
        return self._drops + self._cut

    def close(self) -> None:
        self._socket.close()
