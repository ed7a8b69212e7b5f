# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of samples from acknowledgements: the RTT of the acknowledged packet and the echoed telemetry."""

from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.hosts.transport.congestion.samples import AckSamples
from sfc_testbed.hosts.transport.congestion.telemetry import GROWING, telemetry_of
from sfc_testbed.wire.int_header import HopRecord, Telemetry, pack, unpack

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
def test_the_rtt_is_measured_once_and_only_for_packets_sent_once(steps: list[tuple[str, int]], first: int) -> None:
    samples = AckSamples(GROWING)
    departures_ns: dict[int, int] = {}
    cumulative = next_index = first
    for now_ns, (kind, offset) in enumerate(steps):
        index = cumulative + offset
        if kind == "sent":
            samples.sent(next_index, 1000, now_ns)
            departures_ns[next_index] = now_ns
            next_index += 1
        elif index > next_index or (index == next_index and kind != "cumulative"):
            continue
        elif kind == "again":
            samples.sent_again(index, 0)
            departures_ns.pop(index, None)
        else:
            acknowledged = index if kind == "selective" else index - 1
            cumulative = cumulative if kind == "selective" else index
            sample = samples.take(cumulative, index if kind == "selective" else -1, 0, 0, False, b"", now_ns)
            sent_ns = departures_ns.pop(acknowledged, None)
            assert sample.rtt_ns == (None if sent_ns is None else now_ns - sent_ns)
            departures_ns = {packet: time_ns for packet, time_ns in departures_ns.items() if packet >= cumulative}


def test_resent_packets_have_the_rtt_of_their_latest_departure_if_that_is_possible() -> None:
    """With a shortest round trip of 50 ns, an acknowledgement 49 ns after the resend is for the first transmission."""
    samples = AckSamples(GROWING, 50)
    for index in range(4):
        samples.sent(index, 1000, 0)
    for index in (0, 1):
        samples.sent_again(index, 200)
    rtts_ns = [samples.take(0, index, 0, 0, False, b"", now_ns).rtt_ns for index, now_ns in ((2, 100), (0, 249))]
    rtts_ns += [samples.take(cumulative, -1, 0, 0, False, b"", 250).rtt_ns for cumulative in (2, 4)]
    assert rtts_ns == [100, None, 50, 250]


def test_a_resent_packet_that_closes_a_gap_is_the_one_that_is_timed() -> None:
    """The answers to packets 1 and 2 were lost, and packet 0 is resent."""
    samples = AckSamples(GROWING, 50)
    for index in range(3):
        samples.sent(index, 1000, index)
    samples.sent_again(0, 1_000)
    assert samples.take(3, -1, 0, 0, False, b"", 1_060).rtt_ns == 60


def test_indices_may_skip_numbers() -> None:
    """The first packet of a queue pair that was idle does not follow the packets before."""
    samples = AckSamples(GROWING)
    for index in range(40):
        samples.sent(index, 1000, index)
    samples.sent(1_000, 1000, 77)
    assert samples.take(40, -1, 0, 0, False, b"", 80).rtt_ns is None
    assert samples.take(1_001, -1, 0, 0, False, b"", 80).rtt_ns == 3


@given(st.lists(_RECORDS, max_size=5), st.none() | _RECORDS)
def test_echoed_telemetry_is_parsed(hops: list[HopRecord], stamp: HopRecord | None) -> None:
    """Hops are in the order of the path, with values in ns and bit/s; the stamp gives the delay."""
    shim = pack(Telemetry(True, tuple(hops), stamp))
    delay_ns, parsed = telemetry_of(shim, GROWING)
    assert delay_ns == (None if stamp is None else stamp.tx_bytes * 1000)
    assert [(hop.rate_bps, hop.stamp_ns, hop.sent_bytes, hop.queue_bytes) for hop in parsed] == [
        (hop.rate_kbps * 1000, hop.time_us * 1000, hop.tx_bytes, hop.queue_bytes) for hop in reversed(unpack(shim).hops)
    ]
