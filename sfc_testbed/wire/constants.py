# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The numbers that several parts of the testbed must agree on, each defined once.

The P4 program repeats some of them because it cannot import Python; a test compares its constants with this module.
Packet layouts and behaviour are in other modules.
"""

from enum import IntEnum
from typing import Final

# Ethernet and IPv4
ETHERTYPE_IPV4: Final = 0x0800
ETHERTYPE_MAC_CONTROL: Final = 0x8808
IP_PROTOCOL_TCP: Final = 6
IP_PROTOCOL_UDP: Final = 17
IPV4_TTL: Final = 64

# UDP ports. RoCEv2 has port 4791. The BTS port is that of the SFC prototype (docs/sources.md#bts-packet).
ROCE_UDP_PORT: Final = 4791
BTS_UDP_PORT: Final = 1674
INT_UDP_PORT: Final = 49792
"""Private port of RoCEv2 packets with in-band telemetry between the UDP header and the BTH (`wire.int_header`)."""
ROCE_SOURCE_PORT_BASE: Final = 0xC000
"""First RoCEv2 source port; the range ends at 0xFFFF. A port carries the low bits of the sender's QP (paper §4,
footnote)."""
ROCE_SOURCE_PORT_QPN_MASK: Final = 0x3FFF

DSCP_MASK: Final = 0x3F

# DSCP and traffic class of each kind of packet. Class 7 has the highest priority.
DSCP_BTS: Final = 56
DSCP_CONTROL: Final = 48
DSCP_DATA: Final = 26
DSCP_TRIMMED: Final = 50
DSCP_RETURNED: Final = 52
CLASS_BTS: Final = 7
CLASS_CONTROL: Final = 6
CLASS_DATA: Final = 3
CLASS_DEFAULT: Final = 0
CLASS_BITS: Final = 3
CLASS_COUNT: Final = 1 << CLASS_BITS
CLASS_BY_DSCP = {
    DSCP_BTS: CLASS_BTS,
    DSCP_CONTROL: CLASS_CONTROL,
    DSCP_DATA: CLASS_DATA,
    DSCP_TRIMMED: CLASS_CONTROL,
    DSCP_RETURNED: CLASS_CONTROL,
}
"""Traffic class of each DSCP. Packets with any other DSCP (ping, TCP, ...) belong to CLASS_DEFAULT."""

# ECN code points, the low two bits of the IPv4 TOS byte.
ECN_NOT_CAPABLE: Final = 0
ECN_CAPABLE: Final = 2
ECN_CONGESTION_EXPERIENCED: Final = 3

# Back-To-Sender packet
BTS_VERSION: Final = 0
BTS_FLAG_CACHEABLE: Final = 0x1
BTS_LONGEST_PAUSE: Final = 65_535
"""Largest value of the pause field, in units of its cause."""
BTS_PAYLOAD_BYTES: Final = 18
BTS_FRAME_BYTES: Final = 60
TCP_SIGNAL: Final = 1
"""Reserved bits of a TCP header that is a signal (`wire.tcp_signal`)."""
TCP_HEADER_WORDS: Final = 5
"""Data offset of a TCP header without options."""
QUOTED_BTH_BYTES: Final = 12
"""Length of the data packet's BTH that a BTS of cause SUB_RTT quotes after its payload."""


class BtsCause(IntEnum):
    """The reason why a switch sent a BTS."""

    UNKNOWN = 0
    """The switch leaves all fields empty that the SFC prototype does not have, and so names no cause."""
    QUEUE = 1
    """An output queue of this switch was above Q_th (paper Alg. 1)."""
    CACHE = 2
    """The pause cache of a sender-side ToR held an unexpired pause for the destination (paper §3.3)."""
    ESTIMATOR = 3
    """The incast estimator saw more traffic towards the destination than its link carries (paper §3.3)."""
    FEEDBACK = 4
    """QCN's congestion point sampled a packet of the flow and asks its sender for a lower rate instead of a pause."""
    SUB_RTT = 5
    """Bolt: the queue was at or above CC_THRESH. The switch asks the sender for a smaller window instead of a pause."""

    @property
    def requests_pause(self) -> bool:
        """Whether the flow control obeys such a BTS, by a pause. Otherwise it is for the congestion control."""
        return self not in _FOR_CONGESTION_CONTROL


_FOR_CONGESTION_CONTROL: Final = (BtsCause.FEEDBACK, BtsCause.SUB_RTT)

# RoCEv2 transport
DEFAULT_PAYLOAD_BYTES: Final = 1000
MAX_PAYLOAD_BYTES: Final = 9216
PSN_BITS: Final = 24
PSN_MASK: Final = (1 << PSN_BITS) - 1
QPN_MASK: Final = 0xFFFFFF
PARTITION_KEY_DEFAULT: Final = 0xFFFF

# Bolt's flags in the six reserved bits of a data packet's BTH (docs/wire-format.md#flags-of-bolt)
BOLT_DEC: Final = 1
"""A switch has asked the sender for a smaller window."""
BOLT_INC: Final = 2
"""The sender asks for a larger window, and no switch has refused so far."""
BOLT_FIRST: Final = 4
"""The sender has got no acknowledgement yet."""
BOLT_LAST: Final = 8
"""The packet is in the flow's last window."""
BTH_FLAGS_MASK: Final = 0x3F

# A data packet that a switch has cut to its headers (docs/sources.md#ndp)
TRIMMED_IPV4_BYTES: Final = 40
TRIMMED_FRAME_BYTES: Final = 60

# In-band network telemetry (INT)
INT_SHIM_BYTES: Final = 4
INT_RECORD_BYTES: Final = 16
INT_SLOT_BYTES: Final = 8
"""Bytes of a hop in the compact layout, which always has INT_MAX_HOPS of these slots."""
INT_MAX_HOPS: Final = 5
INT_FLAG_ECHO: Final = 0x1
"""Flag of packets to which switches append nothing: echoes on their way back, and packets without telemetry."""
INT_FLAG_STAMP: Final = 0x2
"""Flag of packets whose oldest record is the sender's time stamp."""
INT_FLAG_COMPACT: Final = 0x4
"""Flag of packets with the compact layout, in which a hop fills a slot instead of adding a record."""
INT_FLAG_PATH: Final = 0x8
"""Flag of packets whose header names the path."""
INT_PATH_FACTOR_SWITCH: Final = 0x9E35
INT_PATH_FACTOR_PORT: Final = 0x85EB
"""Each hop replaces the name of the path by (name x first factor + switch) x second factor + port, modulo 2^16."""

# 802.1Qbb
PFC_OPCODE: Final = 0x0101
PFC_DESTINATION_MAC: Final = 0x0180C2000001
PFC_QUANTUM_BITS: Final = 512
PFC_MAX_QUANTA: Final = 0xFFFF
PFC_FRAME_BYTES: Final = 60
"""Length of a PFC frame: 34 bytes of fields, padded to Ethernet's minimum of 64 less the FCS, which a veth omits."""

# Pause of one queue of a class: a MAC control frame of 802.3's extension (docs/wire-format.md#pause-of-a-queue)
EXTENSION_OPCODE: Final = 0xFFFE
QUEUE_PAUSE_ORGANIZATION: Final = 0x5AFCBF
"""Private company ID of these frames, which is not registered."""
QUEUE_PAUSE_QUANTA: Final = 64
"""Quanta in the unit of time of these frames, so that a pause outlasts the wait of a packet in a paused queue."""
QUEUE_NUMBERS: Final = 256
"""Number of queues that a data packet can name as its queue at the previous hop."""
MOST_FLOW_QUEUES: Final = 128
"""Largest number of queues of a port and class of a switch."""

# Switch ports
RECIRCULATION_PORT: Final = 510
DROP_PORT: Final = 511
BTS_MIRROR_SESSION: Final = 1
PAUSE_MIRROR_SESSION: Final = 2
"""Mirror session that sends copies of packets to the recirculation port to become pause frames; the session above
does the same for copies that become a BTS."""

# Sizes of the tables whose entries grow with the network
TABLE_SIZES: Final = {"ipv4_lpm": 16384, "ecmp_members": 16384, "watched_destination": 16384}

# State of the P4 program that the control plane reads. A queue's index is port << CLASS_BITS | class.
CACHE_RING_PLACES: Final = 256
"""Number of places in the ring of live cache entries. The counters of its two ends only ever grow."""
CACHE_KEY_ADDRESS_SHIFT: Final = 8
CACHE_KEY_DSCP_SHIFT: Final = 2
"""Position of the DSCP in a cache key, which consists of the IPv4 address, the DSCP and two zero bits."""
