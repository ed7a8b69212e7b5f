# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What an acknowledgement says of packets: the round trip of the one it is about, and the telemetry it echoes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hosts.transport.congestion.base import telemetry_of
from hosts.transport.congestion.samples import AckSamples
from wire.int_header import HopRecord, Telemetry, pack, unpack

_WORDS = st.integers(0, 2**32 - 1)
_RECORDS = st.builds(HopRecord, _WORDS, _WORDS, _WORDS, _WORDS)
_STEPS = st.lists(
    st.one_of(
        st.just(("sent", 0)),
        st.tuples(st.just("again"), st.integers(0, 40)),
        st.tuples(st.just("selective"), st.integers(0, 40)),
        st.tuples(st.just("cumulative"), st.integers(1, 40)),
    ),
    max_size=120,
)


@given(_STEPS, st.integers(0, 100))
def test_a_round_trip_is_known_once_and_only_of_what_was_sent_once(steps: list[tuple[str, int]], first: int) -> None:
    """Whichever packets are acknowledged, in whatever order, however many are on their way."""
    samples = AckSamples()
    left_ns: dict[int, int] = {}
    cumulative = following = first
    for now_ns, (what, offset) in enumerate(steps):
        index = cumulative + offset
        if what == "sent":
            samples.sent(following, 1000, now_ns)
            left_ns[following] = now_ns
            following += 1
        elif index > following or (index == following and what != "cumulative"):
            continue
        elif what == "again":
            samples.sent_again(index)
            left_ns.pop(index, None)
        else:
            about = index if what == "selective" else index - 1
            cumulative = cumulative if what == "selective" else index
            sample = samples.take(cumulative, index if what == "selective" else -1, 0, 0, False, b"", now_ns)
            sent_ns = left_ns.pop(about, None)
            assert sample.rtt_ns == (None if sent_ns is None else now_ns - sent_ns)
            left_ns = {each: when for each, when in left_ns.items() if each >= cumulative}


def test_indices_may_leap() -> None:
    """As the first of a queue pair that had idled does: what came before is none of its packets."""
    samples = AckSamples()
    for index in range(40):
        samples.sent(index, 1000, index)
    samples.sent(1_000, 1000, 77)
    assert samples.take(40, -1, 0, 0, False, b"", 80).rtt_ns is None
    assert samples.take(1_001, -1, 0, 0, False, b"", 80).rtt_ns == 3


@given(st.lists(_RECORDS, max_size=5), st.none() | _RECORDS)
def test_an_echo_is_read_as_it_was_written(hops: list[HopRecord], stamp: HopRecord | None) -> None:
    """Hops in the order of the path, their numbers in ns and bit/s; the stamp gives the delay."""
    shim = pack(Telemetry(True, tuple(hops), stamp))
    delay_ns, found = telemetry_of(shim)
    assert delay_ns == (None if stamp is None else stamp.tx_bytes * 1000)
    assert [(each.rate_bps, each.stamp_ns, each.sent_bytes, each.queue_bytes) for each in found] == [
        (hop.rate_kbps * 1000, hop.time_us * 1000, hop.tx_bytes, hop.queue_bytes) for hop in reversed(unpack(shim).hops)
    ]
