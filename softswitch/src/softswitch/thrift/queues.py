# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Calls on the depth and rate of queues. Methods have the names of the calls and return BMv2's 0 for success.

As in BMv2 a depth counts packets, and with a rate each packet takes the same time whatever its size. The priorities of
a port share its rate, so `set_egress_priority_queue_rate` is refused.
"""

from __future__ import annotations

from softswitch.control import Commands
from softswitch.thrift.refusals import UNDECLARED, ask


class Queues:
    """The queues of one switch."""

    def __init__(self, control: Commands) -> None:
        self._control = control

    def set_all_egress_queue_depths(self, packets: int) -> int:
        return self._run("set_queue_depth", packets)

    def set_egress_queue_depth(self, port: int, packets: int) -> int:
        return self._run("set_queue_depth", packets, port)

    def set_egress_priority_queue_depth(self, port: int, priority: int, packets: int) -> int:
        return self._run("set_queue_depth", packets, port, priority)

    def set_all_egress_queue_rates(self, packets_per_s: int) -> int:
        return self._run("set_queue_rate", packets_per_s)

    def set_egress_queue_rate(self, port: int, packets_per_s: int) -> int:
        return self._run("set_queue_rate", packets_per_s, port)

    def _run(self, command: str, *numbers: int) -> int:
        ask(self._control, [command, *map(str, numbers)], UNDECLARED)
        return 0
