# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Emits C that loads a field from bytes, and C that stores consecutive fields into bytes.

It must not know its users: parsers, deparsers and hashes.
"""

from __future__ import annotations

from dataclasses import dataclass

from softswitch.codegen.ir.nodes import Field
from softswitch.codegen.lower.places import c_type
from softswitch.codegen.lower.stores import Target, store_low
from softswitch.codegen.lower.values import bits_mask


@dataclass(frozen=True)
class Piece:
    """A field to store: C text and width. The text is an unsigned integer, or big-endian bytes if `wide` is set."""

    text: str
    bits: int
    wide: bool = False


def piece_of(lvalue: str, field: Field) -> Piece:
    """Return the piece for a field stored at `lvalue`."""
    if c_type(field.bits, field.signed) is None:
        return Piece(lvalue, field.bits, wide=True)
    kind = "uint64_t" if field.bits <= 64 else "sw_u128"
    text = f"({kind}){lvalue}"
    if field.signed:
        text = f"({text} & {bits_mask(field.bits):#x}ull)" if field.bits <= 64 else f"({text} & sw_mask({field.bits}))"
    return Piece(text, field.bits)


def load_field(lvalue: str, field: Field, base: str, offset_bits: int) -> list[str]:
    """Return C that loads a field which starts `offset_bits` after `base`."""
    first, skip = divmod(offset_bits, 8)
    at = f"{base} + {first}" if first else base
    if c_type(field.bits, field.signed) is None:
        if skip == 0 and field.bits % 8 == 0:
            return [f"memcpy({lvalue}, {at}, {field.bits // 8});"]
        return [f"sw_get_bytes({lvalue}, {base}, {offset_bits}, {field.bits});"]
    text = _load_integer(base, offset_bits, field.bits)
    return [store_low(Target(lvalue, field.bits, field.signed), text)]


def _load_integer(base: str, offset_bits: int, bits: int) -> str:
    """Return C for an unsigned integer whose low `bits` bits are the field."""
    first, skip = divmod(offset_bits, 8)
    at = f"{base} + {first}" if first else base
    span = (skip + bits + 7) // 8 * 8
    if span <= 64:
        shift = span - skip - bits
        text = f"sw_get{span}({at})"
        return f"({text} >> {shift})" if shift else text
    if bits == 128 and skip == 0:
        return f"sw_u128_of(sw_get64({at}), sw_get64({base} + {first + 8}))"
    cast = "(uint64_t)" if bits <= 64 else ""
    return f"{cast}sw_get_bits({base}, {offset_bits}, {bits})"


def store_fields(base: str, pieces: list[Piece]) -> list[str]:
    """Return C that stores pieces one after the other from `base` on, padded with zeros to a whole byte."""
    total = sum(p.bits for p in pieces)
    if total % 8:
        pieces = [*pieces, Piece("0ull", 8 - total % 8)]
    lines: list[str] = []
    offset = 0
    group: list[Piece] = []
    for piece in pieces:
        group.append(piece)
        bits = sum(p.bits for p in group)
        if bits % 8 == 0:
            lines += _store_group(base, offset, group, bits)
            offset += bits
            group = []
    return lines


def _store_group(base: str, offset: int, group: list[Piece], bits: int) -> list[str]:
    """Return C that stores a group of pieces, which starts and ends at a byte boundary."""
    at = f"{base} + {offset // 8}" if offset else base
    if len(group) == 1 and group[0].wide:
        return [f"memcpy({at}, {group[0].text}, {bits // 8});"]
    if bits <= 64:
        return [f"sw_put{bits}({at}, {_joined(group)});"]
    if len(group) == 1 and bits == 128:
        return [
            f"sw_put64({at}, (uint64_t)({group[0].text} >> 64));",
            f"sw_put64({base} + {offset // 8 + 8}, (uint64_t){group[0].text});",
        ]
    lines = [f"memset({at}, 0, {bits // 8});"]
    for piece in group:
        call = "sw_put_bytes" if piece.wide else "sw_put_bits"
        lines.append(f"{call}({base}, {offset}, {piece.bits}, {piece.text});")
        offset += piece.bits
    return lines


def _joined(group: list[Piece]) -> str:
    left = sum(p.bits for p in group)
    parts = []
    for piece in group:
        left -= piece.bits
        parts.append(f"{piece.text} << {left}" if left else piece.text)
    return " | ".join(parts)
