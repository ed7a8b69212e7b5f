# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Conversion of words in control commands to numbers: decimal, hexadecimal, MAC and IP addresses."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from softswitch.control import CommandError

_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")


def number(word: str, bits: int) -> int:
    """Convert a decimal or hexadecimal number, a MAC or an IP address, and check that it fits the field."""
    if _MAC.fullmatch(word):
        value = int(word.replace(":", ""), 16)
    elif ":" in word or word.count(".") == 3:
        try:
            value = int(IPv6Address(word) if ":" in word else IPv4Address(word))
        except AddressValueError as error:
            raise CommandError(f"{word!r} is not an address: {error}") from None
    else:
        try:
            value = int(word, 0)
        except ValueError:
            raise CommandError(f"{word!r} is not a number") from None
    if not 0 <= value < 1 << bits:
        raise CommandError(f"{word!r} does not fit {bits} bits")
    return value
