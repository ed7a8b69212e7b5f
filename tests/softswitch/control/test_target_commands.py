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


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("frobnicate 1", "no such command"),
        ("port_rate 510 1000", "'510' is above 509"),
        ("port_rate one 1000", "port 'one' is not a number"),
        ("port_rate 1 fast", "rate 'fast' is not a number"),
        ("port_rate 1", "too few"),
        ("port_delay 1 -5", "delay '-5' is not a number"),
        ("port_mac_control 1 maybe", "'maybe'"),
        ("memory_limit lots", "limit 'lots' is not a number"),
        ("set_queue_rate 100 1", "port_rate"),
        ("set_queue_depth 100", "memory_limit"),
        ("mirroring_add 32768 1", "session '32768' is above 32767"),
        ("mirroring_add 1 511", "port '511' is above 510"),
        ("mirroring_get 5", "session '5' does not exist"),
        ("mirroring_delete 5", "does not exist"),
        ("mc_mgrp_create 65536", "group '65536' is above 65535"),
        ("mc_mgrp_destroy 5", "does not exist"),
        ("mc_node_create 1 2 2", "port '2' is given twice"),
        ("mc_node_create 1 511", "port '511' is above 510"),
        ("mc_node_create 1 2 | 256", "LAG '256' is above 255"),
        ("mc_node_associate 5 0", "does not exist"),
        ("mc_node_destroy 5", "does not exist"),
        ("help frobnicate", "'frobnicate'"),
    ],
)
def test_bad_line_is_refused_and_names_the_wrong_word(engine: SwitchEngine, line: str, wrong: str) -> None:
    with pytest.raises(CommandError) as refusal:
        engine.command(line)
    assert str(refusal.value).startswith(line.split()[0] + ": ")
    assert wrong in str(refusal.value)


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
