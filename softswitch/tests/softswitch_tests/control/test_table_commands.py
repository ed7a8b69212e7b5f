# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of commands on tables, action profiles, registers, counters and meters; tests/softswitch/thrift has more."""

import pytest

from softswitch.engine import CommandError, SwitchEngine
from softswitch_tests.pipeline.harness import switch_with

FILTER_KEYS = "00:11:22:33:44:55 2001:db8::1&&&ffff:: 100->200 17"


@pytest.mark.parametrize(
    "line",
    [
        "table_add Main.routes Main.forward 10.0.0.0/8 => 3 00:11:22:33:44:55",
        "table_add routes forward 10.0.0.0/8 => 0x3 0x001122334455",
        "table_add routes drop 0/0 =>",
        "table_add routes forward 167772160/8 => 511 0",
        f"table_add filter drop {FILTER_KEYS} => 10",
        "table_add filter drop 0 0&&&0 0->0xffff _ => 1",
        "table_add filter drop 0 0&&&0 0b0->0o17 0x11&&&0xff => 1",
    ],
)
def test_entry_is_added(engine: SwitchEngine, line: str) -> None:
    """Covers the notations of simple_switch_CLI: decimal, hex, IPv4, IPv6, MAC, lpm, ternary, range, optional."""
    assert engine.command(line) == "Entry has been added with handle 0"
    assert engine.command(f"table_num_entries {line.split()[1]}") == "1"


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("table_add nowhere drop 1 =>", "'nowhere'"),
        ("table_add routes teleport 10.0.0.0/8 =>", "'teleport'"),
        ("table_add routes forward 10.0.0.0/8 => 3", "2 parameters, not 1"),
        ("table_add routes forward 10.0.0.0/8 3 4", "'=>'"),
        ("table_add routes drop 10.0.0.0 =>", "'10.0.0.0' lacks '/'"),
        ("table_add routes drop 10.0.0.0/33 =>", "'33' is above 32"),
        ("table_add routes drop 10.0.0.256/8 =>", "'10.0.0.256' is not an IPv4 address"),
        ("table_add routes drop 10.0.0.0/8 1.1.1.1/8 =>", "1 keys, not 2"),
        ("table_add routes forward 10.0.0.0/8 => 512 0", "'512' does not fit in 9 bits"),
        ("table_add routes forward 10.0.0.0/8 => -1 0", "'-1' is not a number"),
        ("table_add routes forward 10.0.0.0/8 => 1 00:11:22:33:44", "'00:11:22:33:44' is not a MAC address"),
        ("table_add routes forward 10.0.0.0/8 => 1 0x1000000000000", "does not fit in 48 bits"),
        ("table_add filter drop 0 1:2&&&0 0->1 1 => 1", "'1:2' is not an IPv6 address"),
        ("table_add filter drop 0 0 0->1 1 => 1", "'0' lacks '&&&'"),
        ("table_add filter drop 0 0&&&0 5 1 => 1", "'5' lacks '->'"),
        ("table_add filter drop 0 0&&&0 5->4 1 => 1", "'5->4'"),
        ("table_add filter drop 0 0&&&0 0->1 1 =>", "priority"),
        ("table_add filter drop 0 0&&&0 0->1 1 => high", "priority 'high'"),
        ("table_add routes drop", "there is no '=>' after the keys; type VALUE/LENGTH (ipv4.destination) => ..."),
        ("table_add routes forward => 3 4", "1 keys, not 0; type VALUE/LENGTH (ipv4.destination) => ..."),
        ("table_add routes forward 10.0.0.0/8 => 3", "2 parameters, not 1: port address"),
        ("table_add filter drop 0 => 1", "VALUE&&&MASK"),
        ("table_add filter drop 0 0&&&0 0->1 1", "FIRST->LAST"),
        ("table_add filter drop 0 0&&&0 0->1 1 =>", "=> ... PRIORITY"),
        ("table_add filter drop 0 0&&&0 0->1 1 => 3 4", "0 parameters, not 1; the last word is the priority"),
        ("table_add select drop 1 =>", "table_indirect"),
        ("table_modify routes drop 7", "does not exist"),
        ("table_delete routes 7", "does not exist"),
        ("table_delete routes seven", "handle 'seven'"),
        ("table_set_default routes forward 1", "2 parameters, not 1"),
        ("table_add routes", "too few"),
        ("table_clear routes now", "too many"),
        ("register_read depth 0", "more than one register 'depth'"),
        ("register_read state 8", "index '8' is outside Main.state, which has 8"),
        ("register_write state 0 0x1000000000000", "does not fit in 48 bits"),
        ("counter_read hits 4", "index '4'"),
        ("counter_read nothing 4", "no counter 'nothing'"),
        ("meter_set_rates limit 0 1:2", "2 rates, not 1"),
        ("meter_set_rates limit 0 1:2 fast", "'fast' is not RATE:BURST"),
        ("act_prof_create_member spread teleport", "'teleport'"),
        ("act_prof_add_member_to_group spread 0 0", "does not exist"),
        ("table_indirect_add select 1 => 9", "no member '9'"),
        ("table_indirect_add_with_group select 1 => 9", "no group '9'"),
        ("table_indirect_add routes 10.0.0.0/8 => 0", "no action profile"),
        ("frobnicate 1", "no such command"),
        ("port_rate 510 1000", "port '510' has no interface"),
        ("port_rate 512 1000", "'512' is above 511"),
        ("port_rate one 1000", "port 'one' is not a number"),
        ("port_rate 1 fast", "rate 'fast' is not a number"),
        ("port_rate 1", "too few"),
        ("port_delay 1 -5", "delay '-5' is not a number"),
        ("port_mac_control 1 maybe", "'maybe'"),
        ("port_queues 1 3 0 1500", "count '0' is below 1"),
        ("port_queues 1 3 129 1500", "count '129' is above 128"),
        ("port_queues 1 3 many 1500", "count 'many' is not a number"),
        ("port_queues 1 8 2 1500", "priority '8' is above 7"),
        ("port_queues 1 3 2 0", "quantum '0' is below 1"),
        ("memory_limit lots", "limit 'lots' is not a number"),
        ("set_queue_rate 100 1 0", "use set_queue_rate PACKETS_PER_S PORT, or port_rate PORT BITS_PER_S"),
        ("set_queue_rate 1000000001", "rate '1000000001' is above 1000000000"),
        ("set_queue_depth 100 510", "port '510' has no interface"),
        ("set_queue_depth 100 1 8", "priority '8' is above 7"),
        ("set_queue_depth many", "depth 'many' is not a number"),
        ("pvs_add nothing 1", "no parser value set 'nothing', there are: none"),
        ("mirroring_add 1 2 all", "length 'all' is not a number"),
        ("mirroring_add 32768 1", "session '32768' is above 32767"),
        ("mirroring_add 1 512", "port '512' is above 511"),
        ("mirroring_get 5", "session '5' does not exist"),
        ("mirroring_delete 5", "does not exist"),
        ("mc_mgrp_create 65536", "group '65536' is above 65535"),
        ("mc_mgrp_destroy 5", "does not exist"),
        ("mc_node_create 1 2 2", "port '2' is given twice"),
        ("mc_node_create 1 512", "port '512' is above 511"),
        ("mc_node_create 1 2 | 256", "LAG '256' is above 255"),
        ("mc_node_associate 5 0", "does not exist"),
        ("mc_node_destroy 5", "does not exist"),
        ("help frobnicate", "'frobnicate'"),
        ("port_impair 1 out loss", "too few"),
        ("port_impair 510 out loss off", "port '510' has no interface"),
        ("port_impair 1 sideways loss off", "'sideways' is neither 'in' nor 'out'"),
        ("port_impair 1 out theft off", "unknown kind 'theft'; choose from loss, udp_loss"),
        ("port_impair 1 out loss rate_ppb=1000000001", "rate_ppb '1000000001' is above 1000000000"),
        ("port_impair 1 out loss rate_ppb=", "rate_ppb '' is not a number"),
        ("port_impair 1 out loss rate=1", "'rate=1' is not rate_ppb="),
        ("port_impair 1 out loss seed", "'seed' is not rate_ppb="),
        ("port_impair 1 out jitter time_ns=-1", "time_ns '-1' is not a number"),
        ("port_impair 1 out udp_loss udp_port=65536", "udp_port '65536' is above 65535"),
        ("power maybe", "'maybe' is neither 'off' nor 'on'"),
        ("stall perhaps", "'perhaps' is neither 'on' nor 'off'"),
        ("stall on many", "frames 'many' is not a number"),
        ("past 0 register_read times 0", "no life '0' was ended by a power loss"),
        ("past zero", "life 'zero' is not a number"),
    ],
)
def test_bad_line_is_refused_and_changes_nothing(engine: SwitchEngine, line: str, wrong: str) -> None:
    with pytest.raises(CommandError) as refusal:
        engine.command(line)
    text = str(refusal.value)
    assert text.startswith(line.split()[0] + ": ")
    assert wrong in text
    assert "\n" not in text
    assert engine.command("table_num_entries routes") == "0"


def test_dump_shows_entries_in_the_words_of_the_commands(engine: SwitchEngine) -> None:
    engine.command("table_add routes forward 10.0.0.0/8 => 3 0")
    engine.command("table_add routes forward 11.0.0.0/8 => 4 0")
    engine.command("table_modify routes drop 0")
    engine.command("table_delete routes 1")
    engine.command("table_set_default routes forward 7 0")
    assert engine.command("table_dump routes") == "entry 0: 10.0.0.0/8 => Main.drop\ndefault: Main.forward 7 0"
    engine.command("table_clear routes")
    assert engine.command("table_dump routes") == "default: Main.forward 7 0"


def test_registers_hold_values_of_their_width(engine: SwitchEngine) -> None:
    engine.command("register_write Main.state 3 0xffffffffffff")
    assert engine.command("register_read state 3") == "state[3]= 281474976710655"
    engine.command("register_write east.depth 1 7")
    assert engine.command("register_read east.depth") == "east.depth= 0, 7, 0, 0"
    assert engine.command("register_read west.depth") == "west.depth= 0, 0, 0, 0"
    engine.command("register_reset state")
    assert engine.command("register_read state 3") == "state[3]= 0"


def test_program_describes_itself(engine: SwitchEngine) -> None:
    assert "Main.routes" in engine.command("show_tables")
    assert "ipv4.destination(lpm, 32)" in engine.command("table_info routes")
    assert "address(48)" in engine.command("show_actions")


def test_dump_shows_priorities_and_members(engine: SwitchEngine) -> None:
    engine.command(f"table_add filter drop {FILTER_KEYS} => 10")
    engine.command("table_modify filter drop 0")
    assert engine.command("table_dump filter").splitlines()[0] == f"entry 0: {FILTER_KEYS} => Main.drop priority 10"
    assert engine.command("act_prof_dump spread") == ""
    engine.commands(("act_prof_create_member spread forward 1 0", "act_prof_create_member spread drop"))
    engine.commands(("act_prof_create_group spread", "act_prof_create_group spread"))
    engine.command("act_prof_add_member_to_group spread 1 1")
    engine.command("act_prof_modify_member spread forward 1 => 2 0")
    engine.command("act_prof_delete_member spread 0")
    assert engine.command("act_prof_dump spread") == "member 1: Main.forward 2 0\ngroup 0:\ngroup 1: 1"


def test_reset_undoes_commands_on_the_program(engine: SwitchEngine) -> None:
    """Entries, defaults, profiles, registers, counters, meters and multicast are reset; sessions and ports stay."""
    before = {line: engine.command(line) for line in ("table_dump routes", "table_dump select", "act_prof_dump spread")}
    for line in (
        "table_add routes drop 10.0.0.0/8 =>",
        "table_delete routes 0",
        "table_add routes drop 10.0.0.0/8 =>",
        "table_set_default routes forward 7 0",
        "act_prof_create_member spread drop",
        "act_prof_create_group spread",
        "act_prof_add_member_to_group spread 0 0",
        "table_indirect_add_with_group select 5 => 0",
        "table_indirect_set_default select 0",
        "register_write state 3 9",
        "counter_write hits 2 5 640",
        "meter_set_rates limit 3 1:2 3:4",
        "mc_mgrp_create 1",
        "mc_node_create 1 2",
        "mc_set_lag_membership 4 5",
        "mirroring_add 5 2",
        "port_rate 3 1000000",
        "reset_state",
    ):
        engine.command(line)
    assert {line: engine.command(line) for line in before} == before
    assert engine.command("register_read state 3") == "state[3]= 0"
    assert engine.command("counter_read hits 2") == "hits[2]= (0 bytes, 0 packets)"
    assert engine.command("meter_get_rates limit 3") == ""
    assert engine.command("mc_dump") == ""
    assert engine.command("mirroring_get 5") == "port=2"
    assert " 1000000 " in engine.command("show_ports")
    assert engine.command("table_add routes drop 10.0.0.0/8 =>") == "Entry has been added with handle 0"


@pytest.mark.parametrize("line", ["table_add tbl_stateful36 stateful36", "table_add tbl_stateful36 stateful36 =>"])
def test_an_entry_without_a_key_is_refused_with_the_command_for_the_default(line: str) -> None:
    with switch_with("stateful") as switch, pytest.raises(CommandError) as caught:
        switch.command(line)
    assert str(caught.value) == (
        "table_add: table tbl_stateful36 has no keys, so it has no entries; "
        "type table_set_default tbl_stateful36 ACTION PARAMETER..."
    )
