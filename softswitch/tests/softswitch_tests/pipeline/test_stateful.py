# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of registers, meters, digests, random numbers and action selectors."""

import re

import pytest

from softswitch.engine import CommandError, SwitchEngine
from softswitch_tests.pipeline.harness import crc16, sent, switch_with

PROGRAM = "stateful"


def request(which: int, index: int = 0, a: int = 0, wide: int = 0) -> bytes:
    return bytes([which]) + index.to_bytes(4, "big") + a.to_bytes(6, "big") + wide.to_bytes(25, "big") + b"\0"


def register(switch: SwitchEngine, name: str, index: int) -> int:
    return int(switch.command(f"register_read {name} {index}").rpartition("=")[2])


def colors(switch: SwitchEngine, frame: bytes, count: int, now_ns: int = 0) -> list[int]:
    """Send a frame `count` times; return the color that a meter gives each."""
    return [sent(switch, frame, now_ns=now_ns)[1][36] for _ in range(count)]


def test_registers_of_odd_widths_keep_their_values(switch: SwitchEngine) -> None:
    """Covers 48 and 200 bits, accessed by packets and by the control plane."""
    wide = (1 << 199) | 0x1234
    switch.command("register_write times 3 0xffffffffffff")
    assert sent(switch, request(0, 3, a=2, wide=wide))[1][5:11] == b"\xff" * 6
    assert register(switch, "times", 3) == 1
    assert register(switch, "wides", 3) == wide
    assert sent(switch, request(0, 3))[1][11:36] == wide.to_bytes(25, "big")
    assert register(switch, "flags", 1) == 1


def test_register_accesses_out_of_bounds_do_nothing(switch: SwitchEngine) -> None:
    """A read leaves its target unchanged (here zero), and a write is lost."""
    assert sent(switch, request(0, 8, a=5))[1][5:11] == bytes(6)
    assert [register(switch, "times", index) for index in range(8)] == [0] * 8


def test_two_rate_meter_turns_yellow_then_red_and_recovers(switch: SwitchEngine) -> None:
    """Packets take tokens of the peak rate first; tokens are refilled by the switch's clock."""
    switch.command("meter_set_rates by_index 1 0.001:2 0.002:3")
    assert colors(switch, request(1, 1), 5) == [0, 0, 1, 2, 2]
    assert colors(switch, request(1, 1), 3, now_ns=1_000_000) == [0, 1, 2]
    assert colors(switch, request(1, 2), 1, now_ns=1_000_000) == [0]
    with pytest.raises(CommandError):
        switch.command("meter_set_rates by_index 1 0.002:2 0.001:3")


def test_direct_meter_counts_bytes_of_the_frame(switch: SwitchEngine) -> None:
    switch.command("table_add watched watch 2 =>")
    switch.command("meter_set_rates by_entry 0 0:40 0:100")
    assert colors(switch, request(2), 3) == [0, 1, 2]


def test_digests_come_in_order_and_are_read_once(switch: SwitchEngine) -> None:
    switch.step(0x101, request(3, a=0xABCDEF), 0)
    switch.step(2, request(3, a=1), 0)
    values = [re.findall(r"=(\d+)", line) for line in switch.command("digest_read").splitlines()]
    assert values == [[str(0x101), str(0xABCDEF)], ["2", "1"]]
    assert switch.command("digest_read") == ""


def test_random_numbers_stay_in_range_and_repeat_with_the_seed() -> None:
    draws = []
    for seed in (5, 5, 6):
        with switch_with(PROGRAM, seed=seed) as switch:
            draws.append([int.from_bytes(sent(switch, request(4))[1][5:11], "big") for _ in range(50)])
    assert draws[0] == draws[1] != draws[2]
    assert all(100 <= n <= 200 for n in draws[0]) and len(set(draws[0])) > 20


def test_selector_picks_the_member_the_hash_names(switch: SwitchEngine) -> None:
    """The hash counts members in order of their ids; an empty group runs no action; a used member cannot be deleted."""
    for port in (11, 12, 13):
        switch.command(f"act_prof_create_member members pick {port}")
    switch.command("act_prof_create_group members")
    switch.command("table_indirect_add_with_group spread 9 => 0")
    assert sent(switch, request(9))[0] == 1
    for member in (2, 1, 0):
        switch.command(f"act_prof_add_member_to_group members {member} 0")
    for a in range(40):
        assert sent(switch, request(9, a=a))[0] == (11, 12, 13)[crc16(a.to_bytes(6, "big")) % 3]
    for line, reason in (
        ("act_prof_add_member_to_group members 0 0", "already"),
        ("act_prof_delete_member members 0", "in use"),
        ("act_prof_delete_group members 0", "in use"),
    ):
        with pytest.raises(CommandError, match=reason):
            switch.command(line)
    switch.command("table_indirect_delete spread 0")
    switch.command("act_prof_delete_group members 0")
    switch.command("act_prof_delete_member members 0")


def test_lost_digests_are_counted(switch: SwitchEngine) -> None:
    """The queue is bounded and keeps the oldest digests."""
    sent_count = 100_000
    for _ in range(sent_count):
        switch.step(1, request(3), 0)
    lost_count = switch.statistics()["digests_lost"]
    assert lost_count > 0
    assert len(switch.command("digest_read").splitlines()) == sent_count - lost_count


def test_meter_rates_are_read_as_they_were_set(switch: SwitchEngine) -> None:
    assert switch.command("meter_get_rates by_index 0") == ""
    switch.command("meter_set_rates by_index 0 0.5:4 2:9")
    assert switch.command("meter_get_rates by_index 0").splitlines() == [
        "0: info rate = 0.5, burst size = 4",
        "1: info rate = 2, burst size = 9",
    ]
    switch.command("meter_set_rates by_index 0 1.234567890123:4 2:9")
    assert "1.234567890123," in switch.command("meter_get_rates by_index 0")
    with pytest.raises(CommandError, match="nothing"):
        switch.command("meter_get_rates nothing 0")


def test_a_meter_without_rates_is_green(switch: SwitchEngine) -> None:
    switch.command("meter_set_rates by_index 1 0:1 0:2")
    assert colors(switch, request(1, 1), 3) == [0, 1, 2]
    switch.command("meter_clear_rates by_index 1")
    assert colors(switch, request(1, 1), 3) == [0, 0, 0]
    assert switch.command("meter_get_rates by_index 1") == ""
    with pytest.raises(CommandError, match="outside"):
        switch.command("meter_clear_rates by_index 9")
