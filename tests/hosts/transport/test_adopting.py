# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of a NIC whose settings change while it is active, and of the state that it reports."""

from dataclasses import replace

import pytest

from sfc_testbed.contract.link import FakeLink, bts
from sfc_testbed.hosts.transport.algorithms import Algorithms
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


def test_a_nic_with_another_rate_sends_at_it_and_opens_windows_for_it() -> None:
    """500 KB take 40 us at 100 Gb/s. The second message starts when the link has 25 Gb/s, the first one goes on."""
    link = FakeLink(replace(SFC, bdp_bytes=100_000))
    link.a.plan_rate(20_000, Algorithms(replace(SFC, bdp_bytes=100_000).at_rate(25 * 10**9), Dilation()))
    link.transfer(500_000)
    link.transfer(500_000, ready_ns=30_000)
    link.run(until_ns=10_000)
    assert link.a.wire_rate_bps == 100 * 10**9
    link.run(until_ns=40_000)
    old, new = link.a.state().messages
    assert (old.window_bytes, new.window_bytes, link.a.wire_rate_bps) == (100_000, 25_000, 25 * 10**9)
    link.run()
    ended_ns = max(event.received_ns for event in link.of(MessageReceived, "b"))
    assert ended_ns > 20_000 + (1_000_000 * 8 - 20_000 * 100) / 25


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
