# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the table of a flow's events on a terminal."""

from __future__ import annotations

import pytest

from analysis.life.events import LifeEvent
from analysis.report.life import life_table
from analysis.results.result import read_result
from tests.analysis.conftest import FolderMaker
from tests.analysis.terminal.narrow import lost

FLOW = {
    "flow_id": 3,
    "tag": "incast",
    "src": "h1",
    "dst": "h4",
    "size_bytes": 9000,
    "fct_us": 89.0,
    "slowdown": 10.0,
    "packets_sent": 12,
    "packets_resent": 3,
    "paused_us": 40.0,
}


@pytest.mark.parametrize("width", [80, 60])
def test_no_word_is_lost_on_a_narrow_terminal(make_run_folder: FolderMaker, width: int) -> None:
    """Sentences take the remaining width."""
    detail = "for 12.5 us, 310 KB in the queue, Q_th is 250 KB; the older end, 96.00, no longer holds"
    events = [LifeEvent(12_345.67, "tor2", "BTS", detail), LifeEvent(12_348.67, "h1", "paused", "until 12,361.17")]
    assert lost(life_table(read_result(make_run_folder("sfc")), FLOW, events), width) == []
