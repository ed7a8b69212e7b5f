# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of commands on ports, replication, limits and the target itself."""

import json

import pytest

from softswitch.engine import SwitchEngine
from softswitch_tests.programs.steered import steer


@pytest.mark.parametrize(
    "line", ["", "   ", "\t", "\r", "# table_add what ever", "#", "  # indented", "// as in p4-utils", "//"]
)
def test_comments_and_blank_lines_do_nothing(engine: SwitchEngine, line: str) -> None:
    assert engine.command(line) == ""


@pytest.mark.parametrize("end", [" # none yet", " // none yet", "\t#none yet", "\r", " // none\r"])
def test_a_comment_ends_a_command(engine: SwitchEngine, end: str) -> None:
    assert engine.command("table_num_entries routes" + end) == "0"


def test_ports_are_shown_with_their_wires(engine: SwitchEngine) -> None:
    engine.command("port_rate 3 10000000")
    engine.command("port_delay 3 1000000")
    engine.command("port_ingress_delay 3 5")
    engine.command("port_mac_control 3 off")
    header, row = engine.command("show_ports").splitlines()
    assert header.split() == ["port", "interface", "rate_bps", "delay_ns", "ingress_delay_ns", "mac_control"]
    assert row.split() == ["3", "memory", "10000000", "1000000", "5", "off"]


def test_statistics_are_one_line_of_json(engine: SwitchEngine) -> None:
    engine.step(1, steer(2, 100), 0)
    text = engine.command("statistics")
    assert "\n" not in text
    assert json.loads(text) == engine.statistics()
    assert engine.statistics()["ports"]["2"]["tx_bytes"] == 100


def test_help_lists_all_commands(engine: SwitchEngine) -> None:
    listed = {line.split()[0] for line in engine.command("help").splitlines()}
    assert {"table_add", "mirroring_add", "port_rate", "statistics", "mc_node_create"} <= listed
    assert engine.command("help port_delay") == "port_delay PORT NS"
