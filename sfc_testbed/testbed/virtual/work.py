# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The share of a run in virtual time that is done, in data packets. Messages differ too much in size to count them."""

from __future__ import annotations

from sfc_testbed.testbed.plan.plan import RunPlan


class Work:
    """The data packets of a plan. A run also ends with its duration, so the share of that time counts if it is more."""

    def __init__(self, plan: RunPlan) -> None:
        self._packets = max(1, planned_packets(plan))
        self._duration_ns = max(1, plan.duration_wall_ns)

    def share(self, delivered_packets: int, time_ns: int) -> float:
        """Return the share that is done once hosts have received these packets, at a time of the run."""
        return min(1.0, max(delivered_packets / self._packets, time_ns / self._duration_ns))


def planned_packets(plan: RunPlan) -> int:
    """Return the number of data packets of all flows of a plan, without retransmissions."""
    return int((-(-plan.flows.size_bytes // plan.transport.payload_bytes)).sum())
