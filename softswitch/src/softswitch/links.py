# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Converts the link parameters of Mininet's TCLink to softswitch's units, without importing Mininet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_BITS_PER_MEGABIT = 1_000_000
_NS_OF = {"": 1_000, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "ns": 1}
"""Nanoseconds by unit. A number without a unit is in microseconds, as for `tc`."""
_DELAY = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(|s|ms|us|ns)(?:ecs?)?")
_NOT_MODELLED = ("jitter", "loss")
DEFAULT_DEPTH_PACKETS = 64
"""The packets that wait in a queue of a link with a rate, as in BMv2."""


def rate_bps(link: Mapping[str, Any]) -> int | None:
    """Return the rate of a link from its `bw` in Mb/s, or None without one. Raise ValueError for an invalid rate."""
    bandwidth = link.get("bw")
    if bandwidth is None:
        return None
    rate = round(float(bandwidth) * _BITS_PER_MEGABIT)
    if rate <= 0:
        raise ValueError(f"bw={bandwidth} is not a rate in Mb/s")
    return rate


def delay_ns(link: Mapping[str, Any]) -> int | None:
    """Return the delay of a link from its `delay`, such as "5ms", or None. Raise ValueError for an invalid delay."""
    delay = link.get("delay")
    if delay is None:
        return None
    match = _DELAY.fullmatch(str(delay).strip())
    if match is None:
        raise ValueError(f"delay={delay} is not a time such as '5ms'")
    return round(float(match[1]) * _NS_OF[match[2]])


def queue_depth(link: Mapping[str, Any]) -> int | None:
    """Return the packets that may wait for a link: its `max_queue_size`, or BMv2's depth if it has a rate, or None.

    Raise ValueError for an invalid depth.
    """
    depth = link.get("max_queue_size")
    if depth is None:
        return None if link.get("bw") is None else DEFAULT_DEPTH_PACKETS
    if int(depth) < 0:
        raise ValueError(f"max_queue_size={depth} is not a number of packets")
    return int(depth)


def unsupported_parameters(link: Mapping[str, Any]) -> list[str]:
    """Return the link parameters that the switch does not implement, as `name=value`."""
    return [f"{name}={link[name]}" for name in _NOT_MODELLED if link.get(name)]
