# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of registers, meters, digests, random numbers and action selectors."""

from __future__ import annotations

import ctypes
import errno

from tests.softswitch.pipeline.harness import U32, MeterRate, Pipeline

PROGRAM = "stateful"


def request(which: int, index: int = 0, a: int = 0, wide: int = 0) -> bytes:
    return bytes([which]) + index.to_bytes(4, "big") + a.to_bytes(6, "big") + wide.to_bytes(25, "big") + b"\0"


def send(pipeline: Pipeline, data: bytes, port: int = 0) -> tuple[int, bytes]:
    sent = pipeline.send(data, port=port)
    assert sent is not None
    return sent


def test_registers_of_odd_widths_keep_their_values(pipeline: Pipeline) -> None:
    """Covers 48 and 200 bits, accessed by packets and by the control plane."""
    wide = (1 << 199) | 0x1234
    assert pipeline.write_register("times", 3, (1 << 48) - 1) == 0
    data = send(pipeline, request(0, 3, a=2, wide=wide))[1]
    assert data[5:11] == b"\xff" * 6
    assert pipeline.read_register("times", 3) == 1
    assert pipeline.read_register("wides", 3) == wide
    assert send(pipeline, request(0, 3))[1][11:36] == wide.to_bytes(25, "big")
    assert pipeline.read_register("flags", 1) == 1


def test_register_accesses_out_of_bounds_do_nothing(pipeline: Pipeline) -> None:
    """A read leaves its target unchanged (here zero), a write is lost, the control plane gets an error."""
    assert send(pipeline, request(0, 8, a=5))[1][5:11] == bytes(6)
    assert all(pipeline.read_register("times", i) == 0 for i in range(8))
    assert pipeline.write_register("times", 8, 1) == -errno.EINVAL


def test_two_rate_meter_turns_yellow_then_red_and_recovers(pipeline: Pipeline) -> None:
    """Packets take tokens of the peak rate first; tokens are refilled by the clock that the target sets."""
    rates = (MeterRate * 2)(MeterRate(0.001, 2), MeterRate(0.002, 3))
    assert pipeline.lib.sw_meter_set_rates(pipeline.handle, pipeline.meter("by_index"), 1, rates, 2) == 0
    colors = [send(pipeline, request(1, 1))[1][36] for _ in range(5)]
    assert colors == [0, 0, 1, 2, 2]
    pipeline.set_time(1000)
    assert [send(pipeline, request(1, 1))[1][36] for _ in range(3)] == [0, 1, 2]
    assert send(pipeline, request(1, 2))[1][36] == 0
    backwards = (MeterRate * 2)(MeterRate(0.002, 2), MeterRate(0.001, 3))
    meter = pipeline.meter("by_index")
    assert pipeline.lib.sw_meter_set_rates(pipeline.handle, meter, 1, backwards, 2) == -errno.EINVAL


def test_direct_meter_counts_bytes_of_the_frame(pipeline: Pipeline) -> None:
    handle = pipeline.add("watched", [2], "watch", [])
    rates = (MeterRate * 2)(MeterRate(0.0, 40), MeterRate(0.0, 100))
    assert pipeline.lib.sw_meter_set_rates(pipeline.handle, pipeline.meter("by_entry"), handle, rates, 2) == 0
    assert [send(pipeline, request(2))[1][36] for _ in range(3)] == [0, 1, 2]


def test_digests_come_in_order_with_padded_fields(pipeline: Pipeline) -> None:
    """A field of 9 bits takes two bytes; draining removes the digests."""
    send(pipeline, request(3, a=0xABCDEF), port=0x101)
    send(pipeline, request(3, a=1), port=2)
    assert pipeline.digests() == [(0, bytes.fromhex("0101000000abcdef")), (0, bytes.fromhex("0002000000000001"))]
    assert pipeline.digests() == []


def test_random_numbers_stay_in_range_and_repeat_with_the_seed() -> None:
    draws = []
    for seed in (5, 5, 6):
        pipeline = Pipeline(PROGRAM, seed=seed)
        draws.append([int.from_bytes(send(pipeline, request(4))[1][5:11], "big") for _ in range(50)])
        pipeline.close()
    assert draws[0] == draws[1] != draws[2]
    assert all(100 <= n <= 200 for n in draws[0]) and len(set(draws[0])) > 20


def crc16(data: bytes) -> int:
    """Return CRC-16/ARC, computed bit by bit."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0xA001 if crc & 1 else crc >> 1
    return crc


def test_selector_picks_the_member_the_hash_names(pipeline: Pipeline) -> None:
    """The hash counts members in order of their ids; an empty group runs no action; a used member cannot be deleted."""
    lib, handle = pipeline.lib, pipeline.handle
    table, profile = pipeline.table("spread"), pipeline.profile("members")
    pick = pipeline.action(table, "pick")
    members = []
    for port in (11, 12, 13):
        member = U32()
        assert lib.sw_profile_add_member(handle, profile, pick, pipeline.args(pick, [port]), ctypes.byref(member)) == 0
        members.append(member.value)
    group, entry = U32(), U32()
    assert lib.sw_profile_create_group(handle, profile, ctypes.byref(group)) == 0
    keys = pipeline.matches(table, [9])
    assert lib.sw_table_add_indirect(handle, table, keys, True, group.value, 0, ctypes.byref(entry)) == 0
    assert send(pipeline, request(9))[0] == 1
    for added in reversed(members):
        assert lib.sw_profile_group_add(handle, profile, group.value, added) == 0
    assert lib.sw_profile_group_add(handle, profile, group.value, members[0]) == -errno.EEXIST
    for a in range(40):
        assert send(pipeline, request(9, a=a))[0] == (11, 12, 13)[crc16(a.to_bytes(6, "big")) % 3]
    assert lib.sw_profile_delete_member(handle, profile, members[0]) == -errno.EBUSY
    assert lib.sw_profile_delete_group(handle, profile, group.value) == -errno.EBUSY
    assert lib.sw_table_delete(handle, table, entry.value) == 0
    assert lib.sw_profile_delete_group(handle, profile, group.value) == 0
    assert lib.sw_profile_delete_member(handle, profile, members[0]) == 0
