# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Signals that are followed at the prompt are in order of time, although agents report them one after the other."""

from __future__ import annotations

from math import inf

from sfc_testbed.hosts.protocol import Signal
from sfc_testbed.testbed.live.session.journal import Journal
from sfc_testbed.testbed.prompt.following import SignalsInOrder


def _signal(received_us: float) -> Signal:
    return Signal(
        sent_us=received_us - 1,
        received_us=received_us,
        host="h1",
        flow_id=1,
        switch="tor2",
        cause="queue",
        pause_us=10.0,
        queue_depth_bytes=300_000,
        cacheable=True,
        obeyed=True,
        paused_until_us=received_us + 10,
    )


def _received(journal: Journal, *times_us: float) -> None:
    journal.take([_signal(time_us) for time_us in times_us])


def test_signals_of_two_agents_are_merged_by_time() -> None:
    """The second agent reports signals that are older than the newest one of the first agent."""
    journal = Journal()
    _received(journal, 1.0)
    signals = SignalsInOrder(journal)
    _received(journal, 23.5, 27.2)
    assert signals.received_until(20) == []
    _received(journal, 26.4, 28.0)
    assert [signal.received_us for signal in signals.received_until(27.2)] == [23.5, 26.4, 27.2]
    _received(journal, 29.0)
    assert [signal.received_us for signal in signals.received_until(inf)] == [28.0, 29.0]
    assert (signals.count, signals.received_until(inf)) == (5, [])
