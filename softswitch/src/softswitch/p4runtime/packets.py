# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Packets to and from the CPU port, whose metadata are the fields of headers with @controller_header."""

from __future__ import annotations

from typing import Any

from softswitch.codegen.ir.limits import MOST_HEADER_BITS, MOST_OBJECTS
from softswitch.p4runtime import messages
from softswitch.p4runtime.byte_strings import decoded, encoded
from softswitch.p4runtime.info import Info
from softswitch.p4runtime.status import invalid


class PacketHeaders:
    """The packet-in and packet-out header of a program; a program without them exchanges bare packets."""

    def __init__(self, info: Info) -> None:
        self._in = _fields(info, "packet_in")
        self._out = _fields(info, "packet_out")
        self._in_bytes = (sum(field.bitwidth for field in self._in) + 7) // 8

    def frame(self, message: Any) -> bytes:
        """Return the frame of a packet-out message. Raise Refusal if its metadata do not fit the header.

        Fields without metadata are 0, as on BMv2. The specification requires all of them, but ONOS omits some.
        """
        given = {item.metadata_id: item.value for item in message.metadata}
        if len(given) != len(message.metadata):
            raise invalid("a metadata field is given twice")
        for unknown in set(given) - {field.id for field in self._out}:
            raise invalid(f"the packet-out header has no metadata field {unknown}")
        header = bits = 0
        for field in self._out:
            header <<= field.bitwidth
            if field.id in given:
                header |= decoded(given[field.id], field.bitwidth, f"metadata {field.name}")
            bits += field.bitwidth
        n_bytes = (bits + 7) // 8
        frame: bytes = (header << 8 * n_bytes - bits).to_bytes(n_bytes, "big") + message.payload
        if not frame:
            raise invalid("the packet is empty")
        return frame

    def packet_in(self, frame: bytes) -> Any | None:
        """Return the packet-in message of a frame, or None if the frame is shorter than the header."""
        if len(frame) < self._in_bytes:
            return None
        header = int.from_bytes(frame[: self._in_bytes], "big")
        left = 8 * self._in_bytes
        message = messages.v1.PacketIn(payload=frame[self._in_bytes :])
        for field in self._in:
            left -= field.bitwidth
            value = header >> left & (1 << field.bitwidth) - 1
            message.metadata.add(metadata_id=field.id, value=encoded(value))
        return message


def _fields(info: Info, header: str) -> tuple[Any, ...]:
    """Return the fields of a header; empty if the program has no such header."""
    item = info.packet_headers.get(header)
    fields = () if item is None else tuple(item.metadata)
    if len(fields) > MOST_OBJECTS:
        raise invalid(f"header {header} has {len(fields)} metadata fields; at most {MOST_OBJECTS}")
    for field in fields:
        if field.bitwidth <= 0:
            raise invalid(f"metadata {field.name} of header {header} has no width")
    bits = sum(field.bitwidth for field in fields)
    if bits > MOST_HEADER_BITS:
        raise invalid(f"header {header} has {bits} bits of metadata; at most {MOST_HEADER_BITS}")
    return fields
