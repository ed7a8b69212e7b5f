# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Scenario of the experiment `ai-fabric`: two all-to-alls at 400 Gb/s in a fabric with as many uplinks as hosts."""

from __future__ import annotations

from sfc_testbed.scenarios.model.scenario import Scale, Scenario
from sfc_testbed.scenarios.paper.data_centre import (
    PAPER_BUFFER_BYTES,
    PAPER_DEGREE,
    PAPER_INCAST_BYTES,
    SMALL_SCALE_PAYLOAD_BYTES,
)
from sfc_testbed.scenarios.traffic.collective import CollectiveJobs

_RATE_BPS = 400_000_000_000
_TIMES_AS_FAST = 4
"""The rate divided by the rate of the paper's hosts. Buffers and incast messages are as many times as large."""
INCAST_BYTES = _TIMES_AS_FAST * PAPER_INCAST_BYTES
"""Two BDP, as in the paper: whole messages of one BDP leave their hosts before a pause can arrive."""
_JOBS = 2
_MESSAGE_BYTES = 1_500_000
"""Three BDP, because REPS explores paths with the first BDP of a message."""


def _scale(width: int, duration_ms: float) -> Scale:
    """Return a scale with `width` ToRs, hosts under each ToR, and spines. Two jobs, each on half of every rack's hosts.

    A buffer holds the bytes of an incast from all other hosts, as it does in the paper.
    """
    hosts = width * width
    ranks = hosts // _JOBS
    return Scale(
        "clos",
        {"tors": width, "hosts_per_tor": width, "spines": width, "host_rate_bps": _RATE_BPS},
        {"collective": "all-to-all", "jobs": _JOBS, "ranks": ranks, "bytes": ranks * _MESSAGE_BYTES},
        duration_ms=duration_ms,
        switch={"buffer_bytes": _TIMES_AS_FAST * PAPER_BUFFER_BYTES * (hosts - 1) // PAPER_DEGREE},
        transport={"payload_bytes": SMALL_SCALE_PAYLOAD_BYTES},
    )


SCENARIO = Scenario(
    name="ai-fabric",
    summary="two jobs with an all-to-all at 400 Gb/s: load balancing, flow control, slow and failed links",
    workload=CollectiveJobs,
    scales={"ci": _scale(4, 20), "laptop": _scale(6, 50), "paper": _scale(8, 100)},
)
