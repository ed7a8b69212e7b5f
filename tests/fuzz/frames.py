# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Generates valid frames of all the testbed's protocols between two hosts, and damages them.

All random choices come from the generator in the arguments, so a seed determines a batch of thousands of frames.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from zlib import crc32

from sfc_testbed.wire import ethernet, int_header, int_slots, ipv4, pfc, udp
from sfc_testbed.wire.bts import BackToSender
from sfc_testbed.wire.bts import pack_frame as pack_bts
from sfc_testbed.wire.constants import (
    BTS_UDP_PORT,
    DSCP_BTS,
    DSCP_CONTROL,
    DSCP_DATA,
    DSCP_RETURNED,
    DSCP_TRIMMED,
    ETHERTYPE_IPV4,
    INT_FLAG_ECHO,
    INT_FLAG_STAMP,
    INT_MAX_HOPS,
    INT_SHIM_BYTES,
    INT_UDP_PORT,
    IP_PROTOCOL_TCP,
    IP_PROTOCOL_UDP,
    ROCE_UDP_PORT,
    BtsCause,
)
from sfc_testbed.wire.int_header import HopRecord, Telemetry
from sfc_testbed.wire.roce.decoder import parse_header
from sfc_testbed.wire.roce.framer import RoceFramer
from sfc_testbed.wire.roce.packets import (
    CNP_RESERVED,
    ICRC_BYTES,
    IP_OFFSET,
    PSN_OFFSET,
    PULL_BYTES,
    UDP_OFFSET,
    Opcode,
    Syndrome,
    pack_aeth,
    pack_immediate,
    pack_psn_word,
    pack_selective,
    source_port,
)
from sfc_testbed.wire.tcp_signal import pack_frame as pack_tcp_signal
from tests.hosts.transport.cut_frames import cut

EDGES = (0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF, ROCE_UDP_PORT, BTS_UDP_PORT, INT_UDP_PORT)
_SYNDROMES = (Syndrome.ACK, 0, 0x20, 0x3F, Syndrome.TRIMMED, 0x5F, Syndrome.NAK_SEQUENCE_ERROR, 0x61, 0x64, 0x7F, 0xFF)
_TOS = tuple(dscp << 2 | ecn for dscp in (DSCP_DATA, DSCP_CONTROL, DSCP_BTS, 0, 63) for ecn in range(4))
_LONGEST = 9_600


@dataclass(frozen=True)
class Between:
    """Source and destination addresses in the headers of frames."""

    source_mac: int
    destination_mac: int
    source_ip: int
    destination_ip: int


class FrameMaker:
    """Generator of valid frames from one host to another, on queue pairs 1 to `qpns`."""

    def __init__(self, random: Random, between: Between, qpns: int = 4) -> None:
        self._random = random
        self._between = between
        self._qpns = qpns
        self._psns = [0] * (qpns + 1)
        self._framers: dict[tuple[int, int, int], RoceFramer] = {}

    def frame(self) -> bytes:
        return self._random.choice(_KINDS)(self)

    def data(self) -> bytes:
        """Return a data frame, usually the next packet of its queue pair."""
        random = self._random
        qpn = random.randint(1, self._qpns)
        psn = self._psns[qpn]
        if random.random() < 0.2:
            psn += random.choice((-300, -2, -1, 1, 2, 5, 100, 1 << 22, 1 << 23, random.getrandbits(24)))
        else:
            self._psns[qpn] = psn + 1
        opcode = random.choice(
            (Opcode.SEND_FIRST, *[Opcode.SEND_MIDDLE] * 5, Opcode.SEND_LAST_WITH_IMMEDIATE, *range(6))
        )
        body = bytes(random.choice((0, 1, 3, 4, 64, 1000, 1000, 1000, 4096)))
        if opcode in (Opcode.SEND_LAST_WITH_IMMEDIATE, Opcode.SEND_ONLY_WITH_IMMEDIATE):
            body = pack_immediate(random.getrandbits(32)) + body
        return self._roce(qpn, opcode, pack_psn_word(psn, ack_request=random.random() < 0.5), body)

    def acknowledge(self) -> bytes:
        random = self._random
        psn = random.choice((0, 1, 2, random.randrange(40), random.randrange(400), random.getrandbits(24)))
        body = pack_aeth(random.choice(_SYNDROMES), random.getrandbits(24))
        if random.random() < 0.4:
            body += pack_selective(psn + random.randrange(60))
        return self._roce(random.randint(1, self._qpns), Opcode.ACKNOWLEDGE, pack_psn_word(psn), body)

    def cnp(self) -> bytes:
        return self._roce(self._random.randint(1, self._qpns), Opcode.CNP, pack_psn_word(0), CNP_RESERVED, becn=True)

    def pull(self) -> bytes:
        random = self._random
        number = random.choice((1, 2, random.randrange(400), 1 << 23, random.getrandbits(32)))
        body = number.to_bytes(PULL_BYTES, "big")
        return self._roce(random.randint(1, self._qpns), Opcode.PULL, pack_psn_word(0), body)

    def headers(self) -> bytes:
        """Return a trimmed data packet on its way to the receiver or back to the sender."""
        return cut(self.data(), self._random.choice((DSCP_TRIMMED, DSCP_TRIMMED, DSCP_RETURNED, DSCP_DATA)))

    def bts(self) -> bytes:
        """Return a BTS for a flow that the receiver may have, with a pause of any length."""
        random, between = self._random, self._between
        qpn = random.randint(1, self._qpns)
        signal = BackToSender(
            cause=random.choice(tuple(BtsCause)),
            cacheable=random.random() < 0.5,
            pause_us=random.choice((0, 1, 50, 5_000, 0x7FFF, 0xFFFF)),
            protocol=random.choice((IP_PROTOCOL_UDP, IP_PROTOCOL_UDP, IP_PROTOCOL_TCP, 255)),
            dscp=random.choice((DSCP_DATA, 0, 63)),
            source_port=source_port(qpn),
            destination_port=random.choice((ROCE_UDP_PORT, INT_UDP_PORT, 80)),
            destination_qpn=random.choice((qpn, qpn, 0, random.getrandbits(24))),
            traffic_class=random.choice((3, 3, 0, 7)),
            queue_depth_bytes=random.choice((0, 300_000, 0xFFFFFFFF)),
            switch_id=random.choice((0, 1, 0xFFFF)),
            stamp=random.choice((0, 1, 0x8000, 0xFFFF)),
        )
        is_tcp = signal.protocol == IP_PROTOCOL_TCP and random.random() < 0.8
        pack = pack_tcp_signal if is_tcp else pack_bts
        return pack(
            signal,
            destination_mac=between.destination_mac,
            source_mac=between.source_mac,
            congested_ip=between.source_ip,
            paused_ip=between.destination_ip,
        )

    def pause(self) -> bytes:
        random = self._random
        classes = random.sample(range(8), random.choice((0, 1, 1, 2, 8)))
        quanta = {number: random.choice((0, 1, 100, 0xFFFF)) for number in classes}
        return pfc.pack_frame(self._between.source_mac, quanta)

    def program(self) -> bytes:
        """Return an IPv4 packet of an ordinary program: UDP, TCP, ICMP or protocol 253."""
        random, between = self._random, self._between
        protocol = random.choice((IP_PROTOCOL_UDP, IP_PROTOCOL_TCP, 1, 253))
        body = random.randbytes(random.choice((0, 4, 8, 20, 60, 1400)))
        if protocol == IP_PROTOCOL_UDP:
            body = udp.pack_header(random.choice(EDGES), random.choice(EDGES), len(body)) + body
        header = ipv4.pack_header(between.source_ip, between.destination_ip, protocol, len(body), random.choice(_TOS))
        return ethernet.pack_header(between.destination_mac, between.source_mac, ETHERTYPE_IPV4) + header + body

    def other(self) -> bytes:
        random, between = self._random, self._between
        body = random.randbytes(random.choice((0, 1, 28, 46, 200)))
        ethertype = random.choice((0x0806, 0x86DD, 0x8100, 0x8808, 0x88B5, ETHERTYPE_IPV4, random.getrandbits(16)))
        frame = ethernet.pack_header(between.destination_mac, between.source_mac, ethertype) + body
        return frame if random.random() < 0.8 else random.randbytes(random.randrange(80))

    def _roce(self, qpn: int, opcode: int, psn_word: bytes, body: bytes, *, becn: bool = False) -> bytes:
        random = self._random
        tos = random.choice(_TOS) if random.random() < 0.3 else DSCP_DATA << 2 | 2
        destination_qpn = random.getrandbits(24) if random.random() < 0.05 else qpn
        key = (qpn, destination_qpn, tos)
        framer = self._framers.get(key)
        if framer is None:
            between = self._between
            framer = self._framers[key] = RoceFramer(
                destination_mac=between.destination_mac,
                source_mac=between.source_mac,
                source_ip=between.source_ip,
                destination_ip=between.destination_ip,
                source_qpn=qpn,
                destination_qpn=destination_qpn,
                tos=tos,
            )
        return framer.frame(opcode, psn_word, body, becn=becn, shim=self._shim() if random.random() < 0.3 else b"")

    def _shim(self) -> bytes:
        random = self._random
        hops = tuple(
            HopRecord(
                random.choice((0, 100_000, 0xFFFFFFFF)),
                random.getrandbits(32),
                random.getrandbits(32),
                random.choice((0, 5000, 0xFFFFFFFF)),
            )
            for _ in range(random.randrange(INT_MAX_HOPS))
        )
        stamp = HopRecord(0, random.getrandbits(32), random.getrandbits(32), 0) if random.random() < 0.5 else None
        if random.random() < 0.3:
            return self._compact_shim(stamp)
        return int_header.pack(Telemetry(random.random() < 0.6, hops, stamp))

    def _compact_shim(self, stamp: HopRecord | None) -> bytes:
        random = self._random
        slots = [
            int_slots.Slot(random.choice((0, 1, 2, 15)), *(random.getrandbits(bits) for bits in (24, 20, 16)))
            for _ in range(random.randrange(INT_MAX_HOPS))
        ]
        flags = INT_FLAG_ECHO if random.random() < 0.6 else 0
        if stamp is None:
            return int_slots.pack(slots, flags)
        return int_slots.pack(
            slots, flags | INT_FLAG_STAMP, int_header.pack(Telemetry(True, (), stamp))[INT_SHIM_BYTES:]
        )


_KINDS: Sequence[Callable[[FrameMaker], bytes]] = (
    *[FrameMaker.data] * 6,
    *[FrameMaker.acknowledge] * 4,
    FrameMaker.cnp,
    FrameMaker.pull,
    FrameMaker.headers,
    FrameMaker.bts,
    FrameMaker.bts,
    FrameMaker.pause,
    FrameMaker.program,
    FrameMaker.other,
)


def damaged(frame: bytes, random: Random) -> bytes:
    """Return the frame with flipped bits, a changed field or length, or a repeated part, often with valid checksums."""
    content = bytearray(frame)
    for _ in range(random.choice((1, 1, 2, 4))):
        if content:
            random.choice(_DAMAGES)(content, random)
    del content[_LONGEST:]
    if random.random() < 0.6:
        _fit_lengths(content, random)
    if random.random() < 0.8:
        _fit_sums(content)
    return bytes(content)


def _flip(content: bytearray, random: Random) -> None:
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)


def _flip_header(content: bytearray, random: Random) -> None:
    content[random.randrange(min(len(content), 74))] = random.getrandbits(8)


def _edge(content: bytearray, random: Random) -> None:
    at = random.randrange(min(len(content), 100)) & ~1
    content[at : at + 2] = random.choice(EDGES).to_bytes(2, "big")


def _cut(content: bytearray, random: Random) -> None:
    del content[random.randrange(len(content) + 1) :]


def _lengthen(content: bytearray, random: Random) -> None:
    content += random.randbytes(random.choice((1, 2, 3, 4, 16, 400)))


def _repeat(content: bytearray, random: Random) -> None:
    at = random.randrange(len(content))
    content[at:at] = content[: random.randrange(len(content))]


_DAMAGES = (_flip, _flip, _flip_header, _flip_header, _edge, _edge, _cut, _lengthen, _repeat)


def _fit_lengths(content: bytearray, random: Random) -> None:
    """Set the IPv4 length, and usually also the UDP length, to fit the frame."""
    if len(content) < UDP_OFFSET + udp.HEADER_BYTES:
        return
    content[IP_OFFSET + 2 : IP_OFFSET + 4] = (len(content) - IP_OFFSET).to_bytes(2, "big")
    if random.random() < 0.9:
        content[UDP_OFFSET + 4 : UDP_OFFSET + 6] = (len(content) - UDP_OFFSET).to_bytes(2, "big")


def _fit_sums(content: bytearray) -> None:
    """Set a valid IPv4 checksum, and a valid ICRC if the frame is RoCEv2."""
    if len(content) < UDP_OFFSET:
        return
    content[IP_OFFSET + 10 : IP_OFFSET + 12] = b"\0\0"
    content[IP_OFFSET + 10 : IP_OFFSET + 12] = ipv4.checksum(bytes(content[IP_OFFSET:UDP_OFFSET])).to_bytes(2, "big")
    header = parse_header(bytes(content))
    if header is not None:
        end = header.icrc_offset
        content[end : end + ICRC_BYTES] = crc32(content[PSN_OFFSET:end], header.icrc_state).to_bytes(4, "little")
