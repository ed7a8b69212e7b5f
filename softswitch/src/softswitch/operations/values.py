# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Converts keys and parameters between numbers and words of control commands.

A key is a pair of numbers: the value, and the mask, prefix length or end of the range. The mask of an exact key has all
bits set.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from typing import TypeAlias

from softswitch.codegen.ir.blocks import Key, Table
from softswitch.control import Commands

Pair: TypeAlias = tuple[int, int]

_IPV4_BITS, _MAC_BITS, _IPV6_BITS = 32, 48, 128


def run(control: Commands, *words: object) -> str:
    """Run a command, given as words, and return its answer. Raise CommandError if it is refused."""
    return control.command(" ".join(map(str, words)))


def has_priorities(table: Table) -> bool:
    """Whether entries have priorities, because more than one may match a packet."""
    return any(key.kind in ("ternary", "range", "optional") for key in table.keys)


def all_bits(bits: int) -> int:
    """Return the largest value of a field."""
    return (1 << bits) - 1


def key_word(key: Key, pair: Pair) -> str:
    """Return the word of a command for a key."""
    value, second = pair
    if key.kind == "lpm":
        return f"{value:#x}/{second}"
    if key.kind == "range":
        return f"{value:#x}->{second:#x}"
    if key.kind in ("ternary", "optional"):
        return f"{value:#x}&&&{second:#x}"
    return f"{value:#x}"


def pair_of_word(key: Key, word: str) -> Pair:
    """Return the value of a key in a command, with its mask, prefix length or end of the range."""
    bits = key.ref.field.bits
    if key.kind == "lpm":
        value, _, length = word.partition("/")
        return canonical(key, (word_value(value, bits), int(length)))
    if key.kind == "range":
        low, _, high = word.partition("->")
        return word_value(low, bits), word_value(high, bits)
    if word == "_":
        return 0, 0
    value, is_masked, mask = word.partition("&&&")
    return canonical(key, (word_value(value, bits), word_value(mask, bits) if is_masked else all_bits(bits)))


def canonical(key: Key, pair: Pair) -> Pair:
    """Clear the bits of the value that the prefix or mask ignores."""
    value, second = pair
    bits = key.ref.field.bits
    if key.kind == "lpm":
        return value & (all_bits(bits) >> bits - second << bits - second), second
    return (value & second, second) if key.kind in ("ternary", "optional") else pair


def word_value(word: str, bits: int) -> int:
    """Return the value of a number, IPv4, MAC or IPv6 address in a command."""
    if bits == _IPV4_BITS and "." in word:
        return int(IPv4Address(word))
    if bits == _MAC_BITS and ":" in word:
        return int.from_bytes(bytes(int(part, 16) for part in word.split(":")), "big")
    if bits == _IPV6_BITS and ":" in word:
        return int(IPv6Address(word))
    return int(word) if word.isdecimal() else int(word, 0)
