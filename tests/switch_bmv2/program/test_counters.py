# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Events are counted by name: no arithmetic on causes or orders stands between an event and its cell."""

from __future__ import annotations

import re
from pathlib import Path

from tests.switch_bmv2.bench_switch import BenchSwitch, bench_switch
from tests.switch_bmv2.bts.test_bts import STAR, _fill, _settings
from tests.switch_bmv2.program.recompile import needs_p4c, recompiled
from tools.compile_p4 import ROOT, SOURCES

CONTROLS = sorted((ROOT / SOURCES / "include" / "control").rglob("*.p4"))
COUNTED = re.compile(r"\.count\((.*)\);")
BY_NAME = re.compile(r"\(bit<32>\) (\(port \+\+ )?\(bit<EVENT_BITS>\) (\w+_event_t\.)?\w+\)?")


def _cell(switch: BenchSwitch, index: int) -> int:
    return int(switch.engine.command(f"counter_read bts_events {index}").split(", ")[1].split()[0])


def test_an_index_is_an_event_and_nothing_else() -> None:
    """Every count names an event, or a parameter that is one."""
    counted = [found for path in CONTROLS for found in COUNTED.findall(path.read_text())]
    assert counted
    assert [each for each in counted if not BY_NAME.fullmatch(each)] == []


@needs_p4c
def test_events_keep_their_meaning_when_their_numbers_change(tmp_path: Path) -> None:
    """With `sent_queue` and `suppressed_queue` moved to 14 and 13, that is where they are counted."""
    changes = (("sent_queue = 0", "sent_queue = 14"), ("suppressed_queue = 3", "suppressed_queue = 13"))
    library = recompiled(tmp_path, "include/counters.p4", *changes)
    with bench_switch(STAR, "s1", _settings(), library=library) as switch:
        _fill(switch, 5)
        for _ in range(3):
            switch.send(switch.data("h2", "h4", qpn=7), 2, 0)
        assert (_cell(switch, 14), _cell(switch, 13)) == (1, 2)
        assert sum(_cell(switch, index) for index in range(13)) == 0
