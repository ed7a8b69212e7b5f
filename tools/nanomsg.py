# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A client of simple_switch's `--packet-in` socket: frames over nanomsg, without interfaces and without root.

Owns the socket and its message layout (BMv2, dev_mgr_packet_in.cpp). It must not know programs or processes.
"""

import ctypes
import ctypes.util
import struct

_AF_SP, _NN_PAIR, _NN_SOL_SOCKET = 1, 16, 0
_NN_RCVTIMEO, _NN_RCVMAXSIZE = 5, 16
_PACKET_IN, _PACKET_OUT, _INFO_REQUEST, _INFO_REPLY = 3, 4, 5, 6
_HEADER = struct.Struct("=iii")
_MOST_BYTES = 1 << 16


def library_name() -> str | None:
    """Return the name of the shared library, or None if it is not installed."""
    return ctypes.util.find_library("nanomsg")


class PacketSocket:
    """The client end of a switch's packet socket."""

    def __init__(self, address: str, *, timeout_s: float) -> None:
        self._library = ctypes.CDLL(library_name(), use_errno=True)
        self._buffer = ctypes.create_string_buffer(_MOST_BYTES)
        self._socket = self._checked(self._library.nn_socket(_AF_SP, _NN_PAIR))
        for option, value in ((_NN_RCVTIMEO, int(timeout_s * 1000)), (_NN_RCVMAXSIZE, _MOST_BYTES)):
            number = ctypes.c_int(value)
            size = ctypes.c_size_t(ctypes.sizeof(number))
            self._checked(self._library.nn_setsockopt(self._socket, _NN_SOL_SOCKET, option, ctypes.byref(number), size))
        self._checked(self._library.nn_connect(self._socket, address.encode()))

    def send(self, port: int, frame: bytes) -> None:
        self._send(_HEADER.pack(_PACKET_IN, port, len(frame)) + frame)

    def flush(self) -> list[tuple[int, bytes]]:
        """Wait until the switch has read all sent frames; return the frames that it sent before that."""
        self._send(_HEADER.pack(_INFO_REQUEST, 0, 1))
        frames: list[tuple[int, bytes]] = []
        while True:
            length = self._checked(self._library.nn_recv(self._socket, self._buffer, ctypes.c_size_t(_MOST_BYTES), 0))
            kind, port, size = _HEADER.unpack_from(self._buffer)
            if kind == _INFO_REPLY:
                return frames
            assert kind == _PACKET_OUT and length == _HEADER.size + size
            frames.append((port, self._buffer.raw[_HEADER.size : length]))

    def close(self) -> None:
        self._library.nn_close(self._socket)

    def _send(self, message: bytes) -> None:
        self._checked(self._library.nn_send(self._socket, message, ctypes.c_size_t(len(message)), 0))

    def _checked(self, result: int) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise ConnectionError(f"nanomsg: error {number}")
        return result
