# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A 16:1 incast into a small buffer with every combination of algorithms."""

import itertools

import pytest

from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS
from sfc_testbed.hosts.transport.flow_control import FLOW_CONTROLS
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES
from sfc_testbed.hosts.transport.messages import MessageReceived
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission
from tests.hosts.transport.fake_star import FakeStar

SENDERS = 16
BYTES = 30_001


@pytest.mark.parametrize(
    ("congestion", "flow_control", "loss_recovery"),
    list(itertools.product(CONGESTION_CONTROLS, FLOW_CONTROLS, LOSS_RECOVERIES)),
)
def test_every_combination_survives_an_incast_with_drops(
    congestion: str, flow_control: str, loss_recovery: str
) -> None:
    settings = TransportSettings(
        congestion=congestion, flow_control=flow_control, loss_recovery=loss_recovery, rto_ns=320_000
    )
    star = FakeStar(settings, SENDERS + 1, ecn_threshold_bytes=20_000, with_telemetry=True, buffer_bytes=100_000)
    for source in range(SENDERS):
        star.transfer(source, SENDERS, BYTES)
    star.run()
    received = star.of(MessageReceived, SENDERS)
    assert [event.figures.corrupted for event in received] == [False] * SENDERS
    counts = [event.figures for source in range(SENDERS) for event in star.of(Transmission, source)]
    assert len(counts) == SENDERS
    assert sum(count.packets_resent for count in counts) >= star.drops > 0
    assert sum(count.packets_sent - count.packets_resent for count in counts) == SENDERS * 31
