# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The bytes of a message: a deterministic function of (flow_id, offset), cheap enough for every packet.

Both ends could compute them; only the sender does. The receiver checks a CRC-32, so this module is the sender's.
"""

from hashlib import shake_128

from wire.constants import MAX_PAYLOAD_BYTES

_PERIOD = 1 << 16
_STRIDE = 40_503
"""Odd, so consecutive flows start far apart in the block."""
_BLOCK = shake_128(b"SFC testbed payload").digest(_PERIOD + MAX_PAYLOAD_BYTES)


def message_bytes(flow_id: int, offset: int, size: int) -> bytes:
    """`size` bytes (at most MAX_PAYLOAD_BYTES) of a flow's message from `offset` on: a slice of one shared block."""
    start = (flow_id * _STRIDE + offset) % _PERIOD
    return _BLOCK[start : start + size]
