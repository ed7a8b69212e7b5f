# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of match kinds, key packing, handles, const entries and errors of table changes."""

from __future__ import annotations

import errno
import struct

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.softswitch.pipeline.harness import Pipeline

PROGRAM = "matching"
MISS = 0xFFFF


def request(which: int, a: int = 0, b: int = 0, c: int = 0, d: int = 0, e: int = 0, extra: int | None = None) -> bytes:
    head = struct.pack(">BH", which, a << 7 | b) + c.to_bytes(6, "big") + d.to_bytes(16, "big") + e.to_bytes(25, "big")
    return head + bytes(2) + (bytes([extra]) if extra is not None else b"")


def result(pipeline: Pipeline, data: bytes) -> int:
    sent = pipeline.send(data)
    assert sent is not None
    return int.from_bytes(sent[1][50:52], "big")


def test_exact_match_needs_every_bit_of_every_key(pipeline: Pipeline) -> None:
    """The keys have 9, 7, 48, 128 and 200 bits; a single flipped bit misses."""
    keys = [0x1AB, 0x55, 0x123456789ABC, (1 << 127) | 1, (1 << 199) | 1]
    assert pipeline.add("exact_keys", list(keys), "set", [42]) == 0
    assert result(pipeline, request(0, *keys)) == 42
    for position, bits in enumerate((9, 7, 48, 128, 200)):
        for bit in (0, bits - 1):
            other = list(keys)
            other[position] ^= 1 << bit
            assert result(pipeline, request(0, *other)) == MISS


def test_action_parameters_of_128_and_200_bits(pipeline: Pipeline) -> None:
    d, e = (0xDEADBEEF << 96) | 7, (0xC0FFEE << 176) | 9
    assert pipeline.add("exact_keys", [1, 0, 0, 0, 0], "set_wide", [d, e]) == 0
    sent = pipeline.send(request(0, 1))
    assert sent is not None
    assert sent[1][9:25] == d.to_bytes(16, "big")
    assert sent[1][25:50] == e.to_bytes(25, "big")


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, (1 << 128) - 1), st.integers(0, 128)), max_size=12))
@settings(max_examples=40, deadline=None)
def test_longest_prefix_agrees_with_a_search_through_all(entries: list[tuple[int, int, int]]) -> None:
    """The table has a 128-bit LPM key and an exact key; entries are added in any order."""
    pipeline = Pipeline(PROGRAM)
    model: dict[tuple[int, int, int], int] = {}
    for number, (exact, address, length) in enumerate(entries):
        prefix = address >> (128 - length) << (128 - length)
        code = pipeline.add("longest", [exact, (address, length)], "set", [number])
        assert code == (-errno.EEXIST if (exact, prefix, length) in model else len(model))
        model.setdefault((exact, prefix, length), number)
    for exact, address, _ in entries:
        matches = [
            (length, number)
            for (key, prefix, length), number in model.items()
            if key == exact and prefix == address >> (128 - length) << (128 - length)
        ]
        assert result(pipeline, request(1, b=exact, d=address)) == max(matches)[1]
    pipeline.close()


def test_lowest_priority_number_wins_and_ties_go_to_the_older_handle(pipeline: Pipeline) -> None:
    """The header of the third key is invalid, so the key reads as zero."""
    assert pipeline.add("masked", [(0, 0), (0, 0), (0, 0)], "set", [1], priority=30) == 0
    assert pipeline.add("masked", [(0x100, 0x100), (0, 0), (0, 0)], "set", [2], priority=20) == 1
    assert pipeline.add("masked", [(0x001, 0x001), (0, 0), (0, 0)], "set", [3], priority=20) == 2
    assert pipeline.add("masked", [(0, 0), (1 << 127, 1 << 127), (0, 0xFF)], "set", [4], priority=10) == 3
    assert result(pipeline, request(2)) == 1
    assert result(pipeline, request(2, a=0x101)) == 2
    assert result(pipeline, request(2, a=0x001)) == 3
    assert result(pipeline, request(2, a=0x101, d=1 << 127)) == 4
    assert result(pipeline, request(2, a=0x101, b=1, d=1 << 127, extra=5)) == 2


def test_ranges_and_optional_keys(pipeline: Pipeline) -> None:
    """The ends of a range match; an optional key matches exactly or any value."""
    exactly = (0x42, (1 << 48) - 1)
    assert pipeline.add("ranged", [(10, 20), 1, exactly], "set", [1], priority=1) == 0
    assert pipeline.add("ranged", [(15, 400), 1, (0, 0)], "set", [2], priority=2) == 1
    for a, c, want in ((9, 0x42, MISS), (10, 0x42, 1), (20, 0x42, 1), (20, 0x43, 2), (400, 0, 2), (401, 0, MISS)):
        assert result(pipeline, request(3, a=a, b=1, c=c, extra=0)) == want, (a, c)
    assert result(pipeline, request(3, a=15, b=2, c=0x42)) == MISS


def test_const_entries_in_program_order_with_validity_keys(pipeline: Pipeline) -> None:
    """Const entries exist from the start and cannot be changed."""
    for a, extra, want in ((1, None, 1), (2, None, 4), (2, 9, 2), (3, 9, 3)):
        assert result(pipeline, request(4, a=a, b=1 if extra is not None else 0, extra=extra)) == want
    table = pipeline.table("fixed_entries")
    assert pipeline.add("fixed_entries", [(5, 0x1FF), 0], "set", [9]) == -errno.EPERM
    assert pipeline.lib.sw_table_delete(pipeline.handle, table, 0) == -errno.EPERM
    assert pipeline.lib.sw_table_clear(pipeline.handle, table) == -errno.EPERM


def test_switch_on_the_action_run_and_exit(pipeline: Pipeline) -> None:
    """Control flow depends on the action; exit skips the rest of ingress."""
    sent = pipeline.send(request(4, a=1))
    assert sent is not None
    assert sent[1][2] & 0x7F == 0x55
    assert sent[1][3:9] == bytes([0, 0, 0, 0, 0, 0xC])
    sent = pipeline.send(request(4, a=0x1FF))
    assert sent is not None
    assert sent[1][3:9] == bytes(6)


def test_errors_of_table_changes(pipeline: Pipeline) -> None:
    """Each kind of error has its errno: duplicate, full table, stale handle, wrong width, foreign action."""
    assert pipeline.add("longest", [1, (0, 0)], "set", [1]) == 0
    assert pipeline.add("longest", [1, (5, 0)], "set", [1]) == -errno.EEXIST
    table = pipeline.table("longest")
    for number in range(63):
        assert pipeline.add("longest", [2, (number << 64, 128)], "set", [1]) == number + 1
    assert pipeline.add("longest", [3, (0, 0)], "set", [1]) == -errno.ENOSPC
    assert pipeline.lib.sw_table_delete(pipeline.handle, table, 7) == 0
    assert pipeline.lib.sw_table_delete(pipeline.handle, table, 7) == -errno.ENOENT
    reused = pipeline.add("longest", [3, (0, 0)], "set", [1])
    assert reused == 1 << 24 | 7
    assert pipeline.lib.sw_table_count(pipeline.handle, table) == 64
    chosen = pipeline.action(table, "set")
    assert pipeline.lib.sw_table_modify(pipeline.handle, table, 7, chosen, pipeline.args(chosen, [5])) == -errno.ENOENT
    assert pipeline.lib.sw_table_modify(pipeline.handle, table, reused, chosen, pipeline.args(chosen, [5])) == 0
    assert result(pipeline, request(1, b=3)) == 5
    assert pipeline.lib.sw_table_clear(pipeline.handle, table) == 0
    assert result(pipeline, request(1, b=3)) == MISS
    assert pipeline.set_default("longest", "set", [77]) == 0
    assert result(pipeline, request(1, b=3)) == 77


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 40)), max_size=120))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_additions_and_deletions_agree_with_a_dictionary(operations: list[tuple[bool, int]]) -> None:
    """Open addressing without tombstones must keep every key findable."""
    pipeline = Pipeline(PROGRAM)
    handles: dict[int, int] = {}
    table = pipeline.table("exact_keys")
    for is_addition, key in operations:
        if is_addition and key not in handles:
            handles[key] = pipeline.add("exact_keys", [0, 0, key, 0, 0], "set", [key])
            assert handles[key] >= 0
        elif not is_addition and key in handles:
            assert pipeline.lib.sw_table_delete(pipeline.handle, table, handles.pop(key)) == 0
    for key in range(41):
        assert result(pipeline, request(0, c=key)) == (key if key in handles else MISS)
    pipeline.close()
