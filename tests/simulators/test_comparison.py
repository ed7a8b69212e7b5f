# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the comparison of our queues with the queues of another simulator."""

from __future__ import annotations

import pytest

from sfc_testbed.simulators.comparison import PeerFlow, PeerQueues, compare_with_peer
from tests.analysis.validation.small import SMALL_FLOWS, SMALL_QUEUES, small_run


def test_mean_queue_covers_the_time_before_the_first_sample_and_after_the_last() -> None:
    """Flows last from 4 to 36 us, and samples from 5 to 30 us, so that both means are divided by 32 us."""
    queue = {**SMALL_QUEUES[0], "port": 1, "class": 0}
    flow = {**SMALL_FLOWS[0], "start_us": 4.0, "finish_us": 36.0, "fct_us": 32.0}
    run = small_run(flows=[flow], queues=[*SMALL_QUEUES, queue])
    flows = [PeerFlow(src=0, dst=1, size_bytes=1000, start_ns=4_000, fct_ns=32_000)]
    compared = compare_with_peer(run, "small", flows, PeerQueues(peak_bytes=9000, byte_ns=6.4e6), peer="peer")
    assert compared.mean_queued_bytes is not None
    # tor1: 9,000 B for 5 us, 100 B for 10 us, 300 B for 10 us; tor2: 40 B for 10 us.
    assert compared.mean_queued_bytes.ours == pytest.approx((45_000 + 1_000 + 3_000 + 400) / 32)
    assert compared.mean_queued_bytes.peer == pytest.approx(200)
