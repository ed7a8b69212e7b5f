# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of a NIC whose settings change while it is active, and of the state that it reports."""

import pytest

from sfc_testbed.contract.link import FakeLink, bts
from sfc_testbed.hosts.transport.messages import BtsReceived, MessageReceived
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.wire.dilation import Dilation

SFC = TransportSettings(flow_control="sfc", congestion="window", loss_recovery="irn")
HPCC = TransportSettings(flow_control="none", congestion="hpcc", loss_recovery="go-back-n")


def test_new_settings_apply_only_to_new_messages() -> None:
    link = FakeLink(SFC)
    link.transfer(500_000)
    link.run(until_ns=20_000)
    for nic in (link.a, link.b):
        nic.adopt(HPCC, Dilation())
    link.transfer(500_000, ready_ns=20_000)
    link.run(until_ns=60_000)
    old, new = link.a.state().messages
    assert (old.transmission.message.flow_id, new.transmission.message.flow_id) == (1, 2)
    assert old.window_bytes == 125_000
    link.run()
    assert [event.figures.corrupted for event in link.of(MessageReceived, "b")] == [False, False]
    assert len(link.of(Transmission, "a")) == 2
    assert link.a.statistics().timeouts == 0


def test_signals_are_handled_by_the_current_flow_control() -> None:
    link = FakeLink(SFC)
    link.transfer(2_000_000)
    link.inject(10_000, link.a, bts(1, 5))
    link.run(until_ns=30_000)
    link.a.adopt(HPCC, Dilation())
    link.inject(40_000, link.a, bts(1, 5))
    link.run(until_ns=50_000)
    link.a.adopt(SFC, Dilation())
    link.inject(60_000, link.a, bts(1, 5))
    link.run()
    assert [event.reason for event in link.of(BtsReceived, "a")] == ["obeyed", "flow_control_off", "obeyed"]


def test_settings_with_an_unknown_parameter_change_nothing() -> None:
    link = FakeLink(SFC)
    with pytest.raises(ValueError, match="unknown parameter"):
        link.a.adopt(TransportSettings(congestion="hpcc", congestion_parameters={"nonsense": 1}), Dilation())
    link.transfer(10_000)
    link.inject(1_000, link.a, bts(1, 5))
    link.run()
    assert [event.obeyed for event in link.of(BtsReceived, "a")] == [True]


def test_the_state_contains_progress_and_pause_of_unfinished_messages() -> None:
    link = FakeLink(SFC)
    link.transfer(1_000_000)
    link.inject(50_000, link.a, bts(1, 40))
    link.run(until_ns=70_000)
    [message] = link.a.state().messages
    assert message.paused_until_ns == 90_000
    assert message.in_flight_bytes == 0
    assert 0 < message.acknowledged_bytes < 1_000_000
    assert message.acknowledged_bytes == 1000 * link.a.statistics().data_sent
    link.run()
    assert link.a.state().messages == []
