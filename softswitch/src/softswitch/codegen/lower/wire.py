# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Emits C that loads a field from bytes, and C that stores consecutive fields into bytes.

It must not know its users: parsers, deparsers and hashes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from softswitch.codegen.ir.nodes import Field
from softswitch.codegen.lower.places import c_type
from softswitch.codegen.lower.stores import Target, store_low
from softswitch.codegen.lower.values import bits_mask

_WORD_BITS = 64


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
    if bits == 0:
        return "0ull"
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
    for run in _runs(pieces):
        bits = sum(p.bits for p in run)
        if all(p.bits <= _WORD_BITS and not p.wide for p in run):
            lines += _store_words(base, offset, run, bits)
        else:
            lines += _store_wide(base, offset, run, bits)
        offset += bits
    return lines


def _runs(pieces: list[Piece]) -> Iterator[list[Piece]]:
    """Yield runs of pieces that begin and end at a byte boundary, and that hold wide pieces or none."""
    words: list[Piece] = []
    group: list[Piece] = []
    for piece in pieces:
        group.append(piece)
        if sum(p.bits for p in group) % 8:
            continue
        if all(p.bits <= _WORD_BITS and not p.wide for p in group):
            words += group
        else:
            if words:
                yield words
            yield group
            words = []
        group = []
    if words:
        yield words


def _store_words(base: str, offset: int, pieces: list[Piece], bits: int) -> list[str]:
    """Return C that stores pieces as words of 64 bits, and a shorter word at the end.

    A load whose bytes were just written by more than one store waits until these stores have reached the cache.
    """
    words = packed_words(pieces, bits)
    return [f"sw_put{width}({_at(base, offset + begin)}, {text});" for begin, width, text in words]


def packed_words(pieces: list[Piece], bits: int) -> Iterator[tuple[int, int, str]]:
    """Yield (first bit, width, C text) of the words of 64 bits that pieces fill, and of a shorter word at the end."""
    for begin in range(0, bits, _WORD_BITS):
        end = min(begin + _WORD_BITS, bits)
        parts = []
        piece_end = 0
        for piece in pieces:
            piece_begin, piece_end = piece_end, piece_end + piece.bits
            if piece_begin < end and piece_end > begin:
                parts.append(_shifted(piece.text, end - piece_end))
        yield begin, end - begin, " | ".join(parts)


def _shifted(text: str, left: int) -> str:
    """Return C for an integer that is moved to the left, or to the right if `left` is negative."""
    if left == 0:
        return text
    return f"{text} << {left}" if left > 0 else f"{text} >> {-left}"


def _store_wide(base: str, offset: int, group: list[Piece], bits: int) -> list[str]:
    """Return C that stores a group with wide pieces, which starts and ends at a byte boundary."""
    at = _at(base, offset)
    if len(group) == 1 and group[0].wide:
        return [f"memcpy({at}, {group[0].text}, {bits // 8});"]
    if len(group) == 1 and bits == 2 * _WORD_BITS:
        return [
            f"sw_put64({at}, (uint64_t)({group[0].text} >> 64));",
            f"sw_put64({_at(base, offset + _WORD_BITS)}, (uint64_t){group[0].text});",
        ]
    lines = [f"memset({at}, 0, {bits // 8});"]
    for piece in group:
        call = "sw_put_bytes" if piece.wide else "sw_put_bits"
        lines.append(f"{call}({base}, {offset}, {piece.bits}, {piece.text});")
        offset += piece.bits
    return lines


def _at(base: str, offset_bits: int) -> str:
    return f"{base} + {offset_bits // 8}" if offset_bits else base
