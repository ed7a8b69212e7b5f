# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The frames of the exercises: numbered data with an ECN field or an MRI option, and the probes of link_monitor.

Must know the formats of the exercises' READMEs, but no network.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

SENDER, RECEIVER = IPv4Address("10.0.1.1"), IPv4Address("10.0.2.2")
NEXT_MAC = "02:00:00:00:00:63"
"""A destination that no host has, so that the kernel of the receiver ignores the frames."""
ECT, CE = 2, 3
OPTION_MRI = 31
HOP_BYTES = 8
"""The bytes that a switch of `mri` adds to a frame."""
PROBE_BYTES = 60

_ETHERNET = struct.Struct(">6s6sH")
_IPV4 = struct.Struct(">BBHHHBBH4s4s")
_OPTION = struct.Struct(">BBH")
_MRI_HOP = struct.Struct(">II")
_NUMBER = struct.Struct(">I")
_PROBE_HOP = struct.Struct(">BBI6s6s")
_TYPE_IPV4, _TYPE_PROBE = 0x0800, 0x0812
_PROTOCOL = 253  # for experiments
_TTL = 64
_LAST_HOP = 0x80


@dataclass(frozen=True)
class ProbeHop:
    """The record of one hop in a probe: bytes sent through a port between two probes."""

    switch: int
    port: int
    sent_bytes: int
    last_us: int
    time_us: int

    @property
    def utilisation_bps(self) -> float | None:
        """The rate at which the port sent, or None for the first probe, which has no earlier probe."""
        elapsed_us = self.time_us - self.last_us
        return None if not self.last_us or elapsed_us <= 0 else 8e6 * self.sent_bytes / elapsed_us


def data(number: int, frame_bytes: int, *, ecn: int = 0, records_hops: bool = False) -> bytes:
    """Return an Ethernet frame of this size that carries its number, with an empty MRI option if `records_hops`."""
    option = _OPTION.pack(OPTION_MRI, _OPTION.size, 0) if records_hops else b""
    header_words = (_IPV4.size + len(option)) // 4
    ipv4 = _IPV4.pack(
        *(0x40 | header_words, ecn, frame_bytes - _ETHERNET.size, 0, 0, _TTL, _PROTOCOL, 0),
        *(SENDER.packed, RECEIVER.packed),
    )
    return (_ethernet(_TYPE_IPV4) + ipv4 + option + _NUMBER.pack(number)).ljust(frame_bytes, b"\0")


def probe(ports: Sequence[int]) -> bytes:
    """Return a probe that leaves the switches on its way through these ports."""
    return (_ethernet(_TYPE_PROBE) + bytes([0, *ports])).ljust(PROBE_BYTES, b"\0")


def number_of(frame: bytes) -> int | None:
    """Return the number of a data frame, or None for any other frame."""
    if _type_of(frame) != _TYPE_IPV4 or frame[_ETHERNET.size + 9] != _PROTOCOL:
        return None
    number: int = _NUMBER.unpack_from(frame, _ETHERNET.size + 4 * (frame[_ETHERNET.size] & 0xF))[0]
    return number


def is_marked(frame: bytes) -> bool:
    """Whether a switch has set "congestion experienced" in a data frame."""
    return frame[_ETHERNET.size + 1] & 3 == CE


def mri_depths(frame: bytes) -> dict[int, int]:
    """Return the queue depth that each switch recorded in a data frame, by the switch's number."""
    at = _ETHERNET.size + _IPV4.size
    _, _, count = _OPTION.unpack_from(frame, at)
    return dict(_MRI_HOP.unpack_from(frame, at + _OPTION.size + _MRI_HOP.size * hop) for hop in range(count))


def probe_hops(frame: bytes) -> list[ProbeHop]:
    """Return the records of a probe, last hop first; an empty list for any other frame."""
    if _type_of(frame) != _TYPE_PROBE:
        return []
    hops = []
    for hop in range(frame[_ETHERNET.size]):
        switch, port, sent, last, now = _PROBE_HOP.unpack_from(frame, _ETHERNET.size + 1 + _PROBE_HOP.size * hop)
        hops.append(ProbeHop(switch & ~_LAST_HOP, port, sent, _time_us(last), _time_us(now)))
    return hops


def _ethernet(ethertype: int) -> bytes:
    return _ETHERNET.pack(bytes.fromhex(NEXT_MAC.replace(":", "")), bytes.fromhex("020000000001"), ethertype)


def _time_us(raw: bytes) -> int:
    return int.from_bytes(raw, "big")


def _type_of(frame: bytes) -> int:
    ethertype: int = _ETHERNET.unpack_from(frame)[2]
    return ethertype
