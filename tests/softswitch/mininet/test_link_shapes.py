# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that a switch behind the name simple_switch has the rates that TCLink gives its interfaces."""

from pathlib import Path

from softswitch.build import build_executable
from softswitch_tests.pipeline.harness import PROGRAMS
from tests.softswitch.mininet.link_scenario import FRAMES
from tests.softswitch.mininet.test_mininet import results_of
from tests.testbed import running

pytestmark = running.NEEDS_MININET
DEPTH = 64


def test_rate_of_tclink_is_the_rate_of_the_port(tmp_path: Path) -> None:
    """A burst meets a queue of 64 packets. A later rate is followed, unless a command has set one."""
    build_executable(PROGRAMS / "mri.json")  # so that the C compiler's time is not part of the scenario
    result = results_of("link_scenario", PROGRAMS / "mri.json", tmp_path, temporary=tmp_path)
    assert result["first"] == ["port 2 (s1-eth2): 400000 bits/s, 0 ns of delay, 64 packets a queue, from tc"]
    assert result["other"] == []
    assert result["depths"] == [0, *reversed(range(DEPTH))]
    assert result["drops"]["queue_full"] == FRAMES - 1 - DEPTH
    assert result["second"] == "port 2 (s1-eth2): 3000000 bits/s, 0 ns of delay, 64 packets a queue, from tc"
    assert result["after_command"] == []
    assert [line.split()[2] for line in result["ports"].splitlines()[1:]] == ["1000000", "5000000"]
