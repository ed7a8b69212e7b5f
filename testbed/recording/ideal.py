# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How long a flow takes in an otherwise idle network at line rate: the divisor of the FCT slowdown (paper section 5.1).

Store and forward: all frames leave the host back to back; the last one then crosses every further wire, behind the one
before it, and its acknowledgment comes back the same way. Model units.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from topologies.model import Link
from wire.roce import ACK_FRAME_BYTES, data_frame_bytes

_BITS_NS = 8_000_000_000


def ideal_fct_ns(path: Sequence[Link], size_bytes: int, payload_bytes: int) -> float:
    """Idle FCT over a path of links, ns. Exact if no window stops the sender: frames queue before a slower link."""
    full, rest = divmod(size_bytes, payload_bytes)
    last_bytes = data_frame_bytes(rest or payload_bytes, is_last=True)
    frames_before = full if rest else full - 1
    full_bytes = data_frame_bytes(payload_bytes, is_last=False)
    slowest_ns = _wire_ns(full_bytes, path[0])  # what spaces full frames so far
    before = frames_before * slowest_ns  # when the last frame but one has left each wire
    last = before + _wire_ns(last_bytes, path[0])
    for here, onward in pairwise(path):
        full_ns = _wire_ns(full_bytes, onward)
        if frames_before:
            before += here.delay_ns + full_ns + (frames_before - 1) * max(0.0, full_ns - slowest_ns)
        slowest_ns = max(slowest_ns, full_ns)
        last = max(last + here.delay_ns, before) + _wire_ns(last_bytes, onward)
    returning = sum(_wire_ns(ACK_FRAME_BYTES, link) + link.delay_ns for link in path)
    return last + path[-1].delay_ns + returning


def _wire_ns(frame_bytes: int, link: Link) -> float:
    return frame_bytes * _BITS_NS / link.rate_bps
