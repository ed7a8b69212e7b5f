# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Effects of Backpressure Flow Control on whole networks in virtual time."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.results.result import counted
from testbed.execution.execute import StoredRun, execute
from testbed.recording.outcome import Silent
from tests.testbed.incasts import plan_incast
from tests.testbed.virtual.test_mechanisms import NETWORK, _victim_slowdown, _with_victims


def _run(folder: Path, queues: int) -> StoredRun:
    """Run a 24:1 incast beside flows that share only uplinks with it, in a buffer of 4 MB."""
    plan = plan_incast("bfc", *NETWORK, f"switch.bfc_queues={queues}")
    return execute(_with_victims(plan), folder, Silent())


@pytest.mark.parametrize("queues", [32, 4])
def test_nothing_is_lost_and_only_flows_that_share_a_queue_are_late(tmp_path: Path, queues: int) -> None:
    run = _run(tmp_path, queues)
    result = run.result
    bfc = counted(result.bfc)
    print(queues, result.bfc, _victim_slowdown(run), result.buffer_bytes)
    assert result.verdict == "faithful"
