# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The expected processor time and memory of a run, from its plan. `testbed.jobs.time_left` corrects the time later.

The costs were measured at 512 hosts (docs/performance.md). Between schemes and networks they differ by about a third.
"""

from __future__ import annotations

from dataclasses import dataclass

from testbed.plan.plan import RunPlan
from testbed.virtual.work import planned_packets

_START_S = 1.5
_PACKET_S = 8e-6
_MESSAGE_S = 30e-6
_START_BYTES = 350_000_000
_MESSAGE_BYTES = 500


@dataclass(frozen=True)
class Effort:
    """The expected cost of a job."""

    seconds: float
    """Processor time of a virtual run, wall time of a live run."""
    memory_bytes: int
    packets: int


def effort_of(plan: RunPlan, times: float = 1.0) -> Effort:
    """Return the effort of a virtual run with a multiple of the traffic of a plan."""
    messages, packets = times * len(plan.flows), times * planned_packets(plan)
    return Effort(
        seconds=_START_S + _MESSAGE_S * messages + _PACKET_S * packets,
        memory_bytes=round(_START_BYTES + _MESSAGE_BYTES * messages),
        packets=round(packets),
    )
