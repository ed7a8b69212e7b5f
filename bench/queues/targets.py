# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The switches that are compared, and the place in which each gets the rate of the bottleneck."""

from __future__ import annotations

from dataclasses import dataclass

from softswitch.child import COMMAND


class StartError(Exception):
    """A switch does not start; the message is one line."""


@dataclass(frozen=True)
class Target:
    """A switch, and the place in which the bottleneck gets its rate."""

    name: str
    label: str
    is_bmv2: bool
    has_packet_rate: bool = False
    """Whether the switch's queue has the rate, in packets/s. Otherwise a TCLink has it, in bits/s."""

    def executable(self, bmv2: str) -> list[str]:
        """Return the command of the switch; `bmv2` is the path of BMv2's simple_switch."""
        return [bmv2] if self.is_bmv2 else [*COMMAND]


SOFTSWITCH = Target("softswitch", "softswitch", is_bmv2=False)
BMV2_QUEUE = Target("bmv2-queue", "BMv2, set_queue_rate", is_bmv2=True, has_packet_rate=True)
BMV2_TCLINK = Target("bmv2-tclink", "BMv2, TCLink", is_bmv2=True)
TARGETS = (SOFTSWITCH, BMV2_QUEUE, BMV2_TCLINK)
