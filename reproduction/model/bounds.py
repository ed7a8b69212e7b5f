# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Appendix C of the paper: how much buffer a congestion needs, as five formulas with their assumptions.

Common to all: sender 0 transmits at line rate R without queuing when others join at line rate; every sender stops for
as long as the queue needs to drain when it hears the first notification; control packets take no time to serialize.
Bytes are wire bytes, times ns of model time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True)
class Bottleneck:
    """The symbols of appendix C: R, T_A, T_B, T_ToR, T_S (as the bytes of a packet) and k."""

    rate_bps: int
    sender_delay_ns: float
    """T_A: from the senders to the congested switch."""
    receiver_delay_ns: float
    """T_B: from the congested switch to the receiver."""
    tor_delay_ns: float
    """T_ToR: from a sender to its own ToR."""
    packet_bytes: int
    threshold_packets: int
    """k: packets in the queue before a notification is made."""

    @property
    def packet_ns(self) -> float:
        """T_S, the serialization of a packet."""
        return self.packet_bytes * 8e9 / self.rate_bps

    def bytes_in(self, duration_ns: float) -> float:
        """What a sender puts on the wire in this time."""
        return self.rate_bps * duration_ns / 8e9


def b_ack(path: Bottleneck) -> float:
    """Two flows, notified by acknowledgements: the notice waits in the queue it speaks of (equation 1)."""
    built_and_waited_ns = 2 * path.threshold_packets * path.packet_ns
    return path.bytes_in(2 * path.sender_delay_ns + built_and_waited_ns + 2 * path.receiver_delay_ns)


def b_bts(path: Bottleneck) -> float:
    """Two flows, notified from the congested switch's ingress (equation 2)."""
    return path.bytes_in(2 * path.sender_delay_ns + path.threshold_packets * path.packet_ns)


def b_incast(path: Bottleneck, senders: int) -> float:
    """N > k flows that start at one instant; their first packets trigger the notification (equation 3)."""
    return senders * path.bytes_in(2 * path.sender_delay_ns + path.packet_ns)


def b_ack_with_acknowledgement(path: Bottleneck, acknowledgement_bytes: int) -> float:
    """B_ack where acknowledgements have a length.

    The formula takes them for points. A real one is serialized twice, on the receiver's link and on the sender's; so
    long the senders go on, and as many bytes more arrive.
    """
    return b_ack(path) + 2 * acknowledgement_bytes


def b_incast_in_packets(path: Bottleneck, senders: int) -> float:
    """B_incast in whole packets.

    The formula lets a sender stop in the middle of a packet, and lets the first packet of all notify its sender. In
    fact a sender finishes the packet that it has begun, hence `ceil`; and the first k packets find fewer than k before
    them and notify nobody, so that k packets more arrive.
    """
    each = ceil((2 * path.sender_delay_ns + path.packet_ns) / path.packet_ns)
    return float((senders * each + path.threshold_packets) * path.packet_bytes)


def b_cache_hit(path: Bottleneck) -> float:
    """What a sender emits before its own ToR answers its first packet from the cache (equation 7)."""
    return path.bytes_in(2 * path.tor_delay_ns + path.packet_ns)


def b_cache_miss(path: Bottleneck, late_ns: float) -> float:
    """What a sender emits that begins so long after the first one and misses the cache of the ToR that they share.

    The first one's BTS fills the cache on its way, and a later packet of this sender hits it: R (T_F - T_Sender#2).
    """
    return path.bytes_in(2 * path.sender_delay_ns + path.packet_ns - late_ns)


def b_cache_miss_in_packets(path: Bottleneck, late_ns: float) -> float:
    """The same in whole packets: the first sender's first k notify nobody, one of this sender's must find the entry."""
    until_ns = cache_miss_ns(path) + path.threshold_packets * path.packet_ns - late_ns
    packets = ceil(until_ns / path.packet_ns) + 1
    return path.bytes_in(2 * path.tor_delay_ns + packets * path.packet_ns)


def cache_miss_ns(path: Bottleneck) -> float:
    """Until when after the first sender another under its ToR still misses the cache: 2 (T_A - T_ToR)."""
    return 2 * (path.sender_delay_ns - path.tor_delay_ns)
