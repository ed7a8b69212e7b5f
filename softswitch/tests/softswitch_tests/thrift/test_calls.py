# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the calls of BMv2's clients: their effect on packets, the values read back, and the codes of refusals."""

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from thriftpy2.thrift import TApplicationException

from softswitch.thrift.interface import interface
from softswitch.thrift.refusals import ArrayCode, CalculationCode, MeterCode, MulticastCode, TableCode, ValueSetCode
from softswitch_tests.control.test_crc_commands import FIELDS, hashed
from softswitch_tests.pipeline.harness import PROGRAMS, crc
from softswitch_tests.pipeline.test_hashing import packed
from softswitch_tests.pipeline.test_l3 import ipv4_frame
from softswitch_tests.thrift.conftest import ThriftSwitch

MakeSwitch = Callable[[str], ThriftSwitch]

HOP = bytes([10, 0, 0, 1])


def lpm(address: str, bits: int) -> Any:
    return interface().Match(
        type=interface().MatchType.LPM, lpm=interface().Lpm(bytes(map(int, address.split("."))), bits)
    )


def exact(raw: bytes) -> Any:
    return interface().Match(type=interface().MatchType.EXACT, exact=interface().Exact(raw))


def ternary(raw: bytes, mask: bytes) -> Any:
    return interface().Match(type=interface().MatchType.TERNARY, ternary=interface().Ternary(raw, mask))


def span(low: bytes, high: bytes) -> Any:
    return interface().Match(type=interface().MatchType.RANGE, range=interface().Range(low, high))


def options(priority: int = 0) -> Any:
    return interface().EntryOptions(priority)


def add_route(call: Any, address: str, bits: int, port: int) -> int:
    data = [bytes([0, port]), HOP]
    handle: int = call("bm_mt_add_entry", 0, "In.routes", [lpm(address, bits)], "In.route", data, options())
    return handle


def code_of(call: Any, *words: Any, service: str = "standard") -> int:
    with pytest.raises(interface().Refusal) as refused:
        call(*words, service=service)
    code: int = refused.value.code
    return code


def ports_of(switch: ThriftSwitch, frame: bytes) -> list[int]:
    return [port for port, _, _ in switch.engine.step(1, frame, 0)]


def test_entries_affect_packets(make_switch: MakeSwitch) -> None:
    l3 = make_switch("l3")
    frame = ipv4_frame(0x0A010203)
    l3.call("bm_mt_add_entry", 0, "In.neighbours", [exact(HOP)], "In.rewrite", [bytes(5) + b"\x99"], options())
    wide, narrow = add_route(l3.call, "10.1.0.0", 16, 3), add_route(l3.call, "10.1.2.0", 24, 4)
    assert (wide, narrow) == (0, 1)
    assert ports_of(l3, frame) == [4]
    l3.call("bm_mt_modify_entry", 0, "In.routes", narrow, "In.route", [b"\x00\x05", HOP])
    assert ports_of(l3, frame) == [5]
    l3.call("bm_mt_delete_entry", 0, "In.routes", narrow)
    assert ports_of(l3, frame) == [3]
    assert l3.call("bm_mt_get_num_entries", 0, "In.routes") == 1
    l3.call("bm_mt_clear_entries", 0, "In.neighbours", True)
    assert ports_of(l3, frame) == []
    l3.call("bm_mt_set_default_action", 0, "In.neighbours", "In.rewrite", [bytes(6)])
    assert ports_of(l3, frame) == [3]
    l3.call("bm_mt_reset_default_entry", 0, "In.neighbours")
    assert ports_of(l3, frame) == []


def test_entries_are_read_back(make_switch: MakeSwitch) -> None:
    """Entries of a commands file, in any notation, are included."""
    l3 = make_switch("l3")
    l3.engine.command("table_add routes route 10.1.2.3/16 => 3 10.0.0.1")
    add_route(l3.call, "10.1.2.0", 24, 4)
    first, second = l3.call("bm_mt_get_entries", 0, "In.routes")
    assert (first.handle, first.keys[0].lpm.key, first.keys[0].lpm.prefix_bits) == (0, b"\x0a\x01\0\0", 16)
    assert first.options.priority == -1
    assert (first.action.action, first.action.data) == ("In.route", [b"\x03", HOP])
    assert l3.call("bm_mt_get_entry", 0, "In.routes", 1) == second
    assert l3.call("bm_mt_get_entry_from_key", 0, "In.routes", [lpm("10.1.2.9", 24)], options()) == second
    assert l3.call("bm_mt_get_default_entry", 0, "In.routes").action == "In.drop"
    assert l3.call("bm_mt_get_entry_from_key", 0, "In.routes", [], options()).action.action == "In.drop"
    assert code_of(l3.call, "bm_mt_get_entry", 0, "In.routes", 9) == TableCode.INVALID_HANDLE


def test_every_kind_of_key_is_read_back(make_switch: MakeSwitch) -> None:
    """Const entries of the program are listed with their handles."""
    program = make_switch("matching")
    wide = bytes(15) + b"\x01"
    masked = [ternary(b"\x01\xff", b"\x00\xff"), ternary(wide, wide), ternary(b"\x05", b"\x07")]
    ranged = [span(b"\x00\x01", b"\x01\x00"), exact(b"\x03"), ternary(bytes(6), bytes(6))]
    for table, keys, priority in (("In.masked", masked, 4), ("In.ranged", ranged, 9)):
        program.call("bm_mt_add_entry", 0, table, keys, "In.set", [b"\x00\x2a"], options(priority))
        [entry] = program.call("bm_mt_get_entries", 0, table)
        assert entry.options.priority == priority
        assert program.call("bm_mt_get_entry_from_key", 0, table, keys, options(priority)) == entry
    [entry] = program.call("bm_mt_get_entries", 0, "In.masked")
    assert entry.keys[0].ternary.key == b"\x00\xff"  # without the masked-out bits
    fixed = program.call("bm_mt_get_entries", 0, "In.fixed_entries")
    assert [entry.handle for entry in fixed] == [0, 1, 2, 3]
    assert [entry.action.data for entry in fixed] == [
        [b"\x01"],
        [b"\x02"],
        [b"\x03"],
        [b"\x04"],
    ]  # without leading zeros
    assert code_of(program.call, "bm_mt_delete_entry", 0, "In.fixed_entries", 0) == TableCode.ENTRIES_ARE_CONST
    assert code_of(program.call, "bm_mt_clear_entries", 0, "In.fixed_entries", False) == TableCode.ENTRIES_ARE_CONST


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("In.nothing", [], "In.route", []), TableCode.INVALID_TABLE_NAME),
        (("In.routes\ntable_clear In.routes", [], "In.route", []), TableCode.INVALID_TABLE_NAME),
        (("In.routes", [("10.0.0.0", 8)], "In.rewrite", []), TableCode.INVALID_ACTION_NAME),
        (("In.routes", [("10.0.0.0", 8)], "In.route", [HOP]), TableCode.BAD_ACTION_DATA),
        (("In.routes", [("10.0.0.0", 8)], "In.route", [b"\x02\x00", HOP]), TableCode.BAD_ACTION_DATA),
        (("In.routes", [("10.0.0.0", 33)], "In.drop", []), TableCode.BAD_MATCH_KEY),
        (("In.routes", [("1.10.0.0.0", 8)], "In.drop", []), TableCode.BAD_MATCH_KEY),
        (("In.routes", [], "In.drop", []), TableCode.BAD_MATCH_KEY),
        (("In.routes", [("10.1.0.0", 16)], "In.drop", []), TableCode.DUPLICATE_ENTRY),
    ],
)
def test_invalid_entry_is_refused(make_switch: MakeSwitch, words: tuple[Any, ...], code: TableCode) -> None:
    l3 = make_switch("l3")
    add_route(l3.call, "10.1.0.0", 16, 3)
    table, keys, action, data = words
    matches = [lpm(*key) for key in keys]
    assert code_of(l3.call, "bm_mt_add_entry", 0, table, matches, action, data, options()) == code
    assert len(l3.log) == 1
    assert l3.engine.command("table_num_entries routes") == "1"


def test_full_table_is_refused(make_switch: MakeSwitch) -> None:
    """The program sets the table's size; a reused index has a new handle."""
    l3 = make_switch("l3")
    for number in range(4):
        l3.call("bm_mt_add_entry", 0, "In.neighbours", [exact(bytes([number]))], "In.drop", [], options())
    l3.call("bm_mt_delete_entry", 0, "In.neighbours", 1)
    l3.call("bm_mt_add_entry", 0, "In.neighbours", [exact(b"\x08")], "In.drop", [], options())
    handles = [entry.handle for entry in l3.call("bm_mt_get_entries", 0, "In.neighbours")]
    assert handles == [0, 1 << 24 | 1, 2, 3]
    one_more: tuple[Any, ...] = ([exact(b"\x09")], "In.drop", [], options())
    assert code_of(l3.call, "bm_mt_add_entry", 0, "In.neighbours", *one_more) == TableCode.TABLE_FULL


def test_counters_count_packets(make_switch: MakeSwitch) -> None:
    l3 = make_switch("l3")
    l3.call("bm_mt_set_default_action", 0, "In.neighbours", "In.rewrite", [bytes(6)])
    route = add_route(l3.call, "10.1.0.0", 16, 3)
    frame = ipv4_frame(0x0A010203)
    for _ in range(3):
        ports_of(l3, frame)
    assert l3.call("bm_counter_read", 0, "In.by_port", 1).packets == 3
    assert l3.call("bm_mt_read_counter", 0, "In.routes", route).bytes == 3 * len(frame)
    l3.call("bm_counter_write", 0, "In.by_port", 2, interface().Count(bytes=640, packets=5))
    assert l3.call("bm_counter_read", 0, "In.by_port", 2) == interface().Count(bytes=640, packets=5)
    l3.call("bm_mt_write_counter", 0, "In.routes", route, interface().Count(bytes=64, packets=1))
    assert l3.engine.command("counter_read by_route 0") == "by_route[0]= (64 bytes, 1 packets)"
    l3.call("bm_counter_reset_all", 0, "In.by_port")
    l3.call("bm_mt_reset_counters", 0, "In.routes")
    assert l3.call("bm_counter_read", 0, "In.by_port", 1).packets == 0
    assert l3.call("bm_mt_read_counter", 0, "In.routes", route).packets == 0
    assert code_of(l3.call, "bm_counter_read", 0, "In.by_port", 4) == ArrayCode.INVALID_INDEX
    assert code_of(l3.call, "bm_counter_read", 0, "In.by_route", 0) == ArrayCode.INVALID_NAME
    assert code_of(l3.call, "bm_mt_read_counter", 0, "In.routes", 8) == TableCode.INVALID_HANDLE
    assert code_of(l3.call, "bm_mt_reset_counters", 0, "In.neighbours") == TableCode.COUNTERS_DISABLED


def test_register_values_are_truncated(make_switch: MakeSwitch) -> None:
    """Written values are truncated to the register's width, and reads return the low 64 bits, as in BMv2."""
    program = make_switch("stateful")
    program.call("bm_register_write", 0, "In.times", 3, -1)
    program.call("bm_register_write_range", 0, "In.times", 4, 6, 9)
    values = [0, 0, 0, (1 << 48) - 1, 9, 9, 0, 0]
    assert program.call("bm_register_read_all", 0, "In.times") == values
    assert program.call("bm_register_read", 0, "In.times", 3) == values[3]
    program.engine.command(f"register_write wides 1 {(1 << 130) + (1 << 63) + 5}")
    assert program.call("bm_register_read", 0, "In.wides", 1) == 5 - (1 << 63)
    program.call("bm_register_reset", 0, "In.times")
    assert program.call("bm_register_read_all", 0, "In.times") == [0] * 8
    assert code_of(program.call, "bm_register_read", 0, "In.times", -1) == ArrayCode.INVALID_INDEX
    assert code_of(program.call, "bm_register_write_range", 0, "In.times", 4, 9, 0) == ArrayCode.INVALID_INDEX
    assert code_of(program.call, "bm_register_reset", 0, "In.nothing") == ArrayCode.INVALID_NAME


def test_meters_keep_their_rates(make_switch: MakeSwitch) -> None:
    program = make_switch("stateful")
    rates = [interface().Rate(0.5, 10), interface().Rate(1.5, 20)]
    assert program.call("bm_meter_get_rates", 0, "In.by_index", 2) == []
    program.call("bm_meter_array_set_rates", 0, "In.by_index", rates)
    assert program.call("bm_meter_get_rates", 0, "In.by_index", 2) == rates
    program.call("bm_meter_set_rates", 0, "In.by_index", 2, [rates[0], rates[0]])
    assert program.call("bm_meter_get_rates", 0, "In.by_index", 2) == [rates[0], rates[0]]
    entry = program.call("bm_mt_add_entry", 0, "In.watched", [exact(b"\x02")], "In.watch", [], options())
    program.call("bm_mt_set_meter_rates", 0, "In.watched", entry, rates)
    assert program.call("bm_mt_get_meter_rates", 0, "In.watched", entry) == rates
    for bad, code in (
        (rates[:1], MeterCode.BAD_RATES),
        (rates[::-1], MeterCode.BAD_RATES),
        ([rates[0], interface().Rate(float("inf"), 1)], MeterCode.INVALID_RATE),
        ([rates[0], interface().Rate(1.5, -1)], MeterCode.INVALID_BURST),
    ):
        assert code_of(program.call, "bm_meter_set_rates", 0, "In.by_index", 2, bad) == code


def test_parameters_are_returned_without_leading_zeros(make_switch: MakeSwitch) -> None:
    """BMv2's clients print these bytes: `01` for a port of 9 bits, and `00` for 0."""
    program = make_switch("stateful")
    for port in (0, 1, 255, 256):
        program.call("bm_mt_act_prof_add_member", 0, "In.members", "In.pick", [port.to_bytes(2, "big")])
    listed = program.call("bm_mt_act_prof_get_members", 0, "In.members")
    assert [member.data for member in listed] == [[b"\x00"], [b"\x01"], [b"\xff"], [b"\x01\x00"]]


def test_members_and_groups(make_switch: MakeSwitch) -> None:
    program = make_switch("stateful")
    profile, table = "In.members", "In.spread"
    members = [program.call("bm_mt_act_prof_add_member", 0, profile, "In.pick", [bytes([0, port])]) for port in (2, 3)]
    group = program.call("bm_mt_act_prof_create_group", 0, profile)
    program.call("bm_mt_act_prof_add_member_to_group", 0, profile, members[1], group)
    program.call("bm_mt_act_prof_modify_member", 0, profile, members[1], "In.pick", [b"\x00\x04"])
    one = program.call("bm_mt_indirect_add_entry", 0, table, [exact(b"\x09")], members[0], options())
    two = program.call("bm_mt_indirect_ws_add_entry", 0, table, [exact(b"\x0a")], group, options())
    program.call("bm_mt_indirect_ws_set_default_group", 0, table, group)
    assert [ports_of(program, bytes([which]) + bytes(80)) for which in (9, 10, 11)] == [[2], [4], [4]]
    program.call("bm_mt_indirect_modify_entry", 0, table, two, members[0])
    program.call("bm_mt_indirect_ws_modify_entry", 0, table, one, group)
    assert [ports_of(program, bytes([which]) + bytes(80)) for which in (9, 10)] == [[4], [2]]
    program.call("bm_mt_indirect_modify_entry", 0, table, one, members[0])
    program.call("bm_mt_indirect_ws_modify_entry", 0, table, two, group)
    for method, code in (
        ("bm_mt_indirect_modify_entry", TableCode.INVALID_MEMBER),
        ("bm_mt_indirect_ws_modify_entry", TableCode.INVALID_GROUP),
    ):
        assert code_of(program.call, method, 0, table, one, 99) == code
        assert code_of(program.call, method, 0, table, 99, 0) == TableCode.INVALID_HANDLE
    entries = program.call("bm_mt_get_entries", 0, table)
    assert [(entry.action.member, entry.action.group) for entry in entries] == [(members[0], None), (None, group)]
    assert program.call("bm_mt_get_default_entry", 0, table).group == group
    listed = program.call("bm_mt_act_prof_get_members", 0, profile)
    assert [(member.handle, member.action, member.data) for member in listed] == [
        (0, "In.pick", [b"\x02"]),
        (1, "In.pick", [b"\x04"]),
    ]
    assert program.call("bm_mt_act_prof_get_groups", 0, profile) == [interface().Group(group, [members[1]])]
    refusals: list[tuple[tuple[Any, ...], TableCode]] = [
        (("bm_mt_act_prof_delete_member", members[0]), TableCode.MEMBER_USED),
        (("bm_mt_act_prof_delete_group", group), TableCode.GROUP_USED),
        (("bm_mt_act_prof_add_member_to_group", members[1], group), TableCode.MEMBER_IN_GROUP),
        (("bm_mt_act_prof_add_member_to_group", 7, group), TableCode.INVALID_MEMBER),
        (("bm_mt_act_prof_remove_member_from_group", members[0], group), TableCode.MEMBER_NOT_IN_GROUP),
        (("bm_mt_act_prof_get_group", 5), TableCode.INVALID_GROUP),
    ]
    for words, code in refusals:
        assert code_of(program.call, words[0], 0, profile, *words[1:]) == code
    program.call("bm_mt_indirect_set_default_member", 0, table, members[1])
    for entry in (one, two):
        program.call("bm_mt_indirect_delete_entry", 0, table, entry)
    program.call("bm_mt_act_prof_remove_member_from_group", 0, profile, members[1], group)
    program.call("bm_mt_act_prof_delete_group", 0, profile, group)
    program.call("bm_mt_act_prof_delete_member", 0, profile, members[0])
    assert [member.handle for member in program.call("bm_mt_act_prof_get_members", 0, profile)] == [members[1]]


def test_mirroring_sessions(make_switch: MakeSwitch) -> None:
    call, service = make_switch("l3").call, "simple_switch"
    call("mirroring_session_add", 5, interface().MirroringSession(port=3), service=service)
    assert call("mirroring_session_get", 5, service=service) == interface().MirroringSession(port=3)
    assert call("mirroring_mapping_get_egress_port", 5, service=service) == 3
    call("mirroring_session_add", 5, interface().MirroringSession(group=8), service=service)
    assert call("mirroring_session_get", 5, service=service).group == 8
    assert call("mirroring_mapping_get_egress_port", 5, service=service) == -1
    call("mirroring_session_delete", 5, service=service)
    assert code_of(call, "mirroring_session_get", 5, service=service) == 1
    assert call("mirroring_mapping_add", 6, 2, service=service) == 1
    assert [call("mirroring_mapping_delete", 6, service=service) for _ in range(2)] == [1, 0]
    both = interface().MirroringSession(port=1, group=8)
    call("mirroring_session_add", 5, both, service=service)
    assert call("mirroring_session_get", 5, service=service) == both
    assert call("mirroring_mapping_get_egress_port", 5, service=service) == 1
    assert code_of(call, "mirroring_session_add", 5, interface().MirroringSession(), service=service) == 1


def test_multicast_trees(make_switch: MakeSwitch) -> None:
    """The last digit of a map is number 0."""
    switch = make_switch("l3")

    def call(method: str, *arguments: Any) -> Any:
        return switch.call(method, 0, *arguments, service="simple_pre_lag")

    assert [call("bm_mc_mgrp_create", 3) for _ in range(2)] == [3, 3]
    first, second = call("bm_mc_node_create", 10, "1010", "10"), call("bm_mc_node_create", 20, "", "")
    call("bm_mc_node_associate", 3, first)
    assert code_of(switch.call, "bm_mc_node_associate", 0, 3, first, service="simple_pre_lag") == MulticastCode.ERROR
    call("bm_mc_set_lag_membership", 1, "110000")
    assert switch.engine.command("mc_dump").splitlines() == [
        "mgrp(3) -> (L1h=0, rid=10) -> (ports=[1, 3], lags=[1])",
        "(L1h=1, rid=20) -> (ports=[], lags=[])",
        "lag(1) -> ports=[4, 5]",
    ]
    assert json.loads(call("bm_mc_get_entries")) == {
        "mgrps": [{"id": 3, "l1_handles": [0]}],
        "l1_handles": [{"handle": 0, "rid": 10, "l2_handle": 0}, {"handle": 1, "rid": 20, "l2_handle": 1}],
        "l2_handles": [{"handle": 0, "ports": [1, 3], "lags": [1]}, {"handle": 1, "ports": [], "lags": []}],
        "lags": [{"id": 1, "ports": [4, 5]}],
    }
    call("bm_mc_node_update", second, "1", "")
    call("bm_mc_node_dissociate", 3, first)
    call("bm_mc_node_destroy", first)
    call("bm_mc_mgrp_destroy", 3)
    call("bm_mc_set_lag_membership", 1, "")
    assert switch.engine.command("mc_dump") == "(L1h=1, rid=20) -> (ports=[0], lags=[])"
    assert call("bm_mc_node_create", 30, "", "") == first
    call("bm_mc_node_destroy", first)
    for words, code in (
        (("bm_mc_mgrp_destroy", 3), MulticastCode.INVALID_GROUP),
        (("bm_mc_mgrp_create", 70_000), MulticastCode.INVALID_GROUP_ID),
        (("bm_mc_node_associate", 3, second), MulticastCode.INVALID_GROUP),
        (("bm_mc_node_destroy", 9), MulticastCode.INVALID_NODE),
        (("bm_mc_node_update", 9, "1", ""), MulticastCode.INVALID_NODE),
        (("bm_mc_node_create", 1, "12", ""), MulticastCode.ERROR),
    ):
        assert code_of(switch.call, words[0], 0, *words[1:], service="simple_pre_lag") == code


def test_switch_describes_itself(make_switch: MakeSwitch) -> None:
    l3 = make_switch("l3")
    source = (PROGRAMS / "l3.json").read_bytes()
    assert l3.call("bm_get_config").encode() == source
    assert l3.call("bm_get_config_md5") == hashlib.md5(source, usedforsecurity=False).digest()
    assert l3.call("bm_mgmt_get_info") == interface().SwitchInfo(device_id=7, thrift_port=9090)
    l3.engine.command("port_rate 3 1000000")
    [port] = l3.call("bm_dev_mgr_show_ports")
    assert (port.number, port.device, port.is_up, port.details["rate_bps"]) == (3, "memory", True, "1000000")
    assert l3.call("bm_get_id_from_name", 0, 2, "In.by_port") == 0
    assert code_of(l3.call, "bm_get_id_from_name", 0, 2, "In.routes") == 1
    assert code_of(l3.call, "bm_get_id_from_name", 0, 9, "In.routes") == 0
    l3.engine.advance(5_999)
    assert l3.call("get_time_elapsed_us", service="simple_switch") == 5
    assert l3.call("get_time_since_epoch_us", service="simple_switch") > 1_000_000_000_000_000


def test_queues_have_depths_and_rates_as_in_bmv2(make_switch: MakeSwitch) -> None:
    """At 1000 packets/s each packet takes 1 ms. A queue of depth 2 takes the third packet only when one has left."""
    l3 = make_switch("l3")
    l3.call("bm_mt_set_default_action", 0, "In.neighbours", "In.rewrite", [bytes(6)])
    add_route(l3.call, "10.0.0.0", 8, 4)
    assert l3.call("set_all_egress_queue_rates", 5, service="simple_switch") == 0
    assert l3.call("set_egress_queue_rate", 4, 1000, service="simple_switch") == 0
    assert l3.call("set_all_egress_queue_depths", 1, service="simple_switch") == 0
    assert l3.call("set_egress_queue_depth", 4, 0, service="simple_switch") == 0
    assert l3.call("set_egress_priority_queue_depth", 4, 0, 2, service="simple_switch") == 0
    frames = [ipv4_frame(0x0A010203) + bytes(size) for size in (0, 1000, 10, 20, 30)]
    for frame in frames:
        l3.engine.receive(1, frame, 0)
    departures = l3.engine.advance(10_000_000)
    assert [(due_ns, len(frame)) for _, due_ns, frame in departures] == [
        (1_000_000, len(frames[0])),
        (2_000_000, len(frames[1])),
        (3_000_000, len(frames[2])),
    ]
    assert l3.engine.statistics()["drops"]["queue_full"] == 2


def test_value_sets_change_the_parser(make_switch: MakeSwitch) -> None:
    sets = make_switch("sets")
    frame = bytes.fromhex("02000031b001") + bytes(17)

    def matches() -> bool:
        [(_, _, sent)] = sets.engine.step(2, frame, 0)
        return sent[1] == 1

    value = bytes.fromhex("160031")
    sets.call("bm_parse_vset_add", 0, "P.pairs", value)
    sets.call("bm_parse_vset_add", 0, "P.pairs", b"\0\x05")
    assert matches()
    assert sets.call("bm_parse_vset_get", 0, "P.pairs") == [b"\0\0\x05", value]
    sets.call("bm_parse_vset_remove", 0, "P.pairs", value)
    assert not matches()
    sets.call("bm_reset_state")
    assert sets.call("bm_parse_vset_get", 0, "P.pairs") == [b"\0\0\x05"]
    sets.call("bm_parse_vset_clear", 0, "P.pairs")
    assert sets.call("bm_parse_vset_get", 0, "P.pairs") == []
    assert code_of(sets.call, "bm_parse_vset_add", 0, "pairs", value) == ValueSetCode.INVALID_NAME
    assert code_of(sets.call, "bm_parse_vset_get", 0, "P.none") == ValueSetCode.INVALID_NAME
    assert code_of(sets.call, "bm_parse_vset_add", 0, "P.pairs", b"\x20\0\0") == ValueSetCode.ERROR


def test_refusals_without_a_code_have_a_text(make_switch: MakeSwitch) -> None:
    l3 = make_switch("l3")
    for words, service, text in (
        (("set_egress_priority_queue_rate", 1, 0, 100), "simple_switch", "port_rate"),
        (("set_egress_queue_rate", 510, 100), "simple_switch", "port '510' has no interface"),
        (("set_egress_queue_depth", 1, -1), "simple_switch", "depth '-1' is not a number"),
        (("bm_serialize_state",), "standard", "not written down"),
        (("bm_mt_get_num_entries", 1, "In.routes"), "standard", "there is only 0"),
        (("bm_mt_get_num_entries", 0, None), "standard", "'table' is missing"),
        (("bm_mt_get_num_entries", 0, b"\xff"), "standard", "'table' is not text"),
    ):
        with pytest.raises(TApplicationException, match=re.escape(text)):
            l3.call(*words, service=service)


def test_custom_crcs_take_parameters(make_switch: MakeSwitch) -> None:
    """Numbers arrive signed; errors have BMv2's codes."""
    hashing = make_switch("hashing")
    x25, crc32c = (0x1021, -1, -1, True, True), (0x1EDC6F41, -1, -1, True, True)
    for bits, name, words in ((16, "calc_4", x25), (32, "calc_5", crc32c)):
        parameters = getattr(interface(), f"Crc{bits}")(*words)
        hashing.call(f"bm_set_crc{bits}_custom_parameters", 0, name, parameters)
        everything = (1 << bits) - 1
        expected = crc(packed(*FIELDS), bits, words[0], everything, everything, True, True)
        assert hashed(hashing.engine, bits) == expected
        for wrong, code in (("nothing", CalculationCode.INVALID_NAME), ("calc", CalculationCode.WRONG_TYPE)):
            assert code_of(hashing.call, f"bm_set_crc{bits}_custom_parameters", 0, wrong, parameters) == code
        partly = getattr(interface(), f"Crc{bits}")(words[0])
        answer = code_of(hashing.call, f"bm_set_crc{bits}_custom_parameters", 0, name, partly)
        assert answer == CalculationCode.INVALID_PARAMETERS
        assert hashed(hashing.engine, bits) == expected
    assert code_of(hashing.call, "bm_set_toeplitz_hash_key", 0, "calc", b"") == CalculationCode.WRONG_TYPE
