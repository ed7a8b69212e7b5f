# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Packs a select key into the 64-bit words of a parser value set (c/runtime/value_set.h). It must not know states.

A value is the concatenation of the key's elements without padding. It fills words from the least significant bit of
the last word on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from softswitch.codegen.lower.values import bits_mask

_WORD_BITS = 64

Piece: TypeAlias = tuple[str, int]
"""A part of a key of at most 64 bits: C of type uint64_t without higher bits, and the number of bits."""


def piece_places(bits: int) -> list[tuple[int, int]]:
    """Return shift and width of each piece of an element, from the most significant on."""
    return [(at, min(_WORD_BITS, bits - at)) for at in reversed(range(0, bits, _WORD_BITS))]


def mask_pieces(bits: int, mask: int) -> list[Piece]:
    """Return the pieces of a constant element."""
    return [(f"{mask >> at & bits_mask(n):#x}ull", n) for at, n in piece_places(bits)]


def packed_words(pieces: Sequence[Piece]) -> list[str]:
    """Return the C text of each word, from the most significant on."""
    total = sum(n for _, n in pieces)
    words: list[list[str]] = [[] for _ in range((total + _WORD_BITS - 1) // _WORD_BITS)]
    at = 0
    for text, n in reversed(pieces):
        word, shift = divmod(at, _WORD_BITS)
        words[word].append(f"{text} << {shift}" if shift else text)
        if shift + n > _WORD_BITS:
            words[word + 1].append(f"{text} >> {_WORD_BITS - shift}")
        at += n
    return [" | ".join(reversed(word)) for word in reversed(words)]
