# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a Mininet script asks of a link, in softswitch's units. Knows the words of Mininet's TCLink, not Mininet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_BITS_PER_MEGABIT = 1_000_000
_NS_OF = {"": 1_000, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "ns": 1}
"""A number without a unit is microseconds, as for `tc`."""
_DELAY = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(|s|ms|us|ns)(?:ecs?)?")
_NOT_MODELLED = ("jitter", "loss", "max_queue_size")


def rate_bps(link: Mapping[str, Any]) -> int | None:
    """Of a link with `bw`, which is in Mb/s. ValueError for what is no rate."""
    wished = link.get("bw")
    if wished is None:
        return None
    rate = round(float(wished) * _BITS_PER_MEGABIT)
    if rate <= 0:
        raise ValueError(f"bw={wished} is not a rate in Mb/s")
    return rate


def delay_ns(link: Mapping[str, Any]) -> int | None:
    """Of a link with `delay`, such as "5ms". ValueError for what is no delay."""
    wished = link.get("delay")
    if wished is None:
        return None
    found = _DELAY.fullmatch(str(wished).strip())
    if found is None:
        raise ValueError(f"delay={wished} is not a time such as '5ms'")
    return round(float(found[1]) * _NS_OF[found[2]])


def not_modelled(link: Mapping[str, Any]) -> list[str]:
    """What is asked of a link and not done by the switch."""
    return [f"{name}={link[name]}" for name in _NOT_MODELLED if link.get(name)]
