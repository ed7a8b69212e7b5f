# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A NIC that changes its settings while it works, and what it tells of what it has in hand."""

import pytest

from hosts.transport.messages import BtsReceived, MessageCompleted, MessageReceived
from hosts.transport.settings import TransportSettings
from tests.hosts.transport.fake_link import FakeLink
from wire.dilation import Dilation

SFC = TransportSettings(flow_control="sfc", congestion="window", loss_recovery="irn")
HPCC = TransportSettings(flow_control="none", congestion="hpcc", loss_recovery="go-back-n")


def test_messages_begin_by_new_rules_and_end_by_their_own() -> None:
    """A windowed message goes on windowed while a new one carries telemetry; both arrive whole."""
    link = FakeLink(SFC)
    link.transfer(500_000)
    link.run(until_ns=20_000)
    for nic in (link.a, link.b):
        nic.adopt(HPCC, Dilation())
    link.transfer(500_000, ready_ns=20_000)
    link.run(until_ns=60_000)
    old, new = link.a.state().messages
    assert (old.report.message.flow_id, new.report.message.flow_id) == (1, 2)
    assert old.window_bytes == 125_000
    link.run()
    assert [event.corrupted for event in link.of(MessageReceived, "b")] == [False, False]
    assert len(link.of(MessageCompleted, "a")) == 2
    assert link.a.statistics().timeouts == 0


def test_signals_are_obeyed_as_the_rules_of_now_say() -> None:
    """After a change to a flow control that ignores BTS they are counted as ignored, and the other way round."""
    link = FakeLink(SFC)
    link.transfer(2_000_000)
    link.inject(10_000, link.a, link.bts(1, 5))
    link.run(until_ns=30_000)
    link.a.adopt(HPCC, Dilation())
    link.inject(40_000, link.a, link.bts(1, 5))
    link.run(until_ns=50_000)
    link.a.adopt(SFC, Dilation())
    link.inject(60_000, link.a, link.bts(1, 5))
    link.run()
    assert [event.reason for event in link.of(BtsReceived, "a")] == ["obeyed", "flow_control_off", "obeyed"]


def test_what_is_not_known_changes_nothing() -> None:
    """An unknown parameter is refused before anything is taken over."""
    link = FakeLink(SFC)
    with pytest.raises(ValueError, match="unknown parameter"):
        link.a.adopt(TransportSettings(congestion="hpcc", congestion_parameters={"nonsense": 1}), Dilation())
    link.transfer(10_000)
    link.inject(1_000, link.a, link.bts(1, 5))
    link.run()
    assert [event.obeyed for event in link.of(BtsReceived, "a")] == [True]


def test_the_state_tells_progress_and_pause() -> None:
    """Acknowledged and in flight make up what was sent; a paused message says until when; a done one is gone."""
    link = FakeLink(SFC)
    link.transfer(1_000_000)
    link.inject(50_000, link.a, link.bts(1, 40))
    link.run(until_ns=70_000)
    [message] = link.a.state().messages
    assert message.paused_until_ns == 90_000
    assert message.in_flight_bytes == 0
    assert 0 < message.acknowledged_bytes < 1_000_000
    assert message.acknowledged_bytes == 1000 * link.a.statistics().data_sent
    link.run()
    assert link.a.state().messages == []
