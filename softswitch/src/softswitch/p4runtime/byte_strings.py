# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Numbers as byte strings: big-endian, and in answers as short as possible."""

from __future__ import annotations

from softswitch.p4runtime.status import invalid

_LONGEST_SHOWN_BYTES = 32


def encoded(value: int) -> bytes:
    """Return the shortest byte string of an unsigned number; 0 has one byte."""
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def shortest(raw: bytes) -> bytes:
    """Return the shortest byte string of the unsigned number in a byte string. An empty string stays empty."""
    return raw.lstrip(b"\0") or raw[-1:]


def decoded(raw: bytes, bits: int, what: str) -> int:
    """Return the number in a byte string of any length. Raise Refusal if it is empty or does not fit in `bits` bits."""
    if not raw:
        raise invalid(f"{what} is empty")
    value = int.from_bytes(raw, "big")
    if value >> bits:
        shown = f"{value:#x}" if len(raw) <= _LONGEST_SHOWN_BYTES else f"of {len(raw)} bytes"
        raise invalid(f"{what} {shown} does not fit in {bits} bits")
    return value


def encoded_signed(value: int, bits: int) -> bytes:
    """Return the shortest two's complement byte string for the bits of a field of type int<bits>."""
    number = value - (1 << bits) if value >> bits - 1 else value
    magnitude = number if number >= 0 else ~number
    return number.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


def decoded_signed(raw: bytes, bits: int, what: str) -> int:
    """Return the bits of a field of type int<bits>. Raise Refusal if the byte string is empty or does not fit."""
    if not raw:
        raise invalid(f"{what} is empty")
    number = int.from_bytes(raw, "big", signed=True)
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        shown = str(number) if len(raw) <= _LONGEST_SHOWN_BYTES else f"of {len(raw)} bytes"
        raise invalid(f"{what} {shown} does not fit in {bits} bits")
    return number & (1 << bits) - 1
