# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of messages that are handed to NICs as they start."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sfc_testbed.hosts.build import build_nics
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.testbed.plan.checks import numbered
from sfc_testbed.testbed.virtual.flow_starts import FlowStarts
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire.dilation import Dilation

NETWORK = shape("star", {"hosts": 4}).build()


def _starts(*requests: FlowRequest, only: Sequence[str] | None = None, stalling: Sequence[str] = ()) -> FlowStarts:
    nics = build_nics(NETWORK, (), TransportSettings(), Dilation(10), only=only)
    return FlowStarts(NETWORK, numbered(requests, NETWORK), nics, Dilation(10), stalling)


def _message(src: str, dst: str, start_ns: int) -> FlowRequest:
    return FlowRequest(src, dst, 1_000, start_ns, "x")


def test_messages_are_handed_over_up_to_an_instant() -> None:
    starts = _starts(_message("h2", "h1", 7), _message("h1", "h3", 5), _message("h3", "h1", 8))
    assert starts.next_ns == 50
    assert starts.hand_over(49) == []
    assert starts.hand_over(70) == [0, 1]
    assert starts.next_ns == 80
    starts.stop()
    assert (starts.next_ns, starts.hand_over(NEVER - 1)) == (NEVER, [])


def test_a_share_has_the_messages_of_its_own_hosts() -> None:
    starts = _starts(_message("h1", "h2", 1), _message("h3", "h1", 2), _message("h3", "h4", 3), only=("h1", "h2"))
    assert starts.hand_over(20) == [0]
    assert starts.next_ns == NEVER


@pytest.mark.parametrize(("stalling", "next_ns"), [((), 20), (("h2",), NEVER)])
def test_messages_that_wait_and_messages_of_stalling_hosts_are_handed_over_at_once(
    stalling: Sequence[str], next_ns: int
) -> None:
    waiting = FlowRequest("h1", "h2", 1_000, 0, "x", after=(1,))
    starts = _starts(_message("h2", "h1", 2), waiting, stalling=stalling)
    assert starts.next_ns == next_ns
