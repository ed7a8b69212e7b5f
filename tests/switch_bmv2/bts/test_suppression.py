# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the periods of the suppression filter, begun by a free-running timer (paper section 4) or a trigger."""

from __future__ import annotations

import pytest

from sfc_testbed.testbed.control_plane.commands import pipeline_commands
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.targets.bmv2.switch import in_phase
from tests.switch_bmv2.bench_switch import DILATION, STAR, US, BenchSwitch, bench_switch

PERIOD_US = 5_000


def _settings(**changes: object) -> SwitchSettings:
    return SwitchSettings(**{"bts": "ingress", "q_th_bytes": 3_000, "q_tg_bytes": 1_000, **changes})


def _is_signalled(switch: BenchSwitch, at_us: int, qpn: int = 1) -> bool:
    """Return whether a packet that finds a long queue gets a BTS."""
    before = switch.counts().bts_sent
    switch.engine.command("register_write queue_bytes 35 1000000")
    switch.send(switch.data("h2", "h4", qpn=qpn), 2, at_us * US)
    return switch.counts().bts_sent > before


@pytest.mark.parametrize(
    ("timer", "signalled_us", "suppressed_us"),
    [
        ("clock", (3_000, 5_000, 10_000), (4_999, 9_999, 14_999)),
        ("trigger", (3_000, 8_000, 15_000), (4_999, 5_000, 7_999, 12_999, 19_999)),
    ],
)
def test_periods_follow_the_clock_or_the_trigger(
    timer: str, signalled_us: tuple[int, ...], suppressed_us: tuple[int, ...]
) -> None:
    """The first trigger comes in the middle of a period of the clock, which still ends at a multiple of the period."""
    with bench_switch(STAR, "s1", _settings(suppression_timer=timer)) as switch:
        for at_us in sorted((*signalled_us, *suppressed_us)):
            assert _is_signalled(switch, at_us) == (at_us in signalled_us), at_us


def test_the_clock_runs_on_while_nothing_triggers() -> None:
    """A period that follows a hundred idle ones begins at a multiple of the period, not with the trigger."""
    with bench_switch(STAR, "s1", _settings()) as switch:
        assert _is_signalled(switch, 0)
        later_us = 100 * PERIOD_US
        assert _is_signalled(switch, later_us + 4_000)
        assert not _is_signalled(switch, later_us + 4_999)
        assert _is_signalled(switch, later_us + 5_000)


def test_a_period_longer_than_a_word_of_microseconds() -> None:
    """A period of 10 s of model time has 10^10 us at dilation 1000, more than 32 bits, so it has coarser ticks."""
    longest = _settings(suppression_ns=10_000_000_000)
    with bench_switch(STAR, "s1", longest) as switch:
        period_us = 10_000_000_000
        assert _is_signalled(switch, 1_000)
        assert not _is_signalled(switch, round(0.99 * period_us))
        assert _is_signalled(switch, round(1.01 * period_us))


@pytest.mark.parametrize("lag_us", [2_000, -2_000])
def test_a_clock_with_an_offset_has_the_periods_of_the_others(lag_us: int) -> None:
    """BMv2's clock starts with its process. The command is corrected in the same way as for BMv2."""
    with bench_switch(STAR, "s1", _settings()) as switch:
        commands = pipeline_commands(STAR, "s1", _settings(), DILATION, seed=1)
        [line] = [adapted for command in commands if (adapted := in_phase(command, lag_us * US)) is not command]
        switch.engine.command(str(line))
        starts_us = [PERIOD_US * number - lag_us for number in (2, 3)]
        assert _is_signalled(switch, starts_us[0])
        assert not _is_signalled(switch, starts_us[1] - 1)
        assert _is_signalled(switch, starts_us[1])
