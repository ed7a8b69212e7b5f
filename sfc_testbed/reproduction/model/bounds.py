# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Appendix C of the paper: five formulas for the buffer that a congestion needs, with their assumptions.

All formulas assume that sender 0 transmits at line rate R without queuing when others join at line rate. At its first
notification every sender stops for as long as the queue needs to drain. Control packets take no time to serialize.
Sizes are in bytes on the wire, times in ns of model time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True)
class Bottleneck:
    """The symbols of appendix C: R, T_A, T_B, T_ToR, T_S (as the bytes of a packet) and k."""

    rate_bps: int
    sender_delay_ns: float
    """T_A, the delay from the senders to the congested switch."""
    receiver_delay_ns: float
    """T_B, the delay from the congested switch to the receiver."""
    tor_delay_ns: float
    """T_ToR, the delay from a sender to its own ToR."""
    packet_bytes: int
    threshold_packets: int
    """k, the packets in the queue that trigger a notification."""

    @property
    def packet_ns(self) -> float:
        """T_S, the serialization time of a packet."""
        return self.packet_bytes * 8e9 / self.rate_bps

    def bytes_in(self, duration_ns: float) -> float:
        """Return the bytes that a sender transmits in a time at line rate."""
        return self.rate_bps * duration_ns / 8e9


def b_ack(path: Bottleneck) -> float:
    """Return the buffer of two flows notified by acknowledgements, which wait in the congested queue (equation 1)."""
    built_and_waited_ns = 2 * path.threshold_packets * path.packet_ns
    return path.bytes_in(2 * path.sender_delay_ns + built_and_waited_ns + 2 * path.receiver_delay_ns)


def b_bts(path: Bottleneck) -> float:
    """Return the buffer of two flows notified from the ingress of the congested switch (equation 2)."""
    return path.bytes_in(2 * path.sender_delay_ns + path.threshold_packets * path.packet_ns)


def b_incast(path: Bottleneck, senders: int) -> float:
    """Return the buffer of N = `senders` flows that start together, more than the threshold in packets (equation 3)."""
    return senders * path.bytes_in(2 * path.sender_delay_ns + path.packet_ns)


def b_ack_with_acknowledgement(path: Bottleneck, acknowledgement_bytes: int) -> float:
    """Return B_ack for acknowledgements of some length, in bytes.

    The formula assumes a length of 0. A real acknowledgement is serialized twice, on the receiver's and on the sender's
    link. Senders continue during this time, so the same number of bytes arrive in addition.
    """
    return b_ack(path) + 2 * acknowledgement_bytes


def b_incast_in_packets(path: Bottleneck, senders: int) -> float:
    """Return B_incast in whole packets.

    The formula lets a sender stop in the middle of a packet and lets the very first packet notify its sender. In fact a
    sender completes a packet, hence `ceil`. The first k packets find fewer than k packets in the queue and trigger no
    notification, so k more packets arrive.
    """
    packets_per_sender = ceil((2 * path.sender_delay_ns + path.packet_ns) / path.packet_ns)
    return float((senders * packets_per_sender + path.threshold_packets) * path.packet_bytes)


def b_cache_hit(path: Bottleneck) -> float:
    """Return the bytes that a sender emits before its ToR answers its first packet from the cache (equation 7)."""
    return path.bytes_in(2 * path.tor_delay_ns + path.packet_ns)


def b_cache_miss(path: Bottleneck, late_ns: float) -> float:
    """Return the bytes that a sender emits that starts `late_ns` after another sender of its ToR and misses the cache.

    The other sender's BTS fills the cache on its way. A later packet of this sender then hits it: R (T_F - T_Sender#2).
    """
    return path.bytes_in(2 * path.sender_delay_ns + path.packet_ns - late_ns)


def b_cache_miss_in_packets(path: Bottleneck, late_ns: float) -> float:
    """Return `b_cache_miss` in whole packets.

    The first k packets of the first sender trigger no notification. This sender stops when one of its packets hits the
    cache.
    """
    until_ns = cache_miss_ns(path) + path.threshold_packets * path.packet_ns - late_ns
    packets = ceil(until_ns / path.packet_ns) + 1
    return path.bytes_in(2 * path.tor_delay_ns + packets * path.packet_ns)


def cache_miss_ns(path: Bottleneck) -> float:
    """Return the time after the first sender in which another sender of its ToR misses the cache: 2 (T_A - T_ToR)."""
    return 2 * (path.sender_delay_ns - path.tor_delay_ns)
