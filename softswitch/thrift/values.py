# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Converts keys and parameters between bytes of a call and words of a command.

The intermediate form of a key is a pair of numbers: the value, and the mask, prefix length or end of the range. The
mask of an exact key has all bits set.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from softswitch.codegen.ir.blocks import Key
from softswitch.codegen.ir.nodes import Action
from softswitch.thrift.interface import interface
from softswitch.thrift.refusals import Refused, TableCode

Pair = tuple[int, int]

_IPV4_BITS, _MAC_BITS, _IPV6_BITS = 32, 48, 128


def data_words(action: Action, data: Sequence[bytes]) -> list[str]:
    """Return an action's parameters as words of a command."""
    if len(data) != len(action.params):
        raise Refused(TableCode.BAD_ACTION_DATA, f"{action.name} has {len(action.params)} parameters, not {len(data)}")
    pairs = zip(data, action.params, strict=True)
    return [f"{_number(raw, param.bits, TableCode.BAD_ACTION_DATA):#x}" for raw, param in pairs]


def data_bytes(action: Action, words: Sequence[str]) -> list[bytes]:
    """Return an action's parameters as bytes of an answer."""
    pairs = zip(words, action.params, strict=True)
    return [as_bytes(word_value(word, param.bits), param.bits) for word, param in pairs]


def as_bytes(value: int, bits: int) -> bytes:
    """Return the bytes of a field of `bits` bits."""
    return value.to_bytes((bits + 7) // 8, "big")


def key_pairs(keys: Sequence[Key], matches: Sequence[Any]) -> list[Pair]:
    """Return the pairs for the keys in a call."""
    if len(matches) != len(keys):
        raise Refused(TableCode.BAD_MATCH_KEY, f"{len(keys)} keys, not {len(matches)}")
    return [_pair_of_match(key, match) for key, match in zip(keys, matches, strict=True)]


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
        return _canonical(key, (word_value(value, bits), int(length)))
    if key.kind == "range":
        low, _, high = word.partition("->")
        return word_value(low, bits), word_value(high, bits)
    if word == "_":
        return 0, 0
    value, is_masked, mask = word.partition("&&&")
    return _canonical(key, (word_value(value, bits), word_value(mask, bits) if is_masked else _all_bits(bits)))


def match_of_pair(key: Key, pair: Pair) -> Any:
    """Return a key, as value and mask, prefix length or end of the range, as the Thrift struct of a match."""
    types, bits = interface().MatchType, key.ref.field.bits
    first = as_bytes(pair[0], bits)
    if key.kind == "lpm":
        return interface().Match(type=types.LPM, lpm=interface().Lpm(first, pair[1]))
    second = as_bytes(pair[1], bits)
    if key.kind == "range":
        return interface().Match(type=types.RANGE, range=interface().Range(first, second))
    if key.kind in ("ternary", "optional"):
        return interface().Match(type=types.TERNARY, ternary=interface().Ternary(first, second))
    return interface().Match(type=types.EXACT, exact=interface().Exact(first))


def word_value(word: str, bits: int) -> int:
    """Return the value of a number, IPv4, MAC or IPv6 address in a command."""
    if bits == _IPV4_BITS and "." in word:
        return int(IPv4Address(word))
    if bits == _MAC_BITS and ":" in word:
        return int.from_bytes(bytes(int(part, 16) for part in word.split(":")), "big")
    if bits == _IPV6_BITS and ":" in word:
        return int(IPv6Address(word))
    return int(word) if word.isdecimal() else int(word, 0)


def _pair_of_match(key: Key, match: Any) -> Pair:
    bits = key.ref.field.bits
    if key.kind == "lpm":
        pair = _key_number(match.lpm, "key", bits), _prefix_bits(match.lpm, bits)
    elif key.kind == "range":
        pair = _key_number(match.range, "low", bits), _key_number(match.range, "high", bits)
        if pair[0] > pair[1]:
            raise Refused(TableCode.BAD_MATCH_KEY, f"the range of key {key.name} ends before it starts")
    elif key.kind in ("ternary", "optional"):
        pair = _key_number(match.ternary, "key", bits), _key_number(match.ternary, "mask", bits)
    elif match.valid is not None and bits == 1:
        pair = int(bool(match.valid.is_valid)), 1
    else:
        pair = _key_number(match.exact, "key", bits), _all_bits(bits)
    return _canonical(key, pair)


def _canonical(key: Key, pair: Pair) -> Pair:
    """Clear the bits of the value that the prefix or mask ignores."""
    value, second = pair
    bits = key.ref.field.bits
    if key.kind == "lpm":
        return value & (_all_bits(bits) >> bits - second << bits - second), second
    return (value & second, second) if key.kind in ("ternary", "optional") else pair


def _all_bits(bits: int) -> int:
    return (1 << bits) - 1


def _key_number(part: Any, field: str, bits: int) -> int:
    """Return a field of the part of a match that belongs to its kind. Raise Refused if it is missing."""
    return _number(getattr(part, field, None), bits, TableCode.BAD_MATCH_KEY)


def _prefix_bits(part: Any, bits: int) -> int:
    length = part.prefix_bits
    if not isinstance(length, int) or not 0 <= length <= bits:
        raise Refused(TableCode.BAD_MATCH_KEY, f"a prefix of {length} of {bits} bits")
    return length


def _number(raw: bytes | None, bits: int, code: int) -> int:
    """Return a value, which must fit the field; BMv2's clients pad it with leading zeros."""
    if not isinstance(raw, bytes):
        raise Refused(code, "a value is missing")
    value = int.from_bytes(raw, "big")
    if value >> bits:
        raise Refused(code, f"{value:#x} does not fit in {bits} bits")
    return value
