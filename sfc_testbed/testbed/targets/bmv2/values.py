# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Conversion between the words of a command and BMv2's field values, which are big-endian bytes."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from sfc_testbed.testbed.control_plane.entries import Value
from sfc_testbed.testbed.program.declared import Action, Key, number
from sfc_testbed.testbed.targets.bmv2.thrift import interface
from softswitch.control import CommandError

_MAC_BITS = 48
_IP_BITS = 32


def encoded(word: Value, bits: int) -> bytes:
    """Return the bytes of a field that is `bits` wide."""
    return number(word, bits).to_bytes(byte_count(bits), "big")


def byte_count(bits: int) -> int:
    return (bits + 7) // 8


def parameters(words: Sequence[Value], widths: Sequence[int]) -> list[bytes]:
    """Return the action data for parameters of these widths in bits."""
    return [encoded(word, bits) for word, bits in zip(words, widths, strict=True)]


def field_text(raw: bytes, bits: int, *, is_address: bool = False) -> str:
    """Return the bytes of a field as a word that `number` reads again."""
    value = int.from_bytes(raw, "big")
    if bits == _MAC_BITS:
        return value.to_bytes(byte_count(bits), "big").hex(":")
    return str(IPv4Address(value)) if is_address else str(value)


def match_text(match: Any, key: Key) -> str:
    """Return one key of an entry as a word that `match_parameter` reads again."""
    if match.lpm is not None:
        return f"{field_text(match.lpm.key, key.bits, is_address=key.bits == _IP_BITS)}/{match.lpm.prefix_bits}"
    if match.ternary is not None:
        return f"{field_text(match.ternary.key, key.bits)}&&&{field_text(match.ternary.mask, key.bits)}"
    if match.range is not None:
        return f"{field_text(match.range.low, key.bits)}->{field_text(match.range.high, key.bits)}"
    return field_text(match.exact.key, key.bits)


def action_text(action: Action, data: Sequence[bytes]) -> str:
    """Return an action and its parameters as text."""
    words = [field_text(raw, bits) for raw, bits in zip(data, action.parameter_bits, strict=True)]
    return " ".join([action.name, *words])


def match_parameter(word: Value, key: Key) -> Any:
    """Return the match of one key, from a value or the text `V`, `V/LENGTH`, `V&&&MASK` or `LOW->HIGH`.

    The text `*` matches everything.
    """
    if key.match_type == "lpm":
        return _lpm(word, key.bits)
    if key.match_type in ("ternary", "optional"):
        return _ternary(str(word), key)
    if key.match_type == "range":
        return _range(str(word), key.bits)
    return _match("EXACT", exact=interface().Exact(encoded(word, key.bits)))


def _lpm(word: Value, bits: int) -> Any:
    if isinstance(word, IPv4Network):
        return _match("LPM", lpm=interface().Lpm(encoded(word, bits), word.prefixlen))
    word = str(word)
    prefix, slash, length = word.partition("/")
    if not slash or not length.isdecimal() or int(length) > bits:
        raise CommandError(f"{word!r} is not VALUE/LENGTH with a length up to {bits}")
    return _match("LPM", lpm=interface().Lpm(encoded(prefix, bits), int(length)))


def _ternary(word: str, key: Key) -> Any:
    value, ands, mask = ("0", "&&&", "0") if word == "*" else word.partition("&&&")
    if not ands:
        if key.match_type != "optional":
            raise CommandError(f"{word!r} is not VALUE&&&MASK")
        mask = str((1 << key.bits) - 1)
    content = number(value, key.bits) & number(mask, key.bits)
    return _match("TERNARY", ternary=interface().Ternary(encoded(str(content), key.bits), encoded(mask, key.bits)))


def _range(word: str, bits: int) -> Any:
    low, arrow, high = ("0", "->", str((1 << bits) - 1)) if word == "*" else word.partition("->")
    if not arrow:
        raise CommandError(f"{word!r} is not LOW->HIGH")
    return _match("RANGE", range=interface().Range(encoded(low, bits), encoded(high, bits)))


def _match(kind: str, **field: Any) -> Any:
    return interface().Match(type=getattr(interface().MatchType, kind), **field)
