# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the table with what stays of idle queue pairs."""

from sfc_testbed.hosts.transport.number_rows import NumberRows


def test_rows_hold_numbers_and_are_zero_before() -> None:
    rows = NumberRows(3)
    assert (rows.get(5, 2), rows.end) == (0, 0)
    rows.set(5, 2, 1 << 62)
    rows.set(5, 0, -1)
    rows.set(700, 1, 3)
    assert [rows.get(5, column) for column in range(3)] == [-1, 0, 1 << 62]
    assert rows.get(700, 1) == 3
    assert 701 <= rows.end <= 702
