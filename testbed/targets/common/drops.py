# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a target does to frames by itself, outside the P4 program: it belongs into a run's balance as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

DOWN = "link_down"
"""Lost on a link that was down."""
RECEIVE_RING = "receive_ring"
"""A frame found the ring of a node that stood still full."""

_COUNTED_BY_PROGRAM = ("ingress", "egress")
_OUR_NAMES = {"link_udp_loss": "link_bts_loss"}
"""softswitch knows ports and no signals."""


def target_only_drops(statistics: Mapping[str, Any]) -> Counter[str]:
    """Drops that the target made by itself; what the program drops, the program has counted with a reason."""
    drops: Mapping[str, int] = statistics["drops"]
    own = {name: count for name, count in drops.items() if count and name not in _COUNTED_BY_PROGRAM}
    return Counter({_OUR_NAMES.get(name, name): count for name, count in own.items()})


def absorbed_frames(statistics: Mapping[str, Any]) -> int:
    """MAC control frames that ended in the target's MACs, as they should."""
    return int(statistics["pause_frames"] + statistics["mac_control_ignored"])
