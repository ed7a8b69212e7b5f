# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that every command that is a switch passes frames as they were on the wire, with the program of the wires."""

from pathlib import Path

import pytest

from sfc_testbed.place import ROOT
from sfc_testbed.testbed.targets.common.wires import PROGRAM
from softswitch.build import build_executable
from softswitch_tests.marks import needs_namespaces
from softswitch_tests.process.live import live_switch
from softswitch_tests.process.test_live_frames import SOURCE, TAGGED

pytestmark = needs_namespaces()


@pytest.mark.parametrize("command", ["simple_switch", "simple_switch_grpc", "wire between switches"])
def test_tags_of_frames_are_kept(command: str, tmp_path: Path) -> None:
    executable = ROOT / "softswitch" / command
    words = [PROGRAM] if executable.exists() else []
    with live_switch(
        tmp_path, *words, ports=(2, 3), program=executable if words else build_executable(PROGRAM)
    ) as switch:
        two, three = switch.wires(2, 3)
        for source, sink in ((two, three), (three, two)):
            received = {}
            for name, frame in TAGGED.items():
                source.send(frame)
                received[name] = sink.receive_from(SOURCE)
            assert received == TAGGED
