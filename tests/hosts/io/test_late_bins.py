# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the lateness over time of an agent."""

from hosts.io.late_bins import LateBin, LateBins, late_bin_ns
from wire.dilation import Dilation


def test_an_interval_has_the_number_of_departures_and_the_maximum_lateness() -> None:
    """Departures before the epoch and intervals without departures are left out."""
    bins = LateBins(epoch_ns=1_000, width_ns=100)
    for sent_ns, late_ns in ((900, 99), (1_000, 5), (1_099, 7), (1_050, 6), (1_300, 0), (1_399, 3)):
        bins.record(sent_ns, late_ns)
    assert bins.take() == [LateBin(1_100, 3, 7)]
    bins.record(1_400, 1)
    assert bins.take() == [LateBin(1_400, 2, 3)]
    assert bins.take() == []
    assert bins.take(is_final=True) == [LateBin(1_500, 1, 1)]
    assert bins.take(is_final=True) == []


def test_intervals_are_10_model_us_but_at_least_10_wall_ms() -> None:
    assert late_bin_ns(Dilation(10_000)) == 100_000_000
    assert late_bin_ns(Dilation(1)) == 10_000_000
