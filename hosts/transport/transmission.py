# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""One message on its way: its bytes, which packets are its own, and what it has cost so far. No algorithm, no frame.

The bytes are a deterministic function of (flow_id, offset), cheap enough for every packet. Both ends could compute
them; only the sender does, and the receiver checks a CRC-32.
"""

from collections.abc import Iterable
from hashlib import shake_128
from typing import Final

from librt.vecs import vec
from mypy_extensions import i64

from hosts.transport.messages import OutgoingMessage, SendingCounts, SendingReport
from wire.constants import MAX_PAYLOAD_BYTES
from wire.crc import CrcShift, crcs_of_starts

_PERIOD: Final = 1 << 16
_STRIDE: Final = 40_503
"""Odd, so consecutive flows start far apart in the block."""
_BLOCK: Final = shake_128(b"SFC testbed payload").digest(_PERIOD + MAX_PAYLOAD_BYTES)


class _Starts:
    """CRC-32 of the block's first n bytes, for every n, once it is needed; the same in all processes."""

    __slots__ = ("crcs",)

    def __init__(self) -> None:
        self.crcs = vec[i64]()


_STARTS: Final = _Starts()


def message_bytes(flow_id: i64, offset: i64, size: i64) -> bytes:
    """`size` bytes (at most MAX_PAYLOAD_BYTES) of a flow's message from `offset` on: a slice of one shared block."""
    start = (flow_id * _STRIDE + offset) % _PERIOD
    return _BLOCK[start : start + size]


def message_crc(flow_id: i64, offset: i64, shift: CrcShift) -> i64:
    """CRC-32 of as many of them as `shift` says, without a pass over them; only after `prepare_crcs`."""
    start = (flow_id * _STRIDE + offset) % _PERIOD
    crcs = _STARTS.crcs
    return shift.past(crcs[start]) ^ crcs[start + shift.size_bytes]


def prepare_crcs() -> None:
    """Once in a process, before time counts: interpreted, it takes milliseconds, in which a NIC would be late."""
    if not len(_STARTS.crcs):
        _STARTS.crcs = crcs_of_starts(_BLOCK)


class Transmission:
    """Packets `first` to `end` - 1 of a queue pair carry this message."""

    __slots__ = (
        "bytes_resent", "crc", "end", "first", "flow_id", "message", "naks", "packets_resent", "packets_sent",
        "paused_at_start_ns", "size_bytes", "timeouts",
    )  # fmt: skip

    def __init__(self, message: OutgoingMessage, first: int, packets: int, paused_ns: int) -> None:
        """`paused_ns`: how long the queue pair had been paused when the message became ready."""
        self.message = message
        self.flow_id: int = message.flow_id
        self.size_bytes: int = message.size_bytes
        self.first = first
        self.end = first + packets
        self.paused_at_start_ns = paused_ns
        self.crc = 0
        self.packets_sent = self.packets_resent = self.bytes_resent = self.timeouts = self.naks = 0

    def report(self, paused_ns: int) -> SendingReport:
        """Its life so far; `paused_ns` of the queue pair by now."""
        counts = SendingCounts(self.packets_sent, self.packets_resent, self.bytes_resent, self.timeouts, self.naks)
        return SendingReport(self.message, counts, paused_ns - self.paused_at_start_ns)


def bytes_between(unfinished: Iterable[Transmission], first: int, end: int, payload_bytes: int) -> int:
    """Message bytes of packets `first` to `end` - 1, all of unfinished messages."""
    total = (end - first) * payload_bytes
    for item in unfinished:
        if item.end > end:
            break
        total -= (item.end - item.first) * payload_bytes - item.size_bytes
    return total
