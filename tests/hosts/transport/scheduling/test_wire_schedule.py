# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the wire schedule: exact times, order of classes, fairness and late callers."""

from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.contract.link import IP_A, IP_B, MAC_A, MAC_B, FakeLink, bts
from sfc_testbed.hosts.transport.algorithms import Algorithms
from sfc_testbed.hosts.transport.messages import NicAddress, OutgoingMessage
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.scheduling.wire_schedule import WireSchedule
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.roce.decoder import parse_header
from sfc_testbed.wire.roce.packets import Opcode
from tests.wire.test_roce import header_of


@given(st.lists(st.integers(60, 1500), min_size=1, max_size=50), st.integers(1_000, 400_000_000_000))
def test_a_busy_wire_never_drifts(sizes: list[int], rate_bps: int) -> None:
    """The last frame ends at total bits / rate, rounded down to 1 ns, for any rate."""
    schedule = WireSchedule(rate_bps, 1500)
    schedule.clock_ns = 1_000
    for size in sizes:
        schedule.send_control(bytes(size))
    end_ns = 1_000 + sum(sizes) * 8_000_000_000 // rate_bps
    schedule.advance(end_ns)
    frames = schedule.finished(end_ns)
    assert [len(frame) for _, frame in frames] == sizes
    assert frames[-1][0] == end_ns


def nic(**changes: object) -> Nic:
    address = NicAddress("a", MAC_A, IP_A, MAC_B)
    return Nic(address, Algorithms(TransportSettings(**changes), Dilation(1)))  # type: ignore[arg-type]


def test_frames_leave_back_to_back_at_line_rate() -> None:
    """A frame of 1058 B takes 84.64 ns at 100 Gb/s."""
    sender = nic()
    sender.send_message(OutgoingMessage(1, 1, 1, IP_B, 100_000, 500))
    frames = sender.frames_to_send(10_000)
    assert [end_ns for end_ns, _ in frames[:3]] == [584, 669, 753]
    assert frames[98][0] == 500 + 99 * 1058 * 8 // 100


def test_a_late_caller_gets_the_same_frames_and_times_as_a_frequent_one() -> None:
    late, often = nic(), nic()
    for sender in (late, often):
        sender.send_message(OutgoingMessage(1, 1, 1, IP_B, 10_000, 100))
        sender.send_message(OutgoingMessage(2, 2, 2, IP_B, 10_000, 300))
    frames = [frame for now_ns in range(0, 3_000) for frame in often.frames_to_send(now_ns)]
    assert late.frames_to_send(3_000) == frames


def test_a_late_caller_does_not_delay_the_effect_of_a_signal() -> None:
    """Frames due before the BTS arrived leave; later frames do not."""
    link = FakeLink(TransportSettings(flow_control="sfc"))
    link.transfer(100_000)
    link.a.receive(bts(1, 100), 1_000)
    frames = link.a.frames_to_send(50_000)
    assert frames[-1][0] - 85 <= 1_000 < frames[-1][0] + 85
    assert link.a.next_timer_ns() == 101_000


def test_acknowledgements_go_before_data() -> None:
    """A host that sends and receives at line rate answers within a frame's time."""
    link = FakeLink()
    link.transfer(500_000)
    link.transfer(500_000, backwards=True)
    link.run()
    wait_times_ns = []
    arrivals = iter(
        [time for time, name, frame in link.delivered if name == "b" and header_of(frame).opcode != Opcode.ACKNOWLEDGE]
    )
    for end_ns, name, frame in link.sent:
        if name == "b" and header_of(frame).opcode == Opcode.ACKNOWLEDGE:
            wait_times_ns.append(end_ns - next(arrivals))
    assert len(wait_times_ns) == 500
    assert max(wait_times_ns) <= 2 * 85 + 5


def test_queue_pairs_share_the_wire_by_bytes() -> None:
    link = FakeLink()
    link.transfer(400_000, qpn=1)
    for _ in range(1000):
        link.transfer(100, qpn=2)
    link.run(until_ns=20_000)
    sent = {101: 0, 102: 0}
    for end_ns, name, frame in link.sent:
        header = parse_header(frame)
        if name == "a" and header is not None and end_ns < 8_000:
            sent[header.destination_qpn] += len(frame)
    assert abs(sent[101] - sent[102]) <= 2 * 1058


def test_queue_pairs_with_full_frames_alternate_from_the_first_turn() -> None:
    link = FakeLink()
    for qpn in (1, 2, 3):
        link.transfer(20_000, qpn=qpn)
    link.run(until_ns=2_000)
    headers = [parse_header(frame) for _, name, frame in link.sent if name == "a"]
    assert [header.destination_qpn for header in headers[:9] if header is not None] == 3 * [101, 102, 103]


def test_a_quiesced_nic_sends_nothing_but_counts_arriving_frames() -> None:
    link = FakeLink()
    link.transfer(100_000)
    link.run(until_ns=2_000)
    link.a.quiesce()
    sent = link.a.statistics().frames_sent
    link.run()
    assert link.a.next_timer_ns() is None
    assert link.a.frames_to_send(1 << 40) == []
    assert link.a.statistics().frames_sent == sent == link.b.statistics().frames_received
    assert link.a.statistics().frames_received > 0
    (report,) = link.a.unfinished_messages()
    assert 0 < report.figures.packets_sent <= 100
