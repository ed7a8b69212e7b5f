# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Packet tests of pauses in `sfc-prototype` and `sfc-prototype-p`. Expectations come from facts about the program.

Each docstring begins with the case of the public test file `switch_sfc_signal.py` to which it corresponds, if any.
test_frames.py compares whole frames. `SfcSignalNormalPortForClone` needs Tofino's model: it looks at the copy before
its second pass, with the header for the processor, on an ordinary port. Our recirculation port has no wire.
"""

from __future__ import annotations

from math import ceil

import pytest

from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.fixed_point import commands_at
from sfc_testbed.wire.dilation import Dilation
from tests.switch_bmv2.bench_switch import CLOS, FRAME, UPLINK, US, BenchSwitch, Departure, arriving_pause, bench_switch
from tests.switch_bmv2.prototype.one_switch import (
    CELL_BYTES,
    OVER,
    QUEUE,
    SENDER,
    SENDER_PORT,
    occupy,
    prototype,
    set_depth,
    star,
)

CELLS_PER_US = {25: 16, 50: 32, 100: 64, 200: 64, 400: 64}
"""Rate in Gb/s -> cells above the target that make a microsecond of pause."""
QUANTA_PER_US = {25: 48, 50: 96, 100: 192, 200: 384, 400: 768}
FIRST_OVERFLOW_US = {25: 1200, 50: 683, 100: 320, 200: 171, 400: 86}
"""Rate in Gb/s -> shortest pause that becomes 65535 quanta."""
CELLS = (1, 16, 63, 64, 256, 4_095, 4_096, 65_535, 65_536, 500_000)
DILATIONS = (1, 1_000, 30_000)
EVERY_RATE = pytest.mark.parametrize("rate_gbps", CELLS_PER_US)
AT_ANY_DILATION = pytest.mark.parametrize("dilation", DILATIONS)


def _signal(switch: BenchSwitch, cells: int, *, depth_bytes: int = OVER) -> Departure | None:
    """Return what the sender gets for a packet over the threshold, when the last departure noted these cells."""
    occupy(switch)
    set_depth(switch, depth_bytes)
    switch.engine.command(f"register_write departure_cells {QUEUE} {cells}")
    departures = switch.send(switch.data(SENDER, "h4"), SENDER_PORT, 0)
    to_sender = [departure for departure in departures if departure.port == SENDER_PORT]
    return to_sender[0] if to_sender else None


def _expected_us(rate_gbps: int, cells: int) -> int:
    return min(cells, 0x7FFFF) // CELLS_PER_US[rate_gbps]


def _expected_quanta(rate_gbps: int, pause: int) -> int:
    return 0xFFFF if pause >= FIRST_OVERFLOW_US[rate_gbps] else pause * QUANTA_PER_US[rate_gbps]


@EVERY_RATE
@AT_ANY_DILATION
def test_the_pause_is_a_fixed_share_of_the_noted_cells(rate_gbps: int, dilation: int) -> None:
    """SfcSignalTimeConversion.TestSfcPauseTime, at five rates instead of three. A pause of 0 us is not sent.

    The public case expects 2, 4 and 8 cells for a microsecond, but the program divides the cells by eight first.
    """
    for cells in CELLS:
        settings = prototype(suppression_ns=0)
        with bench_switch(star(rate_gbps), "s1", settings, dilation=Dilation(dilation)) as switch:
            signal = _signal(switch, cells)
        expected_us = _expected_us(rate_gbps, cells)
        assert (signal is not None) == (expected_us > 0), cells
        if signal is not None:
            assert signal.is_bts
            assert signal.bts.pause_us == expected_us, cells


@EVERY_RATE
@AT_ANY_DILATION
def test_the_pause_frame_has_a_fixed_number_of_quanta_for_a_microsecond(rate_gbps: int, dilation: int) -> None:
    """SfcSignalTimeConversion.TestPfcPauseQuota, at five rates instead of three, and at the overflow."""
    first_us = FIRST_OVERFLOW_US[rate_gbps]
    pauses_us = {1, 2, 7, first_us - 1, first_us, first_us + 1, 2_000}
    for pause in sorted(pauses_us):
        settings = prototype(suppression_ns=0, sfc_p=True)
        with bench_switch(star(rate_gbps), "s1", settings, dilation=Dilation(dilation)) as switch:
            signal = _signal(switch, pause * CELLS_PER_US[rate_gbps])
        assert signal is not None
        assert signal.is_pause
        assert signal.pause == (3, _expected_quanta(rate_gbps, pause)), pause


@EVERY_RATE
def test_every_pause_frame_is_rounded_up_without_the_factor(rate_gbps: int) -> None:
    """The paper's conversion, which the setting `sfc_p_quanta` replaces: 512 bit times are a quantum."""
    with bench_switch(star(rate_gbps), "s1", prototype(sfc_p=True, sfc_p_quanta="exact")) as switch:
        signal = _signal(switch, 10 * CELLS_PER_US[rate_gbps])
    assert signal is not None
    assert signal.pause == (3, -(-10 * rate_gbps * 1_000 // 512))


def test_a_pause_that_overflows_is_not_continued() -> None:
    """With exact quanta the first packet after the frame's end gets the rest of the pause; the prototype forgets it."""
    for quanta, frames in (("shifts", 1), ("exact", 2)):
        settings = prototype(sfc_p=True, sfc_p_quanta=quanta, suppression_ns=0)
        with bench_switch(star(), "s1", settings) as switch:
            signal = _signal(switch, 600 * 64)  # 600 us, of which 65535 quanta are 335.5 us
            assert signal is not None
            assert signal.pause == (3, 0xFFFF)
            switch.run_dry()
            set_depth(switch, 0)
            after_ns = 400 * 1_000 * US
            later = [*switch.send(switch.data(SENDER, "h4"), SENDER_PORT, after_ns), *switch.run_dry()]
            assert 1 + len([departure for departure in later if departure.is_pause]) == frames


@EVERY_RATE
def test_shifts_apply_to_the_current_depth_as_well(rate_gbps: int) -> None:
    """`pause_method` by itself: cells of the bytes above the target, in groups of eight."""
    settings = prototype(depth_source="current", suppression_ns=0)
    for excess_cells in (0, 7, 8, 800, 65_536):
        depth_bytes = 100 * CELL_BYTES + excess_cells * CELL_BYTES + CELL_BYTES - 1
        with bench_switch(star(rate_gbps), "s1", settings) as switch:
            signal = _signal(switch, 0, depth_bytes=depth_bytes - FRAME)  # the packet that triggers has joined
        expected_us = excess_cells // CELLS_PER_US[rate_gbps]
        assert (0 if signal is None else signal.bts.pause_us) == expected_us, excess_cells


@EVERY_RATE
def test_the_noted_depth_may_give_an_exact_pause(rate_gbps: int) -> None:
    """`depth_source` by itself: groups of eight cells, and the time in which the port sends them."""
    settings = prototype(pause_method="exact", suppression_ns=0, pause_rounding="up")
    for cells in (8, 100, 4_100):
        with bench_switch(star(rate_gbps), "s1", settings) as switch:
            signal = _signal(switch, cells)
        assert signal is not None
        exact_us = cells // 8 * 8 * CELL_BYTES * 8 / (rate_gbps * 1_000)
        assert signal.bts.pause_us == ceil(exact_us)


def test_a_signal_stays_a_signal_towards_a_switch_and_becomes_a_pause_towards_a_server() -> None:
    """SfcSignalRecircPortForClone.TestForLinkToTypeSwitch and TestForLinkToTypeServer.

    The public case has a pause of 0 us, which our switch does not send.
    """
    settings = prototype(sfc_p=True, suppression_ns=0)
    with bench_switch(CLOS, "tor1", settings) as switch:
        [frame] = switch.send(arriving_pause(40), UPLINK, 0)
        assert (frame.port, frame.is_pause, frame.pause) == (1, True, (3, 40 * 192))
    with bench_switch(CLOS, "tor2", settings) as switch:
        switch.send(switch.data("h1", "h6", qpn=2), UPLINK, 0)
        set_depth(switch, OVER, "h6")
        switch.engine.command(f"register_write departure_cells {switch.port_of('h6') << 3 | 3} 640")
        departures = switch.send(switch.data("h1", "h6"), UPLINK, 0)
        [signal] = [departure for departure in departures if departure.port != switch.port_of("h6")]
        assert (signal.port in (UPLINK, UPLINK + 1), signal.is_bts, signal.bts.pause_us) == (True, True, 10)


def test_nothing_is_cached() -> None:
    """A BTS of another switch passes, and the next packet to its destination triggers nothing."""
    with bench_switch(CLOS, "tor1", prototype()) as switch:
        assert [departure.is_bts for departure in switch.send(arriving_pause(4_000), UPLINK, 0)] == [True]
        departures = switch.send(switch.data("h2", "h6"), 2, 1_000 * US) + switch.run_to(1_100 * US)
    assert not [departure for departure in departures if departure.is_bts]


@pytest.mark.parametrize("name", ["pause_method", "sfc_p_quanta"])
def test_a_rate_without_a_constant_is_refused(name: str) -> None:
    settings = prototype(pause_method="exact", sfc_p_quanta="exact").model_copy(update={name: "shifts"})
    problem = f"switch.{name}=shifts: the prototype has constants for links of 25, 50, 100, 200, 400 Gb/s only"
    with pytest.raises(UsageError, match=problem):
        commands_at(star(10), settings, Dilation(1_000), seed=1)
