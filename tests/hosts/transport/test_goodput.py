# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the goodput intervals of receivers, which together contain every byte of a message."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sfc_testbed.contract.link import FakeLink, transferred
from sfc_testbed.hosts.transport.messages import Goodput, MessageReceived
from sfc_testbed.hosts.transport.settings import TransportSettings

INTERVAL_NS = 10_000


def intervals(link: FakeLink) -> list[Goodput]:
    """Return all goodput intervals, including those in the events of completed messages."""
    ends = [event.last for event in link.of(MessageReceived, "b")]
    return sorted([*link.of(Goodput, "b"), *ends], key=lambda event: (event.flow_id, event.from_ns))


@settings(deadline=None, max_examples=30)
@given(
    sizes=st.lists(st.integers(1, 400_000), min_size=1, max_size=4),
    loss=st.sampled_from([0.0, 0.05]),
    epoch_ns=st.sampled_from([0, 3_333]),
)
def test_intervals_contain_every_byte_once(sizes: list[int], loss: float, epoch_ns: int) -> None:
    """Intervals start at multiples of their length after the epoch, even with loss."""
    link = FakeLink(
        TransportSettings(goodput_interval_ns=INTERVAL_NS, loss_recovery="irn"), loss=loss, epoch_ns=epoch_ns
    )
    flows = {link.transfer(size): size for size in sizes}
    link.run()
    all_intervals = intervals(link)
    for flow, size in flows.items():
        flow_intervals = [interval for interval in all_intervals if interval.flow_id == flow]
        assert sum(interval.size_bytes for interval in flow_intervals) == size
        assert all(interval.size_bytes > 0 for interval in flow_intervals)
        assert len({interval.from_ns for interval in flow_intervals}) == len(flow_intervals)
    for interval in all_intervals:
        assert (interval.from_ns - epoch_ns) % INTERVAL_NS == 0
        assert interval.until_ns - interval.from_ns == INTERVAL_NS


def test_a_single_message_arrives_at_line_rate() -> None:
    """An interval of 10 us holds 125 KB at 100 Gb/s, minus the headers."""
    link = transferred(1_000_000, TransportSettings(goodput_interval_ns=INTERVAL_NS))
    middle = intervals(link)[1:-1]
    assert len(middle) >= 6
    assert {interval.size_bytes // 1000 for interval in middle} <= {117, 118, 119}


def test_end_intervals_reports_the_current_interval_of_an_unfinished_message() -> None:
    link = FakeLink(TransportSettings(goodput_interval_ns=INTERVAL_NS))
    link.transfer(1_000_000)
    link.run(until_ns=32_000)
    link.b.end_intervals()
    earlier = link.of(Goodput, "b")
    last = link.b.next_event()
    assert isinstance(last, Goodput)
    assert [interval.until_ns for interval in [*earlier, last]] == [10_000, 20_000, 30_000, 40_000]
    assert 0 < last.size_bytes < earlier[-1].size_bytes


def test_intervals_count_from_a_start_that_is_set_later() -> None:
    """The instant of model time 0 becomes known after the epoch and after messages are expected."""
    start_ns = 3 * INTERVAL_NS + 777
    link = FakeLink(TransportSettings(goodput_interval_ns=INTERVAL_NS), epoch_ns=123)
    link.transfer(200_000, ready_ns=start_ns)
    link.b.start(start_ns)
    link.transfer(200_000, ready_ns=start_ns)
    link.run()
    all_intervals = intervals(link)
    assert min(interval.from_ns for interval in all_intervals) == start_ns
    assert all((interval.from_ns - start_ns) % INTERVAL_NS == 0 for interval in all_intervals)
    assert sum(interval.size_bytes for interval in all_intervals) == 400_000
