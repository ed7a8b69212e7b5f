# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the incast estimator (paper section 3.3), with which a sender-side ToR predicts a receiver's queue."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire.constants import BtsCause
from sfc_testbed.wire.counters import BtsEvent
from tests.switch_bmv2.bench_switch import FRAME, US, bench_switch, signals

CLOS = shape("clos", {"hosts_per_tor": 8, "spines": 2}).build()
ESTIMATING = SwitchSettings(bts="ingress", pause_cache=True, estimator=True, pause_rounding="up")
EAGER = ESTIMATING.model_copy(update={"estimator_q_th_bytes": 0, "estimator_q_tg_bytes": 0})
TAU_US = 10_000
RATE_BYTES_PER_US = 12.5  # 100 Mb/s


def _model(times_us: list[int]) -> float:
    """Return X after frames at these times, in exact arithmetic (docs/sources.md#incast-estimator)."""
    value, last = 0.0, times_us[0]
    for time_us in times_us:
        value = value * math.exp(-(time_us - last) / TAU_US) + FRAME
        last = time_us
    return value


@pytest.mark.parametrize("gap_us", [1, 85, 700, 5_000, 40_000])
def test_estimate_follows_the_discounting_rate_estimator(gap_us: int) -> None:
    """X is the exponentially discounted number of bytes, within 1 %."""
    times = [gap_us * turn for turn in range(200)]
    with bench_switch(CLOS, "tor1", ESTIMATING) as switch:
        for turn, time_us in enumerate(times):
            switch.send(switch.data("h1", "h16", qpn=turn + 1), 1, time_us * US)
        assert switch.register("estimator_bytes", 7) == pytest.approx(_model(times), rel=0.01)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_estimate_never_exceeds_the_queue(seed: int) -> None:
    """The estimate is a lower bound of the queue of a port that is always busy (section 3.3).

    Eight senders send bursts of up to 400 packets at two to three times the rate, with gaps of up to two tau.
    """
    random = np.random.default_rng(seed)
    now_us, queue_bytes, most_bytes = 0, 0.0, 0.0
    tau_rate_bytes = TAU_US * RATE_BYTES_PER_US
    with bench_switch(CLOS, "tor1", ESTIMATING) as switch:
        for _ in range(6):
            gaps_us = [int(random.integers(0, 2 * TAU_US)), *random.integers(5, 60, random.integers(1, 400)).tolist()]
            for gap_us in gaps_us:
                now_us += gap_us
                queue_bytes = max(0.0, queue_bytes - gap_us * RATE_BYTES_PER_US) + FRAME
                port = int(random.integers(1, 9))
                switch.send(switch.data(f"h{port}", "h16"), port, now_us * US)
                estimate_bytes = switch.register("estimator_bytes", 7) - tau_rate_bytes
                most_bytes = max(most_bytes, estimate_bytes)
                assert estimate_bytes <= queue_bytes + FRAME / 100, "estimate above the queue, beyond rounding"
    assert most_bytes > 10 * FRAME, "no queue was estimated"


def test_one_sender_at_line_rate_is_no_incast() -> None:
    """X never exceeds tau R, so a single sender is not paused however long it sends."""
    with bench_switch(CLOS, "tor1", ESTIMATING) as switch:
        for turn in range(600):
            switch.send(switch.data("h1", "h16"), 1, int(turn * FRAME / RATE_BYTES_PER_US) * US)
        assert switch.counts().bts_sent == 0


def test_many_senders_are_paused_before_any_bts_arrives() -> None:
    """Eight local senders send at line rate to one remote receiver and get BTS of cause estimator.

    The thresholds of the estimator are 0, so the pause is (X - tau R) / R.
    """
    with bench_switch(CLOS, "tor1", EAGER) as switch:
        sent = []
        for turn in range(60):
            at_ns = int(turn * FRAME / RATE_BYTES_PER_US) * US
            for host in range(1, 9):
                sent += signals(switch.send(switch.data(f"h{host}", "h16"), host, at_ns))
        counts = switch.counts()
    assert {departure.bts.cause for departure in sent} == {BtsCause.ESTIMATOR}
    assert counts.bts[BtsEvent.SENT_ESTIMATOR] >= 8
    assert counts.bts[BtsEvent.SENT_QUEUE] == counts.bts[BtsEvent.SENT_CACHE] == 0
    assert sent[0].bts.pause_us == 1  # the first packets above tau R take less, which is rounded up


@pytest.mark.parametrize("thresholds", [(None, None), (60_000, 20_000), (40_000, None), (0, 0)])
def test_an_estimated_queue_pauses_like_a_measured_one(thresholds: tuple[int | None, int | None]) -> None:
    """Above Q_th the pause is (X - tau R - Q_tg) / R. By default the thresholds of measured queues apply."""
    q_th, q_tg = thresholds
    settings = ESTIMATING.model_copy(
        update={"q_th_bytes": 50_000, "q_tg_bytes": 30_000, "estimator_q_th_bytes": q_th, "estimator_q_tg_bytes": q_tg}
    )
    q_th, q_tg = (50_000 if q_th is None else q_th), (30_000 if q_tg is None else q_tg)
    tau_rate = round(TAU_US * RATE_BYTES_PER_US)
    for expected in (0, q_th, q_th + 105, 2 * q_th + 90_035):
        with bench_switch(CLOS, "tor1", settings) as switch:
            switch.engine.command(f"register_write estimator_bytes 7 {tau_rate + expected}")
            pauses = [bts.bts.pause_us for bts in signals(switch.send(switch.data("h1", "h16"), 1, 0))]
            pause_us = math.ceil((expected - q_tg) / RATE_BYTES_PER_US / 1000)
            assert pauses == ([pause_us] if expected > q_th else [])


def test_unwatched_or_local_destinations_are_not_estimated() -> None:
    """The queue of a receiver under the same ToR is measured, so no estimate is needed."""
    with bench_switch(CLOS, "tor1", ESTIMATING) as switch:
        for turn in range(300):
            switch.send(switch.data("h1", "h2"), 1, turn * US)
        assert switch.counts().bts[BtsEvent.SENT_ESTIMATOR] == 0
