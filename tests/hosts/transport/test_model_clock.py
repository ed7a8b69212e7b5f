# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the conversion of wall times to model µs."""

from __future__ import annotations

from sfc_testbed.hosts.transport.model_clock import ModelClock
from sfc_testbed.wire.dilation import Dilation


def test_times_are_divided_by_the_dilation_and_instants_count_from_the_start() -> None:
    clock = ModelClock(Dilation(10), 500)
    assert (clock.instant_us(20_500), clock.duration_us(20_500)) == (2.0, 2.05)
    clock.start_ns = 10_500
    assert (clock.instant_us(500), clock.duration_us(0)) == (-1.0, 0.0)
