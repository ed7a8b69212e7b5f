# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Effects of Backpressure Flow Control on a whole network in virtual time."""

from __future__ import annotations

from pathlib import Path

from sfc_testbed.analysis.results.result import counted
from tests.testbed.incasts import run_incast


def test_pauses_reach_the_senders_and_nothing_is_lost(tmp_path: Path) -> None:
    """Two queues are fewer than the flows of an incast, so flows share queues; 128 queues are enough."""
    few, many = (run_incast(tmp_path, "bfc", f"switch.bfc_queues={queues}").result for queues in (2, 128))
    for result in (few, many):
        bfc = counted(result.bfc)
        assert result.verdict == "faithful"
        assert result.drops == {}
        assert result.flows.completed == result.flows.total
        assert result.flows.packets_resent == 0
        assert 0 < bfc.pauses < bfc.sent
        assert bfc.dequeue_signals >= 3 * sum(figures.max > 0 for figures in result.buffer_bytes.values())
        assert 0 < bfc.max_signals <= bfc.dequeue_signals
        assert bfc.signal_gbps > 0
    assert counted(few.bfc).collisions > counted(many.bfc).collisions == 0
