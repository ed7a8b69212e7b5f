# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that events are counted by name: no index of a counter is computed from causes or the order of events."""

from __future__ import annotations

import re
from pathlib import Path

from sfc_testbed.place import ROOT
from sfc_testbed.testbed.program.sources import SOURCES
from tests.switch_bmv2.bench_switch import STAR, bench_switch
from tests.switch_bmv2.bts.test_bts import _settings
from tests.switch_bmv2.program.recompile import needs_p4c, recompiled

CONTROLS = sorted((ROOT / SOURCES / "include" / "control").rglob("*.p4"))
COUNTED = re.compile(r"\.count\((.*)\);")
BY_NAME = re.compile(r"\(bit<32>\) (\(port \+\+ )?\(bit<EVENT_BITS>\) (\w+_event_t\.)?\w+\)?")


def test_an_index_is_an_event_and_nothing_else() -> None:
    """The argument of every count is an event's name or a parameter of an event type."""
    indexes = [index for path in CONTROLS for index in COUNTED.findall(path.read_text())]
    assert indexes
    assert [index for index in indexes if not BY_NAME.fullmatch(index)] == []


@needs_p4c
def test_events_keep_their_meaning_when_their_numbers_change(tmp_path: Path) -> None:
    """The program is compiled with `sent_queue` moved to cell 14 and `suppressed_queue` to cell 13."""
    changes = (("sent_queue = 0", "sent_queue = 14"), ("suppressed_queue = 3", "suppressed_queue = 13"))
    library = recompiled(tmp_path, "include/counters.p4", *changes)
    with bench_switch(STAR, "s1", _settings(), library=library) as switch:
        switch.burst("h1", "h4", 5, first_qpn=100)
        for _ in range(3):
            switch.send(switch.data("h2", "h4", qpn=7), 2, 0)
        assert [switch.counted("bts_events", cell) for cell in (14, 13)] == [1, 2]
        assert not any(switch.counted("bts_events", cell) for cell in range(13))
