# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the functions that read and change parser value sets."""

import pytest

from softswitch.control import CommandError
from softswitch.engine import SwitchEngine
from softswitch.operations.value_sets import ValueSets

PROGRAM = "sets"


@pytest.fixture
def sets(switch: SwitchEngine) -> ValueSets:
    return ValueSets(switch)


def test_values_are_kept_in_order_without_duplicates(sets: ValueSets) -> None:
    assert sets.widths() == {"P.values": 16, "P.pairs": 21, "P.wides": 136, "P.singles": 100}
    for value in (7, 0xFFFF, 0, 7, 9):
        sets.add("P.values", value)
    sets.remove("P.values", 9)
    sets.remove("P.values", 8)
    assert sets.values("P.values") == [0, 7, 0xFFFF]
    sets.clear("P.values")
    assert sets.values("P.values") == []


def test_many_wide_values_are_found_and_removed(sets: ValueSets) -> None:
    wide = [(n << 64 | n * 2654435761 % 2**64) for n in range(100)]
    for value in reversed(wide):
        sets.add("P.wides", value)
    for value in wide[::2]:
        sets.remove("P.wides", value)
    assert sets.values("P.wides") == wide[1::2]


def test_replacement_is_refused_as_a_whole(sets: ValueSets) -> None:
    sets.replace("P.pairs", [3, 1, 2])
    sets.replace("P.pairs", [2, 4])
    with pytest.raises(CommandError, match="'0x200000' does not fit in 21 bits"):
        sets.replace("P.pairs", [5, 1 << 21])
    assert sets.values("P.pairs") == [2, 4]


def test_value_that_does_not_fit_and_unknown_set_are_refused(sets: ValueSets) -> None:
    with pytest.raises(CommandError, match="pvs_add: '0x10000' does not fit in 16 bits"):
        sets.add("P.values", 1 << 16)
    with pytest.raises(CommandError, match=r"no parser value set 'P\.ghost', there are: P\.values, P\.pairs"):
        sets.values("P.ghost")
