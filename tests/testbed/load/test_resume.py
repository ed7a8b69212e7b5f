# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What paused senders send when all of them resume at once."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.load.resume import WorstResume


def _indexes(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def test_a_host_shares_its_line_among_its_flows_until_their_windows_are_full() -> None:
    """Ten frames in flows of 6, 3 and 1 at four a bin; another host sends its two at once."""
    resume = WorstResume(_indexes(4, 5, 6, 7), np.array([6.0, 3.0, 1.0, 2.0]))
    rows = resume.bins(_indexes(0, 0, 0, 2), np.array([4.0, 4.0, 8.0]), 100)
    assert [row[:3].sum() for row in rows] == pytest.approx([4, 4, 2])
    assert rows[0] == pytest.approx([2.4, 1.2, 0.4, 2.0])
    assert sum(rows) == pytest.approx([6, 3, 1, 2])


def test_the_next_pause_ends_what_has_no_window() -> None:
    """A message of any length sends no longer than until then."""
    resume = WorstResume(_indexes(0), np.array([1e9]))
    assert [row.tolist() for row in resume.bins(_indexes(0), np.array([4.0]), 3)] == [[4.0]] * 3


def test_the_moment_with_most_to_send_is_kept() -> None:
    """Not the last one."""
    resume = WorstResume.none()
    assert resume.bins(_indexes(), np.ones(3), 100) == []
    resume.note(_indexes(1, 2), np.array([5.0, 5.0]))
    resume.note(_indexes(1, 2, 3), np.array([3.0, 3.0, 3.0]))
    assert resume.flows.tolist() == [1, 2]
    assert resume.frames.tolist() == [5, 5]
