# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The start time of a live run."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.testbed.live.run import in_phase

_TIMES_NS = st.integers(0, 10**18)


@given(_TIMES_NS, _TIMES_NS, st.integers(1, 10**13), st.integers(1, 10**12))
def test_a_run_begins_when_a_free_timer_resets(earliest_ns: int, epoch_ns: int, period_ns: int, sample_ns: int) -> None:
    begin_ns = in_phase(earliest_ns, epoch_ns, period_ns, sample_ns)
    assert (begin_ns - epoch_ns) % period_ns == 0
    assert earliest_ns <= begin_ns < earliest_ns + period_ns + max(sample_ns, 1_000_000_000)


@given(_TIMES_NS, _TIMES_NS, st.integers(1, 10), st.integers(1, 10), st.integers(1, 10**7))
def test_a_run_begins_at_the_end_of_a_sampling_interval(
    earliest_ns: int, epoch_ns: int, periods: int, samples: int, unit_ns: int
) -> None:
    """The virtual clock begins so, too. It takes at most as many periods as an interval has units."""
    begin_ns = in_phase(earliest_ns, epoch_ns, periods * unit_ns, samples * unit_ns)
    assert (begin_ns - epoch_ns) % (samples * unit_ns) == 0


def test_a_run_without_suppression_begins_with_the_next_sampling_interval() -> None:
    assert in_phase(5, 3, 0, 10) == 13
