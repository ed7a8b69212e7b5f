# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the NIC as BFC's first hop: a queue for each flow, which frames pause and resume."""

import pytest

from sfc_testbed.contract.link import MAC_B, FakeLink
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.wire.constants import CLASS_DATA, QUEUE_PAUSE_QUANTA
from sfc_testbed.wire.pfc import quanta_ns
from sfc_testbed.wire.queue_pause import QueuePause, pack_frame

BFC = TransportSettings(flow_control="bfc", congestion="none", loss_recovery="go-back-n")
MOST_UNITS = 65_535


def pause(queue: int, units: int, traffic_class: int = CLASS_DATA) -> bytes:
    return pack_frame(MAC_B, QueuePause(traffic_class, queue, units))


def two_flows(*arrivals: tuple[int, bytes], settings: TransportSettings = BFC) -> FakeLink:
    """Run two flows of 100 kB of the queue pairs 1 and 2, while frames arrive at their NIC."""
    link = FakeLink(settings)
    link.transfer(100_000)
    link.transfer(100_000)
    for at_ns, frame in arrivals:
        link.inject(at_ns, link.a, frame)
    link.run()
    return link


def finishes(link: FakeLink) -> dict[int, int]:
    return {event.message.flow_id: event.finish_ns for event in link.of(Transmission, "a")}


def test_data_packets_name_the_queue_of_their_flow() -> None:
    link = two_flows()
    queues = {(int.from_bytes(frame[34:36], "big") & 0xFF, frame[7]) for _, name, frame in link.sent if name == "a"}
    assert queues == {(1, 1), (2, 2)}
    assert {frame[7] for _, name, frame in link.sent if name == "b"} == {0}, "ACKs have queue 0"


def test_other_flow_controls_name_no_queue() -> None:
    link = two_flows(settings=TransportSettings(flow_control="pfc"))
    assert {frame[7] for _, _, frame in link.sent} == {0}


def test_a_pause_holds_one_flow_until_the_resume() -> None:
    link = two_flows((2_000, pause(1, MOST_UNITS)), (50_000, pause(1, 0)))
    assert finishes(link)[2] < 50_000 < finishes(link)[1]
    starts = [start for start, *_ in link.data_sent() if 2_000 < start < 100_000]
    assert max(starts) >= 50_000
    [first] = [event for event in link.of(Transmission, "a") if event.message.flow_id == 1]
    assert first.figures.paused_us == 48


def test_a_pause_without_a_resume_ends_after_its_time() -> None:
    end_ns = 2_000 + quanta_ns(100 * QUEUE_PAUSE_QUANTA, BFC.line_rate_bps)
    assert end_ns < finishes(two_flows((2_000, pause(1, 100))))[1] < end_ns + 30_000


@pytest.mark.parametrize(
    "frame",
    [pause(3, MOST_UNITS), pause(0, MOST_UNITS), pause(1, MOST_UNITS, traffic_class=0)],
    ids=["another queue", "queue 0", "another class"],
)
def test_other_pauses_hold_no_flow(frame: bytes) -> None:
    assert finishes(two_flows((2_000, frame))) == finishes(two_flows())


def test_a_new_message_of_a_paused_queue_waits() -> None:
    """The queue pair has no message when the pause arrives, and a new sender when it gets one."""
    link = FakeLink(BFC)
    link.transfer(1_000, qpn=7)
    link.transfer(1_000, qpn=7, ready_ns=60_000)
    link.inject(50_000, link.a, pause(7, MOST_UNITS))
    link.inject(90_000, link.a, pause(7, 0))
    link.run()
    assert [event.finish_ns > 90_000 for event in link.of(Transmission, "a")] == [False, True]


def test_flow_controls_without_queues_count_the_frame_and_go_on() -> None:
    settings = TransportSettings(flow_control="pfc")
    link = two_flows((2_000, pause(1, MOST_UNITS)), settings=settings)
    assert finishes(link) == finishes(two_flows(settings=settings))
    assert (link.a.statistics().pfc_received, link.a.statistics().pauses) == (1, 0)
