# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of match kinds and of changes to tables. The vector v1model/matching-kinds tests match kinds on BMv2 too."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softswitch.engine import CommandError, SwitchEngine
from softswitch_tests.pipeline.harness import sent, switch_with

PROGRAM = "matching"
MISS = 0xFFFF


def request(which: int, a: int = 0, b: int = 0, c: int = 0, d: int = 0, e: int = 0, extra: int | None = None) -> bytes:
    head = struct.pack(">BH", which, a << 7 | b) + c.to_bytes(6, "big") + d.to_bytes(16, "big") + e.to_bytes(25, "big")
    return head + bytes(2) + (bytes([extra]) if extra is not None else b"")


def result(switch: SwitchEngine, data: bytes) -> int:
    return int.from_bytes(sent(switch, data)[1][50:52], "big")


def added(switch: SwitchEngine, entry: str) -> int:
    return int(switch.command(f"table_add {entry}").removeprefix("Entry has been added with handle "))


def test_exact_match_needs_the_outermost_bits_of_every_key(switch: SwitchEngine) -> None:
    """The keys have 9, 7, 48, 128 and 200 bits; a single flipped bit misses."""
    keys = [0x1AB, 0x55, 0x123456789ABC, (1 << 127) | 1, (1 << 199) | 1]
    added(switch, f"exact_keys set {' '.join(map(hex, keys))} => 42")
    assert result(switch, request(0, *keys)) == 42
    for position, bits in enumerate((9, 7, 48, 128, 200)):
        for bit in (0, bits - 1):
            other = list(keys)
            other[position] ^= 1 << bit
            assert result(switch, request(0, *other)) == MISS


def test_action_parameters_of_128_and_200_bits(switch: SwitchEngine) -> None:
    d, e = (0xDEADBEEF << 96) | 7, (0xC0FFEE << 176) | 9
    added(switch, f"exact_keys set_wide 1 0 0 0 0 => {d:#x} {e:#x}")
    assert sent(switch, request(0, 1))[1][9:50] == d.to_bytes(16, "big") + e.to_bytes(25, "big")


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, (1 << 128) - 1), st.integers(0, 128)), max_size=12))
@settings(max_examples=40, deadline=None)
def test_longest_prefix_agrees_with_a_search_through_all(entries: list[tuple[int, int, int]]) -> None:
    with switch_with(PROGRAM) as switch:
        model: dict[tuple[int, int, int], int] = {}
        for number, (exact, address, length) in enumerate(entries):
            prefix = address >> (128 - length) << (128 - length)
            entry = f"longest set {exact} {address:#x}/{length} => {number}"
            if (exact, prefix, length) in model:
                with pytest.raises(CommandError, match="already"):
                    added(switch, entry)
            else:
                assert added(switch, entry) == len(model)
                model[exact, prefix, length] = number
        for exact, address, _ in entries:
            matches = [
                (length, number)
                for (key, prefix, length), number in model.items()
                if key == exact and prefix == address >> (128 - length) << (128 - length)
            ]
            assert result(switch, request(1, b=exact, d=address)) == max(matches)[1]


def test_lowest_priority_number_wins_and_ties_go_to_the_older_handle(switch: SwitchEngine) -> None:
    """The header of the third key is invalid, so the key reads as zero."""
    wide = 1 << 127
    added(switch, "masked set 0&&&0 0&&&0 0&&&0 => 1 30")
    added(switch, "masked set 0x100&&&0x100 0&&&0 0&&&0 => 2 20")
    added(switch, "masked set 0x001&&&0x001 0&&&0 0&&&0 => 3 20")
    added(switch, f"masked set 0&&&0 {wide:#x}&&&{wide:#x} 0&&&0xff => 4 10")
    assert result(switch, request(2)) == 1
    assert result(switch, request(2, a=0x101)) == 2
    assert result(switch, request(2, a=0x001)) == 3
    assert result(switch, request(2, a=0x101, d=wide)) == 4
    assert result(switch, request(2, a=0x101, b=1, d=wide, extra=5)) == 2


def test_exit_skips_the_rest_of_ingress(switch: SwitchEngine) -> None:
    assert sent(switch, request(4, a=1))[1][3:9] == bytes([0, 0, 0, 0, 0, 0xC])
    assert sent(switch, request(4, a=0x1FF))[1][3:9] == bytes(6)


def test_full_table_stale_handle_and_reused_handle(switch: SwitchEngine) -> None:
    for number in range(64):
        assert added(switch, f"longest set 2 {number << 64}/128 => 1") == number
    with pytest.raises(CommandError, match="full"):
        added(switch, "longest set 3 0/0 => 1")
    switch.command("table_delete longest 7")
    reused = added(switch, "longest set 3 0/0 => 1")
    assert reused == 1 << 24 | 7
    assert switch.command("table_num_entries longest") == "64"
    for line in ("table_delete longest 7", "table_modify longest set 7 => 5"):
        with pytest.raises(CommandError, match="does not exist"):
            switch.command(line)
    switch.command(f"table_modify longest set {reused} => 5")
    assert result(switch, request(1, b=3)) == 5
    switch.command("table_clear longest")
    assert result(switch, request(1, b=3)) == MISS
    switch.command("table_set_default longest set 77")
    assert result(switch, request(1, b=3)) == 77


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 40)), max_size=120))
@settings(max_examples=30, deadline=None)
def test_additions_and_deletions_agree_with_a_dictionary(operations: list[tuple[bool, int]]) -> None:
    """Open addressing without tombstones must keep every key findable."""
    with switch_with(PROGRAM) as switch:
        handles: dict[int, int] = {}
        for is_addition, key in operations:
            if is_addition and key not in handles:
                handles[key] = added(switch, f"exact_keys set 0 0 {key} 0 0 => {key}")
            elif not is_addition and key in handles:
                switch.command(f"table_delete exact_keys {handles.pop(key)}")
        for key in range(41):
            assert result(switch, request(0, c=key)) == (key if key in handles else MISS)
