# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the figures about packets that others have overtaken, with packets held back on purpose."""

from __future__ import annotations

import pytest

from sfc_testbed.contract.link import FakeLink
from sfc_testbed.hosts.transport.messages import MessageReceived
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.telemetry.figures import ReceiverFigures
from sfc_testbed.wire.constants import PSN_MASK
from sfc_testbed.wire.roce.decoder import parse_header
from sfc_testbed.wire.roce.packets import SENT_AGAIN

PACKETS = 40
FULL_PACKET_NS = 90
"""A little more than the time of a full frame at 100 Gb/s."""


def _psn(name: str, frame: bytes) -> int:
    """Return the PSN of a data packet that is sent for the first time, or -1 for any other frame."""
    header = parse_header(frame)
    is_first = name == "a" and header is not None and header.is_data and not header.psn_word(frame) & SENT_AGAIN
    return header.psn_word(frame) & PSN_MASK if header is not None and is_first else -1


def _received(
    recovery: str, held_ns: dict[int, int], lost: frozenset[int] = frozenset()
) -> tuple[ReceiverFigures, int]:
    """Transfer a message with packets that arrive later by `held_ns`; return its figures and the packets resent."""
    link = FakeLink(TransportSettings(loss_recovery=recovery), drop=lambda _, name, frame: _is_dropped(name, frame))

    def _is_dropped(name: str, frame: bytes) -> bool:
        psn = _psn(name, frame)
        if psn in held_ns:
            link.inject(link.now_ns + 5_000 + held_ns[psn], link.b, frame)
        return psn in held_ns or psn in lost

    link.transfer(1_000 * PACKETS)
    link.run()
    [received] = link.of(MessageReceived, "b")
    [sent] = link.of(Transmission, "a")
    return received.figures, sent.figures.packets_resent


@pytest.mark.parametrize("recovery", ["irn", "go-back-n", "ndp"])
def test_in_order_packets_have_no_distance(recovery: str) -> None:
    figures, resent = _received(recovery, {})
    assert (figures.packets_reordered, figures.reordering_max, figures.reordering_mean, resent) == (0, 0, 0.0, 0)


@pytest.mark.parametrize("recovery", ["irn", "ndp"])
def test_distances_are_in_packets(recovery: str) -> None:
    """Packet 5 arrives after 8, and packet 20 after 21."""
    figures, _ = _received(recovery, {5: 3 * FULL_PACKET_NS, 20: FULL_PACKET_NS})
    assert (figures.packets_reordered, figures.reordering_max) == (2, 3)
    assert figures.reordering_mean == pytest.approx(2.0)


def test_go_back_n_counts_the_late_packet_and_not_what_it_sends_again() -> None:
    """Packets 6 to 8 are dropped by the receiver and sent again, but only packet 5 was overtaken."""
    figures, resent = _received("go-back-n", {5: 3 * FULL_PACKET_NS})
    assert resent >= 3
    assert (figures.packets_reordered, figures.reordering_max) == (1, 3)


@pytest.mark.parametrize("recovery", ["irn", "go-back-n"])
def test_retransmissions_of_lost_packets_do_not_count(recovery: str) -> None:
    figures, resent = _received(recovery, {}, frozenset({7}))
    assert resent >= 1
    assert (figures.packets_reordered, figures.reordering_max) == (0, 0)


def test_a_hole_behind_another_hole_counts() -> None:
    """Packet 5 is lost for the moment; packet 7 arrives after 9 and out of order, before the gap at 5 closes."""
    figures, _ = _received("irn", {7: 2 * FULL_PACKET_NS}, frozenset({5}))
    assert (figures.packets_reordered, figures.reordering_max) == (1, 2)
