# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that a new P4 counter needs only two edits: a line of P4 that counts, and a row in wire/counters.py."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.switch_bmv2.program.recompile import needs_p4c
from tools.compile_p4 import ROOT

EDITS = {
    "wire/counters.py": (
        "class QueueEvent(CounterEvent):",
        'class QueueEvent(CounterEvent):\n    JOINED = 2, Role.NEUTRAL, "a packet joined a queue"',
    ),
    "switch-bmv2/include/control/queue/queue_state.p4": (
        "        join();",
        "        join();\n        queue_events.count((bit<32>) (bit<EVENT_BITS>) queue_event_t.joined);",
    ),
}
USE = """
from tests.switch_bmv2.bench_switch import bench_switch
from topologies.settings import SwitchSettings
from topologies.shapes import shape
with bench_switch(shape("star", {"hosts": 2}).build(), "s1", SwitchSettings()) as switch:
    for qpn in range(1, 4):
        switch.send(switch.data("h1", "h2", qpn=qpn), 1, 0)
    print(switch.counts().other_events)
"""


@needs_p4c
def test_a_new_counter_takes_two_edits(tmp_path: Path) -> None:
    """`make p4` adds the declaration and the row of the document, and the testbed reads the counter unchanged."""
    tree = tmp_path / "tree"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "runs", "__pycache__", "images"))
    for file, (old, new) in EDITS.items():
        text = (tree / file).read_text()
        assert text.count(old) == 1
        (tree / file).write_text(text.replace(old, new))
    subprocess.run([sys.executable, "-m", "tools.compile_p4"], cwd=tree, check=True)
    assert (
        "| `queue_events` | 2 | `joined` | a packet joined a queue |" in (tree / "docs" / "data-plane.md").read_text()
    )
    output = subprocess.run([sys.executable, "-c", USE], cwd=tree, check=True, capture_output=True, text=True)
    assert output.stdout == "{'joined': 3}\n"
