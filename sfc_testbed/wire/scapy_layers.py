# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Scapy layers for tests and interactive use. ``BTS`` is bound to its UDP port; BTH, AETH and PFC are scapy.contrib's.

``TCPSignal`` follows a TCP header that has only the flag N, scapy's name for the lowest reserved bit.

Code on a hot path must not import this module: scapy is slow, and the testbed runs without it.
"""

from typing import Any, ClassVar

from scapy.contrib.mac_control import MACControlClassBasedFlowControl as PFC
from scapy.contrib.roce import AETH, BTH
from scapy.fields import (
    BitEnumField,
    ByteField,
    FlagsField,
    IntField,
    ShortField,
    ThreeBytesField,
)
from scapy.layers.inet import TCP, UDP
from scapy.packet import Packet, bind_layers

from sfc_testbed.wire.constants import BTS_UDP_PORT, BTS_VERSION, BtsCause

__all__ = ["AETH", "BTH", "BTS", "PFC", "TCPSignal"]

_CAUSES = {int(cause): cause.name.lower() for cause in BtsCause}


class BTS(Packet):
    """The Back-To-Sender payload, with its fields in the order of `wire.bts`. By default it is the SFC prototype's."""

    name = "BTS"
    fields_desc: ClassVar[Any] = [
        ByteField("version", BTS_VERSION),
        ByteField("flow_dscp", 0),
        ShortField("pause_us", 0),
        FlagsField("flags", 0, 4, ["cacheable"]),
        BitEnumField("cause", BtsCause.UNKNOWN, 4, _CAUSES),
        ByteField("protocol", 0),
        ShortField("flow_dport", 0),
        ThreeBytesField("dest_qp", 0),
        ByteField("traffic_class", 0),
        IntField("queue_depth_bytes", 0),
        ShortField("switch_id", 0),
    ]


class TCPSignal(Packet):
    """The fields of a TCP signal behind its TCP header, in the order of `wire.tcp_signal`."""

    name = "TCP signal"
    fields_desc: ClassVar[Any] = [
        ByteField("flow_dscp", 0),
        FlagsField("flags", 0, 4, ["cacheable"]),
        BitEnumField("cause", BtsCause.QUEUE, 4, _CAUSES),
        ByteField("traffic_class", 0),
        ByteField("reserved", 0),
        ShortField("switch_id", 0),
    ]


bind_layers(UDP, BTS, dport=BTS_UDP_PORT)
bind_layers(TCP, TCPSignal, flags="N", chksum=0)
