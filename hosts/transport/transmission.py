# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The transmission of one message: its bytes, its packet indices and its cost so far.

The bytes are a deterministic function of (flow_id, offset) that is cheap enough for every packet. Both ends could
compute them, but only the sender does; the receiver checks a CRC-32.
"""

from collections.abc import Iterable
from hashlib import shake_128
from typing import Final

from librt.strings import read_i64_le
from librt.vecs import vec
from mypy_extensions import i64

from sfc_testbed.hosts.transport.loss_recovery.base import NEVER
from sfc_testbed.hosts.transport.messages import OutgoingMessage
from sfc_testbed.hosts.transport.model_clock import ModelClock
from sfc_testbed.telemetry.figures import SenderFigures
from sfc_testbed.wire.constants import MAX_PAYLOAD_BYTES
from sfc_testbed.wire.crc import CrcShift, crc_between, crcs_of_starts
from sfc_testbed.wire.roce.packets import ICRC_BYTES
from sfc_testbed.wire.tail import pack_tail, tail_start

_EIGHT_BYTES: Final = 8
_PERIOD: Final = 1 << 16
_STRIDE: Final = 40_503
"""Distance between the starts of consecutive flows in the block. It is odd, so that all starts occur."""
PAYLOAD_BLOCK: Final = shake_128(b"SFC testbed payload").digest(_PERIOD + MAX_PAYLOAD_BYTES)


class _Starts:
    """The CRC-32 of the first n bytes of `PAYLOAD_BLOCK`, for every n. Empty until `prepare_crcs` is called."""

    __slots__ = ("crcs",)

    def __init__(self) -> None:
        self.crcs = vec[i64]()


_STARTS: Final = _Starts()


def message_bytes(flow_id: i64, offset: i64, size: i64) -> bytes:
    """Return `size` bytes (at most MAX_PAYLOAD_BYTES) of a flow's message from `offset` on."""
    start = (flow_id * _STRIDE + offset) % _PERIOD
    return PAYLOAD_BLOCK[start : start + size]


def message_crc(flow_id: i64, offset: i64, shift: CrcShift) -> i64:
    """Return the CRC-32 of `shift.size_bytes` bytes of a flow's message from `offset` on, in constant time.

    `prepare_crcs` must have been called.
    """
    start = (flow_id * _STRIDE + offset) % _PERIOD
    crcs = _STARTS.crcs
    return shift.past(crcs[start]) ^ crcs[start + shift.size_bytes]


def payload_tail(flow_id: i64, offset: i64, stored: i64, shift: CrcShift) -> i64:
    """Return the tail of a full packet at `offset` of a flow's message that stores its first `stored` payload bytes."""
    start = (flow_id * _STRIDE + offset) % _PERIOD + stored
    return pack_tail(start, shift.size_bytes - stored, ICRC_BYTES)


def payload_crc(frame: bytes, begin: i64, end: i64, tail: i64, shift: CrcShift, tail_shift: CrcShift) -> i64:
    """Return the CRC-32 of a payload of `shift.size_bytes` bytes: a frame's bytes from `begin` to `end` and the tail.

    `prepare_crcs` must have been called. A payload without errors is a part of the block, whose CRCs are known.
    """
    start, crcs = tail_start(tail) - (end - begin), _STARTS.crcs
    if start >= 0 and _is_in_block(frame, begin, end, start):
        return shift.past(crcs[start]) ^ crcs[start + shift.size_bytes]
    before = crc_between(frame, begin, end, 0)
    start = tail_start(tail)
    return tail_shift.past(before ^ crcs[start]) ^ crcs[start + tail_shift.size_bytes]


def _is_in_block(frame: bytes, begin: i64, end: i64, start: i64) -> bool:
    """Whether a frame's bytes from `begin` to `end` are those of the block from `start` on."""
    block = PAYLOAD_BLOCK
    while begin + _EIGHT_BYTES <= end:
        if read_i64_le(frame, begin) != read_i64_le(block, start):
            return False
        begin += _EIGHT_BYTES
        start += _EIGHT_BYTES
    return frame[begin:end] == block[start : start + end - begin] if begin < end else True


def prepare_crcs() -> None:
    """Compute the CRCs for `message_crc`, once per process.

    Call this before a run starts: uncompiled, it takes milliseconds and would make a NIC late.
    """
    if not len(_STARTS.crcs):
        _STARTS.crcs = crcs_of_starts(PAYLOAD_BLOCK)


class Transmission:
    """A message that packets `first` to `end` - 1 of a queue pair carry.

    It is also the event when the message is completely acknowledged or given up.
    """

    __slots__ = (
        "crc", "end", "figures", "finish_ns", "first", "flow_id", "gave_up", "message", "paused_at_start_ns",
        "paused_when_sent_ns", "size_bytes",
    )  # fmt: skip

    def __init__(self, message: OutgoingMessage, first: int, packets: int, paused_ns: int) -> None:
        """Begin the message; `paused_ns` is how long the queue pair had been paused when the message became ready."""
        self.message = message
        self.flow_id: int = message.flow_id
        self.size_bytes: int = message.size_bytes
        self.first = first
        self.end = first + packets
        self.paused_at_start_ns = paused_ns
        self.paused_when_sent_ns = paused_ns
        """How long the queue pair had been paused when the last packet so far was sent."""
        self.crc = 0
        self.figures = SenderFigures()
        self.finish_ns: int = NEVER
        """Time at which the last acknowledgement arrived."""
        self.gave_up = False
        """Whether the sender has given the message up, after too many timeouts without new acknowledgements."""

    def set_pause(self, paused_ns: int, clock: ModelClock) -> None:
        """Update the time of the figures that depends on pauses; the queue pair has been paused for `paused_ns`."""
        self.figures.paused_us = clock.duration_us(paused_ns - self.paused_at_start_ns)


def bytes_between(unfinished: Iterable[Transmission], first: int, end: int, payload_bytes: int) -> int:
    """Return the message bytes of packets `first` to `end` - 1, which all belong to unfinished messages."""
    total = (end - first) * payload_bytes
    for item in unfinished:
        if item.end > end:
            break
        total -= (item.end - item.first) * payload_bytes - item.size_bytes
    return total
