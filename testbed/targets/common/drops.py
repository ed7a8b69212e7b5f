# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Frames that a target drops or consumes outside the P4 program. They belong to a run's packet balance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

DOWN = "link_down"
"""Drop reason: the link was down."""
RECEIVE_RING = "receive_ring"
"""Drop reason: the receive ring of a stopped node was full."""

_COUNTED_BY_PROGRAM = ("ingress", "egress")
_OUR_NAMES = {"link_udp_loss": "link_bts_loss"}
"""softswitch names the loss after UDP ports, the testbed after BTS."""


def target_only_drops(statistics: Mapping[str, Any]) -> Counter[str]:
    """Return the drops by the target itself, by reason. Drops by the P4 program are in the program's counters."""
    drops: Mapping[str, int] = statistics["drops"]
    by_target = {name: count for name, count in drops.items() if count and name not in _COUNTED_BY_PROGRAM}
    return Counter({_OUR_NAMES.get(name, name): count for name, count in by_target.items()})


def absorbed_frames(statistics: Mapping[str, Any]) -> int:
    """Return the number of MAC control frames that the target's MACs consumed, as intended."""
    return int(statistics["pause_frames"] + statistics["mac_control_ignored"])
