# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the times at which entries were last hit, in a table with support_timeout."""

import pytest

from softswitch.engine import CommandError, SwitchEngine
from softswitch_tests.p4runtime.frames import EXACT, frame

PROGRAM = "controlled"
MS = 1_000_000


def ages_us(switch: SwitchEngine) -> dict[str, int]:
    lines = switch.command("table_ages exact_match").splitlines()
    return {handle: int(age) for handle, age in (line.split() for line in lines)}


def test_age_counts_from_the_last_hit_or_the_addition(switch: SwitchEngine) -> None:
    switch.advance(5 * MS)
    switch.command("table_add exact_match forward 1 => 1")
    switch.command("table_add exact_match forward 2 => 1")
    switch.step(1, frame(EXACT, 1), 7 * MS)
    switch.advance(10 * MS)
    assert ages_us(switch) == {"0": 3000, "1": 5000}
    switch.step(1, frame(EXACT, 3), 11 * MS)  # a miss
    switch.step(1, frame(EXACT, 2), 12 * MS)
    assert ages_us(switch) == {"0": 5000, "1": 0}
    switch.command("table_delete exact_match 0")
    switch.command("table_add exact_match forward 1 => 1")
    assert sorted(ages_us(switch).values()) == [0, 0]


def test_other_tables_have_no_ages(switch: SwitchEngine) -> None:
    with pytest.raises(CommandError, match="does not support timeouts"):
        switch.command("table_ages routes")
