# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Building of the RoCEv2 frames that a queue pair sends."""

from typing import Final

from isal.isal_zlib import crc32
from librt.strings import BytesWriter, write_i32_be, write_i32_le, write_i64_be
from mypy_extensions import i64

from sfc_testbed.wire import ethernet, ipv4, udp
from sfc_testbed.wire.constants import (
    ETHERTYPE_IPV4,
    INT_UDP_PORT,
    IP_PROTOCOL_UDP,
    PARTITION_KEY_DEFAULT,
    QPN_MASK,
    ROCE_UDP_PORT,
)
from sfc_testbed.wire.crc import CrcShift, shift_of, word_crc
from sfc_testbed.wire.roce.packets import (
    ACKNOWLEDGE,
    AETH_BYTES,
    BECN,
    BTH_BYTES,
    BTH_OFFSET,
    ICRC_BYTES,
    IP_OFFSET,
    PSN_OFFSET,
    QPN_BITS,
    UDP_OFFSET,
    icrc_state,
    source_port,
)
from sfc_testbed.wire.words import WORD_BYTES, signed, swapped

_BECN_BIT: Final = BECN >> QPN_BITS
_WORD_SHIFT: Final = shift_of(WORD_BYTES)
_PORT_SHIFT: Final = shift_of(PSN_OFFSET - UDP_OFFSET - WORD_BYTES)
"""CRC shift by the bytes of the masked header behind the UDP ports."""
_PADDINGS: Final = [bytes(size) for size in range(WORD_BYTES)]
_FRAME: Final = BytesWriter()
"""Shared buffer for the frame under construction; a frame is complete before the next one begins."""


class _Template:
    """The bytes that all packets of one opcode and length share.

    `before` and `after` are the headers before and after the shim, up to the last BTH word; without a shim, `after` is
    empty. `state` is the CRC state after these headers. `padding` follows the body.
    """

    __slots__ = ("after", "before", "last_word", "last_word_crc", "padding", "source_port", "state")

    def __init__(self, before: bytes, after: bytes, state: i64, padding: bytes, source_port: i64) -> None:
        self.before = before
        self.after = after
        self.state: i64 = state
        self.padding = padding
        self.source_port: i64 = source_port
        self.last_word: i64 = 0
        self.last_word_crc: i64 = word_crc(0, 0)

    def crc_of_two(self, first: i64, last: i64) -> i64:
        """Return the ICRC of two words after the headers. The last one is the same for many packets."""
        if last != self.last_word:
            self.last_word, self.last_word_crc = last, word_crc(swapped(last), 0)
        return _WORD_SHIFT.past_word(swapped(first), self.state) ^ self.last_word_crc

    def set_source_port(self, port: i64) -> None:
        """Change the UDP source port. A CRC is linear, so only the contribution of the changed bits is computed."""
        changed = port ^ self.source_port
        self.state ^= _PORT_SHIFT.past_word(swapped(changed << 16), 0) ^ _PORT_SHIFT.past_word(0, 0)
        self.source_port = port
        before = self.before
        self.before = before[:UDP_OFFSET] + int(port).to_bytes(2, "big") + before[UDP_OFFSET + 2 :]


class RoceFramer:
    """A builder of the frames of one direction of one queue pair."""

    __slots__ = (
        "_destination_ip", "_destination_qpn", "_key", "_macs", "_source_ip", "_source_port", "_template", "_templates",
        "_tos",
    )  # fmt: skip

    def __init__(
        self,
        *,
        destination_mac: int,
        source_mac: int,
        source_ip: int,
        destination_ip: int,
        source_qpn: int,
        destination_qpn: int,
        tos: int,
    ) -> None:
        """`tos` is the whole IPv4 TOS byte: DSCP << 2 | ECN."""
        self._macs = ethernet.pack_header(destination_mac, source_mac, ETHERTYPE_IPV4)
        self._source_ip: i64 = source_ip
        self._destination_ip: i64 = destination_ip
        self._source_port: i64 = source_port(source_qpn)
        self._destination_qpn: i64 = destination_qpn & QPN_MASK
        self._tos: i64 = tos
        self._templates: dict[int, _Template] | None = None
        """The templates so far; None if `_template` is the only one."""
        self._key: i64 = -1
        self._template: _Template | None = None

    def set_source_port(self, port: i64) -> None:
        """Use this UDP source port from the next frame on."""
        if port == self._source_port:
            return
        if self._templates is None:
            self._templates = {} if self._template is None else {int(self._key): self._template}
        self._source_port, self._key = port, -1

    def acknowledgement(self, psn: i64, aeth: i64, *, becn: bool = False, flags: int = 0, shim: bytes = b"") -> bytes:
        """Return the frame of an Acknowledge packet without selective word, as `frame` does.

        Its two words are `psn` and `aeth`; the headers before them come from a template.
        """
        template = self._template_of(AETH_BYTES, len(shim), ACKNOWLEDGE, flags | _BECN_BIT if becn else flags)
        frame = _FRAME
        frame.truncate(0)
        frame.write(template.before)
        if len(shim):
            frame.write(shim)
            frame.write(template.after)
        write_i64_be(frame, psn << 32 | aeth)
        write_i32_le(frame, signed(template.crc_of_two(psn, aeth)))
        return frame.getvalue()

    def frame(
        self, opcode: int, psn_word: bytes, body: bytes, *, becn: bool = False, flags: int = 0, shim: bytes = b""
    ) -> bytes:
        """Return a whole frame with its ICRC. `body` follows the BTH (AETH, immediate data, payload) and is unpadded.

        `flags` are the six bits after BECN. `shim` is the telemetry of `wire.int_header`, empty for a plain packet. The
        ICRC covers neither.
        """
        template = self._template_of(len(body), len(shim), opcode, flags | _BECN_BIT if becn else flags)
        rest = psn_word + body + template.padding
        icrc = crc32(rest, template.state).to_bytes(ICRC_BYTES, "little")
        return b"".join((template.before, shim, template.after, rest, icrc))

    def full_frame(
        self, opcode: i64, word: i64, body: bytes, body_crc: i64, shift: CrcShift, shim: bytes, flags: int = 0
    ) -> bytes:
        """Return a frame, using the known CRC-32 of its body instead of computing it.

        `word` is AckReq and PSN. `shift` belongs to the body's length. If that is no multiple of four, the CRC is
        computed after all. Otherwise `body` may be the beginning of the body; a tail (wire.tail) describes the rest.
        """
        if shift.size_bytes % WORD_BYTES:
            return self.frame(opcode, int(word).to_bytes(WORD_BYTES, "big"), body, flags=flags, shim=shim)
        template = self._template_of(shift.size_bytes, len(shim), opcode, flags)
        frame = _FRAME
        frame.truncate(0)
        frame.write(template.before)
        if len(shim):
            frame.write(shim)
            frame.write(template.after)
        write_i32_be(frame, signed(word))
        frame.write(body)
        write_i32_le(frame, signed(shift.past_word(swapped(word), template.state) ^ body_crc))
        return frame.getvalue()

    def _template_of(self, body_bytes: i64, shim_bytes: i64, opcode: i64, bits: i64) -> _Template:
        """Return the template of packets with these lengths, opcode, and byte of FECN, BECN and six flags."""
        key: i64 = ((body_bytes << 8 | shim_bytes) << 8 | opcode) << 8 | bits
        latest, templates = self._template, self._templates
        if latest is not None:
            if key == self._key:
                return latest
            if templates is None:
                self._templates = templates = {int(self._key): latest}
        template = None if templates is None else templates.get(key)
        if template is None:
            template = self._headers(body_bytes, shim_bytes, opcode, bits)
            if templates is not None:
                templates[key] = template
        elif template.source_port != self._source_port:
            template.set_source_port(self._source_port)
        self._key, self._template = key, template
        return template

    def _headers(self, body_bytes: i64, shim_bytes: i64, opcode: i64, bits: i64) -> _Template:
        pad = -body_bytes & 3
        udp_payload = BTH_BYTES + body_bytes + pad + ICRC_BYTES
        frame = _FRAME
        self._write_outer(frame, udp_payload, ROCE_UDP_PORT)
        write_i32_be(frame, signed(opcode << 24 | pad << 20 | PARTITION_KEY_DEFAULT))
        write_i32_be(frame, signed(bits << QPN_BITS | self._destination_qpn))
        plain = frame.getvalue()
        state = icrc_state(plain, IP_OFFSET)
        padding = _PADDINGS[pad]
        if not shim_bytes:
            return _Template(plain, b"", state, padding, self._source_port)
        self._write_outer(frame, udp_payload + shim_bytes, INT_UDP_PORT)
        return _Template(frame.getvalue(), plain[BTH_OFFSET:], state, padding, self._source_port)

    def _write_outer(self, frame: BytesWriter, udp_payload: i64, port: i64) -> None:
        """Replace the content of `frame` by the headers before the BTH or the shim."""
        frame.truncate(0)
        frame.write(self._macs)
        ip_payload = udp.HEADER_BYTES + udp_payload
        ipv4.write_header(frame, self._source_ip, self._destination_ip, IP_PROTOCOL_UDP, ip_payload, self._tos)
        udp.write_header(frame, self._source_port, port, udp_payload)
