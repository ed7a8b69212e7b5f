# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the grammar of packet tests: every statement, and the errors for bad input."""

import pytest

from softswitch.stf.statements import (
    ActionCall,
    Add,
    Check,
    Direct,
    Expect,
    NoPacket,
    Packet,
    RemoveAll,
    SetDefault,
    StfError,
    Wait,
    parse,
)


def test_frames_are_hex_digits_with_any_blanks() -> None:
    """`*` is any digit, `$` ends the frame, no data matches any frame; keywords may have any case."""
    text = "# title\n\nPacket 1 00 ff0a\nexpect 2 0* F*f $ # end\nexpect 3\nexpect 4 ab\nno_packet\nWAIT"
    assert parse(text) == [
        Packet(3, 1, b"\x00\xff\x0a"),
        Expect(4, 2, "0*f*f", True),
        Expect(5, 3, None, False),
        Expect(6, 4, "ab", False),
        NoPacket(7),
        Wait(8),
    ]


def test_entries_have_keys_an_action_and_perhaps_priority_and_label() -> None:
    """Names may contain dots, `$`, indexes and quotes; values keep their notation."""
    text = 'add t 10 h.f:0x1**2 x$0.y:10/8 "a.$valid$":1 do.it(p:0b11, q:2) = first\nadd t[1] act()'
    call = ActionCall("do.it", (("p", "0b11"), ("q", "2")))
    keys = (("h.f", "0x1**2"), ("x$0.y", "10/8"), ("a.$valid$", "1"))
    assert parse(text) == [Add(1, "t", 10, keys, call, "first"), Add(2, "t[1]", None, (), ActionCall("act", ()), None)]


def test_a_hash_in_a_quoted_name_begins_no_comment() -> None:
    [statement] = parse('add "In.!@#table" "key":1 forward() # "a comment"')
    assert isinstance(statement, Add)
    assert statement.table == "In.!@#table"


def test_masks_ranges_defaults_and_removal() -> None:
    text = "add t a:0x1&&&0xf b:1->9 act()\nsetdefault t act(p:1)\nremove all"
    assert parse(text) == [
        Add(1, "t", None, (("a", "0x1&&&0xf"), ("b", "1->9")), ActionCall("act", ()), None),
        SetDefault(2, "t", ActionCall("act", (("p", "1"),))),
        RemoveAll(3),
    ]


def test_commands_and_checks() -> None:
    """Control commands pass unchanged; a check without a condition only requires that the cell exists."""
    text = "mc_node_create 400 6 7\nmeter_set_rates m 2 0.5:4\ncheck_counter c($a) bytes >= 0x10\n"
    text += "check_counter c(3)\ncheck_register r(1) == 7"
    assert parse(text) == [
        Direct(1, ("mc_node_create", "400", "6", "7")),
        Direct(2, ("meter_set_rates", "m", "2", "0.5:4")),
        Check(3, "c", "$a", "bytes", ">=", 16),
        Check(4, "c", "3", "packets", ">=", 0),
        Check(5, "r", "1", "value", "==", 7),
    ]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("packet x 00", "port 'x' is not a number"),
        ("packet 512 00", "port '512' is above 511"),
        ("expect 99999999999999999999", "is above 511"),
        ("add t 1.5 k:1 act()", "'1.5' is not a plain number"),
        ("check_register r(1) == 0x1*", "'0x1\\*' is not a plain number"),
        ("packet 1 0", "not whole bytes"),
        ("packet 1 0g", "not whole bytes"),
        ("expect 1 00$00", "with at most a"),
        ("forget 1", "no statement 'forget'"),
        ("add t k:1", "a name is missing before the end"),
        ("add t k:1 act(", "',' is missing|a name is missing"),
        ("add t act() more", "unexpected 'more' at the end"),
        ("setdefault t act(p)", "':' is missing|a mark is missing"),
        ("check_counter c(1) flows == 1", "neither packets nor bytes"),
        ("check_counter c(1) packets = 1", "'=' is not a condition"),
        ("add t k:1 act(p:;)", "cannot be read"),
    ],
)
def test_bad_input_is_named_with_its_line(line: str, complaint: str) -> None:
    with pytest.raises(StfError, match=f"^line 2: .*({complaint})"):
        parse(f"wait\n{line}\n")
