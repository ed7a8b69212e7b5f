# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of commands on ports, replication, limits and the target itself."""

import json

import pytest

from softswitch.engine import CommandError, SwitchEngine
from tests.softswitch.programs.steered import steer


@pytest.mark.parametrize("line", ["", "   ", "\t", "# table_add what ever", "#", "  # indented"])
def test_comments_and_blank_lines_do_nothing(engine: SwitchEngine, line: str) -> None:
    assert engine.command(line) == ""


def test_ports_are_shown_with_their_wires(engine: SwitchEngine) -> None:
    engine.command("port_rate 3 10000000")
    engine.command("port_delay 3 1000000")
    engine.command("port_ingress_delay 3 5")
    engine.command("port_mac_control 3 off")
    header, row = engine.command("show_ports").splitlines()
    assert header.split() == ["port", "interface", "rate_bps", "delay_ns", "ingress_delay_ns", "mac_control"]
    assert row.split() == ["3", "memory", "10000000", "1000000", "5", "off"]


def test_mirroring_sessions_are_added_replaced_and_deleted(engine: SwitchEngine) -> None:
    engine.command("mirroring_add 100 7")
    assert engine.command("mirroring_get 100") == "port=7"
    engine.command("mirroring_add_mc 100 8")
    assert engine.command("mirroring_get 100") == "mgid=8"
    engine.command("mirroring_add_port_and_mgrp 100 7 8")
    engine.command("mirroring_delay 100 5")
    assert engine.command("mirroring_get 100") == "port=7 mgid=8 delay_ns=5"
    engine.command("mirroring_delete 100")
    with pytest.raises(CommandError):
        engine.command("mirroring_get 100")


def test_multicast_tree_is_built_and_taken_down(engine: SwitchEngine) -> None:
    """Arguments of groups, nodes and LAGs are in BMv2's order; a freed handle is used again."""
    engine.command("mc_mgrp_create 1")
    assert engine.command("mc_node_create 10 1 2 | 4") == "node was created with handle 0"
    assert engine.command("mc_node_create 20 3") == "node was created with handle 1"
    engine.command("mc_node_associate 1 1")
    engine.command("mc_node_associate 1 0")
    engine.command("mc_set_lag_membership 4 5 6")
    assert engine.command("mc_dump").splitlines() == [
        "mgrp(1) -> (L1h=1, rid=20) -> (ports=[3], lags=[])",
        "mgrp(1) -> (L1h=0, rid=10) -> (ports=[1, 2], lags=[4])",
        "lag(4) -> ports=[5, 6]",
    ]
    with pytest.raises(CommandError, match="in use"):
        engine.command("mc_node_associate 1 0")
    engine.command("mc_node_update 0 9")
    engine.command("mc_node_dissociate 1 1")
    engine.command("mc_node_destroy 1")
    assert engine.command("mc_dump").splitlines()[0] == "mgrp(1) -> (L1h=0, rid=10) -> (ports=[9], lags=[])"
    engine.command("mc_mgrp_destroy 1")
    engine.command("mc_set_lag_membership 4")
    assert engine.command("mc_dump") == "(L1h=0, rid=10) -> (ports=[9], lags=[])"  # a node that no group leads to
    assert engine.command("mc_node_create 30 3") == "node was created with handle 1"


def test_time_counts_microseconds(engine: SwitchEngine) -> None:
    engine.advance(5_999)
    assert engine.command("get_time_elapsed") == "5"


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
