# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Turns off the offloads of an interface in any network namespace, so that frames have correct checksums.

A host treats a veth as a network card and leaves checksums and segmentation to it. A switch in user space would
forward frames without checksums, which the receiver drops, and segments longer than the link's MTU.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import struct
from concurrent.futures import ThreadPoolExecutor

_CLONE_NEWNET = 0x40000000
_SIOCETHTOOL = 0x8946
_TURN_OFF = {"checksums": 0x17, "scatter-gather": 0x19, "TSO": 0x1F, "GSO": 0x24, "GRO": 0x2C}
"""The ethtool commands ETHTOOL_STXCSUM, ETHTOOL_SSG, ETHTOOL_STSO, ETHTOOL_SGSO and ETHTOOL_SGRO."""


def turn_off_offloads(interface: str, pid: int) -> None:
    """Turn off the offloads of an interface in the network namespace of process `pid`. Raises OSError.

    Offloads that the device does not support are skipped.
    """
    with ThreadPoolExecutor(1) as pool:  # setns moves only this short-lived thread
        namespace_socket = pool.submit(_socket_in, pid).result()
    with namespace_socket:
        for command in _TURN_OFF.values():
            value = ctypes.create_string_buffer(struct.pack("=II", command, 0))
            request = struct.pack("16sP16x", interface.encode(), ctypes.addressof(value))
            try:
                fcntl.ioctl(namespace_socket, _SIOCETHTOOL, request)
            except OSError as error:
                if error.errno != errno.EOPNOTSUPP:
                    raise


def _socket_in(pid: int) -> socket.socket:
    """Move this thread into the network namespace of process `pid` and open a socket there."""
    libc = ctypes.CDLL(None, use_errno=True)
    namespace = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.setns(namespace, _CLONE_NEWNET) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    finally:
        os.close(namespace)
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
