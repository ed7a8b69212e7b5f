# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of ECN marking, which depends on the queue depth that a packet leaves behind."""

from __future__ import annotations

import pytest

from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.wire.ipv4 import unpack_header
from tests.switch_bmv2.bench_switch import FRAME, STAR, bench_switch

CAPABLE, EXPERIENCED = 2, 3


def _marks(settings: SwitchSettings, frames: int) -> list[bool]:
    """Send `frames` frames at once and return for each, in order of departure, whether it is marked."""
    with bench_switch(STAR, "s1", settings) as switch:
        departures = switch.burst("h1", "h4", frames, ecn=CAPABLE) + switch.run_dry()
    assert all(unpack_header(departure.frame, 14) is not None for departure in departures)
    return [departure.frame[15] & 3 == EXPERIENCED for departure in departures]


def test_a_step_marks_exactly_above_the_threshold() -> None:
    """Kmin = Kmax = 5 frames: a packet that leaves six frames behind is marked, a packet that leaves five is not."""
    marks = _marks(SwitchSettings(ecn_kmin_bytes=5 * FRAME), 12)
    # The first packet finds an idle wire and leaves no packet behind, the others leave 10, 9, ... 0 behind.
    assert marks == [False] + [left > 5 for left in range(10, -1, -1)]


def test_between_the_thresholds_the_share_of_marks_grows_with_the_depth() -> None:
    settings = SwitchSettings(ecn_kmin_bytes=0, ecn_kmax_bytes=1000 * FRAME, ecn_pmax=1.0)
    marks = _marks(settings, 1000)
    early, late = marks[1:300], marks[-300:]
    assert sum(early) / len(early) == pytest.approx(0.85, abs=0.1)
    assert sum(late) / len(late) == pytest.approx(0.15, abs=0.1)
