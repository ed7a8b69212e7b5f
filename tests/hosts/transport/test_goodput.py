# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What receivers got over time: intervals on one grid that together make the message."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hosts.transport.messages import Goodput, MessageReceived
from hosts.transport.settings import TransportSettings
from tests.hosts.transport.fake_link import FakeLink

INTERVAL_NS = 10_000


def intervals(link: FakeLink) -> list[Goodput]:
    """All of them, those that came with the end of a message included."""
    ends = [event.last for event in link.of(MessageReceived, "b")]
    return sorted([*link.of(Goodput, "b"), *ends], key=lambda each: (each.flow_id, each.from_ns))


@settings(deadline=None, max_examples=30)
@given(
    sizes=st.lists(st.integers(1, 400_000), min_size=1, max_size=4),
    loss=st.sampled_from([0.0, 0.05]),
    epoch_ns=st.sampled_from([0, 3_333]),
)
def test_intervals_make_the_message(sizes: list[int], loss: float, epoch_ns: int) -> None:
    """Whatever is lost or comes late: every byte in one interval, intervals of a flow ascending on the epoch's grid."""
    link = FakeLink(
        TransportSettings(goodput_interval_ns=INTERVAL_NS, loss_recovery="irn"), loss=loss, epoch_ns=epoch_ns
    )
    flows = {link.transfer(size): size for size in sizes}
    link.run()
    found = intervals(link)
    for flow, size in flows.items():
        own = [each for each in found if each.flow_id == flow]
        assert sum(each.size_bytes for each in own) == size
        assert all(each.size_bytes > 0 for each in own)
        assert len({each.from_ns for each in own}) == len(own)
    for each in found:
        assert (each.from_ns - epoch_ns) % INTERVAL_NS == 0
        assert each.until_ns - each.from_ns == INTERVAL_NS


def test_a_lone_message_arrives_at_line_rate() -> None:
    """125 KB an interval of 10 us at 100 Gb/s, less the headers, in all intervals but the first and the last."""
    link = FakeLink(TransportSettings(goodput_interval_ns=INTERVAL_NS))
    link.transfer(1_000_000)
    link.run()
    middle = intervals(link)[1:-1]
    assert len(middle) >= 6
    assert {each.size_bytes // 1000 for each in middle} <= {117, 118, 119}


def test_the_end_tells_what_had_arrived_until_then() -> None:
    """A message cut off by the end of the run."""
    link = FakeLink(TransportSettings(goodput_interval_ns=INTERVAL_NS))
    link.transfer(1_000_000)
    link.run(until_ns=32_000)
    link.b.end_intervals()
    told = link.of(Goodput, "b")
    last = link.b.next_event()
    assert isinstance(last, Goodput)
    assert [each.until_ns for each in [*told, last]] == [10_000, 20_000, 30_000, 40_000]
    assert 0 < last.size_bytes < told[-1].size_bytes


def test_intervals_count_from_where_they_were_told_to() -> None:
    """The instant of model time 0 is known long after the epoch and the messages that are to come."""
    start_ns = 3 * INTERVAL_NS + 777
    link = FakeLink(TransportSettings(goodput_interval_ns=INTERVAL_NS), epoch_ns=123)
    link.transfer(200_000, ready_ns=start_ns)
    link.b.count_intervals_from(start_ns)
    link.transfer(200_000, ready_ns=start_ns)
    link.run()
    found = intervals(link)
    assert min(each.from_ns for each in found) == start_ns
    assert all((each.from_ns - start_ns) % INTERVAL_NS == 0 for each in found)
    assert sum(each.size_bytes for each in found) == 400_000
