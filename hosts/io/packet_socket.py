# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A raw Ethernet socket on one interface: whole frames in and out, each received one with the kernel's time stamp.

Time stamps come from the kernel as CLOCK_REALTIME and leave here as CLOCK_MONOTONIC, the clock of NICs and switches.
"""

import errno
import socket
import struct
import time

from hosts.io.socket_filter import NIC_FRAMES, Program, attach_filter
from wire.ethernet import LONGEST_FRAME_BYTES

_SOL_PACKET = 263
_PACKET_STATISTICS = 6
_PACKET_IGNORE_OUTGOING = 23
_SO_TIMESTAMPNS = 35
_SO_RCVBUFFORCE = 33
_SO_SNDBUFFORCE = 32
_ETH_P_ALL = 0x0003
_BUFFER_BYTES = 16 << 20
_CONTROL_BYTES = socket.CMSG_SPACE(16)
_TIMESPEC = struct.Struct("@ll")
_STATISTICS = struct.Struct("@II")
_BURST = 64
_NS = 1_000_000_000


class PacketSocket:
    """Opened in the current network namespace; usable from any."""

    def __init__(self, interface: str, wanted: Program = NIC_FRAMES) -> None:
        """`wanted` chooses the frames. Raises OSError if there is no such interface or raw sockets are forbidden."""
        self.interface = interface
        self.send_failures = self.link_down = 0
        """Frames the kernel would not take."""
        self._drops = 0
        self._cut = 0
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        try:
            self._prepare(wanted)
        except OSError:
            self._socket.close()
            raise

    def _prepare(self, wanted: Program) -> None:
        sock = self._socket
        attach_filter(sock, wanted)
        sock.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
        sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        sock.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
        sock.setsockopt(socket.SOL_SOCKET, _SO_SNDBUFFORCE, _BUFFER_BYTES)
        sock.setblocking(False)
        sock.bind((self.interface, _ETH_P_ALL))

    def fileno(self) -> int:
        """For epoll."""
        return self._socket.fileno()

    def receive(self) -> list[tuple[int, bytes]]:
        """Up to a burst of waiting frames with their arrival times (CLOCK_MONOTONIC ns), oldest first; maybe none."""
        frames: list[tuple[int, bytes]] = []
        receive = self._socket.recvmsg
        now_ns = time.monotonic_ns()
        to_monotonic_ns = now_ns - time.time_ns()
        try:
            for _ in range(_BURST):
                frame, control, flags, _ = receive(LONGEST_FRAME_BYTES, _CONTROL_BYTES)
                if flags & socket.MSG_TRUNC:
                    self._cut += 1
                    continue
                seconds, nanoseconds = _TIMESPEC.unpack(control[0][2])
                frames.append((seconds * _NS + nanoseconds + to_monotonic_ns, frame))
        except BlockingIOError:
            pass
        except OSError as error:
            if error.errno != errno.ENETDOWN:
                raise
        return frames

    def send(self, frame: bytes) -> bool:
        """Put one frame on the interface; False (and counted) if the kernel has no room or the interface is down."""
        try:
            self._socket.send(frame)
        except OSError as error:
            if error.errno == errno.EMSGSIZE:
                told = f"{self.interface} cannot carry a frame of {len(frame)} B: its MTU is too small"
                raise OSError(errno.EMSGSIZE, told) from error
            if error.errno not in (errno.EAGAIN, errno.ENOBUFS, errno.ENETDOWN, errno.ENXIO):
                raise
            if error.errno == errno.ENETDOWN:
                self.link_down += 1
            else:
                self.send_failures += 1
            return False
        return True

    def kernel_drops(self) -> int:
        """Frames that were lost here since the socket was opened: not read in time, or longer than any MTU."""
        raw = self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, _STATISTICS.size)
        self._drops += _STATISTICS.unpack(raw)[1]
        return self._drops + self._cut

    def close(self) -> None:
        """Close it."""
        self._socket.close()
