# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tails: bytes of a frame that are described instead of stored, in virtual time only.

A tail is a number: the position of `bytes` bytes in a block that all hosts know (bits 0 to 31), their count (bits 32 to
47), and how many stored bytes stand behind them (bits 48 to 63). A tail of 0 means that the frame is stored as a whole.
softswitch reads the same layout as `struct sw_tail`.
"""

from typing import Final

from mypy_extensions import i64

_START_MASK: Final = 0xFFFFFFFF
_COUNT_MASK: Final = 0xFFFF


def pack_tail(start: i64, count: i64, after: i64) -> i64:
    """Return the tail of `count` bytes of the block from `start` on, with `after` stored bytes behind them."""
    return start | count << 32 | after << 48


def tail_bytes(tail: i64) -> i64:
    """Return the number of bytes that a tail describes."""
    return tail >> 32 & _COUNT_MASK


def tail_start(tail: i64) -> i64:
    """Return the position of a tail's bytes in the block."""
    return tail & _START_MASK


def whole_frame(frame: bytes, tail: i64, block: bytes) -> bytes:
    """Return a frame with the bytes that its tail describes."""
    if not tail:
        return frame
    cut = len(frame) - (tail >> 48)
    start = tail_start(tail)
    return frame[:cut] + block[start : start + tail_bytes(tail)] + frame[cut:]
