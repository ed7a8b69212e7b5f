# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""MAC and IPv4 addresses: integers inside, text at the edges, bytes on the wire."""

import ipaddress


def parse_mac(text: str) -> int:
    """Return text such as ``"00:00:0a:00:00:01"`` as a 48-bit integer. Raise ValueError for any other text."""
    parts = text.split(":")
    if len(parts) != 6 or any(len(part) != 2 for part in parts):
        raise ValueError(f"not a MAC address: {text!r}")
    return int.from_bytes(bytes(int(part, 16) for part in parts), "big")


def pack_mac(mac: int) -> bytes:
    """Return the six bytes of a MAC address."""
    return mac.to_bytes(6, "big")


def parse_ip(text: str) -> int:
    """Return text such as ``"10.0.0.1"`` as a 32-bit integer. Raise ValueError for any other text."""
    return int(ipaddress.IPv4Address(text))
