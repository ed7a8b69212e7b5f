# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of a 16:1 incast into a small buffer with every combination of algorithms."""

import itertools

import pytest

from hosts.transport.congestion import CONGESTION_CONTROLS
from hosts.transport.flow_control import FLOW_CONTROLS
from hosts.transport.loss_recovery import LOSS_RECOVERIES
from hosts.transport.messages import MessageCompleted, MessageReceived, SendingReport
from hosts.transport.settings import TransportSettings
from tests.hosts.transport.fake_star import FakeStar

SENDERS = 16
BYTES = 30_001


def incast(congestion: str, flow_control: str, loss_recovery: str, *, buffer_bytes: int) -> FakeStar:
    settings = TransportSettings(
        congestion=congestion, flow_control=flow_control, loss_recovery=loss_recovery, rto_ns=320_000
    )
    star = FakeStar(settings, SENDERS + 1, ecn_threshold_bytes=20_000, with_telemetry=True, buffer_bytes=buffer_bytes)
    for source in range(SENDERS):
        star.transfer(source, SENDERS, BYTES)
    star.run()
    return star


def reports(star: FakeStar) -> list[SendingReport]:
    return [event.report for source in range(SENDERS) for event in star.of(MessageCompleted, source)]


@pytest.mark.parametrize(
    ("congestion", "flow_control", "loss_recovery"),
    list(itertools.product(CONGESTION_CONTROLS, FLOW_CONTROLS, LOSS_RECOVERIES)),
)
def test_every_combination_survives_an_incast_with_drops(
    congestion: str, flow_control: str, loss_recovery: str
) -> None:
    star = incast(congestion, flow_control, loss_recovery, buffer_bytes=100_000)
    received = star.of(MessageReceived, SENDERS)
    assert [event.corrupted for event in received] == [False] * SENDERS
    completed = reports(star)
    assert len(completed) == SENDERS
    assert star.drops > 0
    assert sum(report.counts.packets_resent for report in completed) >= star.drops
    assert sum(report.counts.packets_sent - report.counts.packets_resent for report in completed) == SENDERS * 31


@pytest.mark.parametrize("congestion", ["none", "window"])
def test_irn_resends_less_than_go_back_n(congestion: str) -> None:
    resent = {
        name: sum(
            report.counts.bytes_resent for report in reports(incast(congestion, "none", name, buffer_bytes=200_000))
        )
        for name in ("irn", "go-back-n")
    }
    assert 0 < resent["irn"] < resent["go-back-n"]
