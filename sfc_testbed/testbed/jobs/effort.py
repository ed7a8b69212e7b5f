# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The expected processor time and memory of a run, from its plan. `testbed.jobs.time_left` corrects the time later.

The costs were measured with hadoop-50 at 512 hosts and with rpc-30, at the speed that the processor had then. Between
schemes and networks they differ by about a third.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache

from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.virtual.work import planned_packets

_START_S = 1.2
_PACKET_S = 7e-6
_MESSAGE_S = 57e-6
_SAMPLE_S = 0.89e-3
"""Processor time of `_sample_work` when the costs above were measured."""
_SAMPLES = 5
_START_BYTES = 350_000_000
_MESSAGE_BYTES = 350
_PAUSED_MESSAGE_BYTES = 3_700
"""Memory of a message with PFC, measured with pfc+timely.

PFC pauses all messages of a host, so that nearly all messages may be open at once.
"""


@dataclass(frozen=True)
class Effort:
    """The expected cost of a job."""

    seconds: float
    """Processor time of a virtual run, wall time of a live run."""
    memory_bytes: int
    packets: int


def effort_of(plan: RunPlan, times: float = 1.0) -> Effort:
    """Return the effort of a virtual run with a multiple of the traffic of a plan."""
    message_bytes = _PAUSED_MESSAGE_BYTES if plan.transport.flow_control == "pfc" else _MESSAGE_BYTES
    messages, packets = times * len(plan.flows), times * planned_packets(plan)
    return Effort(
        seconds=slowness() * (_START_S + _MESSAGE_S * messages + _PACKET_S * packets),
        memory_bytes=round(_START_BYTES + message_bytes * messages),
        packets=round(packets),
    )


@cache
def slowness() -> float:
    """Return how many times as long this processor takes for a small sample of work as when the costs were measured."""
    return min(_sample_work_s() for _ in range(_SAMPLES)) / _SAMPLE_S


def _sample_work_s() -> float:
    """Make ten thousand small objects, as an engine does for its frames, and return the processor time."""
    began_s = time.process_time()
    frames: dict[int, tuple[int, bytes]] = {}
    for number in range(10_000):
        frames[number & 4095] = number, number.to_bytes(8, "big") * 16
    return time.process_time() - began_s
