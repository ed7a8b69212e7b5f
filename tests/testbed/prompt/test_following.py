# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Signals that are followed at the prompt are in order of time, although agents report them one after the other."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from sfc_testbed.testbed.live.session.journal import Journal
from sfc_testbed.testbed.prompt.following import SignalsInOrder
from tests.hosts.test_protocol import SIGNAL


def _received(journal: Journal, *times_us: float) -> None:
    journal.take([replace(SIGNAL, received_us=time_us) for time_us in times_us])


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
