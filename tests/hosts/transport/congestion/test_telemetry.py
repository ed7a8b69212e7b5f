# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of telemetry as senders read it in the compact layout: values, differences across wraps, and old records."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.hosts.transport.congestion import AckSample, PathContext
from sfc_testbed.hosts.transport.congestion.hpcc import Hpcc
from sfc_testbed.hosts.transport.congestion.telemetry import GROWING, HopTelemetry, compact_layout, telemetry_of
from sfc_testbed.wire import int_header, int_slots
from sfc_testbed.wire.constants import INT_FLAG_ECHO
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.int_slots import Slot, pack, time_shift
from tests.hosts.transport.algorithm import GBPS, control
from tests.hosts.transport.fake_star import slot_at

RATES = (100 * GBPS, 400 * GBPS)


def fields(hop: HopTelemetry) -> tuple[int, int, int, int]:
    return hop.rate_bps, hop.stamp_ns, hop.sent_bytes, hop.queue_bytes


def test_hops_are_in_the_order_of_the_path_with_wall_units() -> None:
    """A unit of time is 4 us at a dilation of 3000. The code 3 and the code 0 have no rate."""
    layout = compact_layout(RATES, Dilation(3_000))
    slots = (Slot(2, 0xFFFFFF, 0xFFFFF, 0xFFFF), Slot(1, 5, 6, 7), Slot(3, 1, 1, 1), Slot(0, 1, 1, 1))
    delay_ns, hops = telemetry_of(pack(slots, INT_FLAG_ECHO), layout)
    assert delay_ns is None
    assert [fields(hop) for hop in hops] == [
        (0, 4_000, 128, 80),
        (0, 4_000, 128, 80),
        (33_333_333, 20_000, 768, 560),
        (133_333_333, 0xFFFFFF * 4_000, 0xFFFFF * 128, 0xFFFF * 80),
    ]
    assert telemetry_of(pack((), INT_FLAG_ECHO), layout) == (None, ())


@pytest.mark.parametrize("layout", [GROWING, compact_layout(RATES, Dilation(1_000))])
def test_the_stamp_of_the_sender_is_no_hop(layout: object) -> None:
    is_compact = layout is not GROWING
    sent = int_header.request(telemetry=True, stamp_us=(1 << 32) - 3, is_compact=is_compact)
    answer = int_header.echo(sent, (1 << 32) + 4)
    assert telemetry_of(answer, layout) == (7_000, ())  # type: ignore[arg-type]


@given(
    st.sampled_from([1, 1_000, 1_001, 15_000, 1_000_000]),
    st.integers(0, 2**47),
    st.integers(0, 2**40),
    st.floats(0, 1, exclude_max=True),
    st.floats(0, 1),
)
def test_differences_of_two_records_are_correct_across_wraps(
    factor: int, time_us: int, sent_bytes: int, gap: float, load: float
) -> None:
    """They are exact within one unit, as long as the gap is not ambiguous and the port sends at most at its rate."""
    dilation = Dilation(factor)
    layout = compact_layout(RATES, dilation)
    gap_us = int(gap * layout.longest_gap_ns / 1000)
    gap_bytes = int(load * gap_us * 1000 * layout.rates_bps[-1] / 8e9)
    slots = (
        slot_at(time_us, sent_bytes, 0, 2, dilation),
        slot_at(time_us + gap_us, sent_bytes + gap_bytes, 0, 2, dilation),
    )
    old, new = (telemetry_of(pack([slot]), layout)[1][0] for slot in slots)
    elapsed_ns = (new.stamp_ns - old.stamp_ns) % layout.stamp_modulus_ns
    sent = (new.sent_bytes - old.sent_bytes) % layout.sent_modulus_bytes
    assert abs(elapsed_ns - gap_us * 1000) < 1000 << layout.time_shift
    assert abs(sent - gap_bytes) < int_slots.SENT_UNIT_BYTES


def hpcc_of(dilation: Dilation) -> Hpcc:
    line_bps, rtt_ns = dilation.wall_bps(100 * GBPS), dilation.wall_ns(10_000)
    path = PathContext(line_bps, rtt_ns, 1000, 125_000, telemetry=compact_layout(RATES, dilation))
    return control(Hpcc, path)


def acknowledge(hpcc: Hpcc, slot: Slot, acked: int) -> None:
    _, hops = telemetry_of(pack([slot], INT_FLAG_ECHO), hpcc.path.telemetry)
    hpcc.on_ack(AckSample(0, 0, None, False, None, hops, acked, acked), 0)


@given(
    st.sampled_from([1_000, 2_000, 20_000, 1_000_000]),
    st.lists(st.tuples(st.integers(500, 20_000), st.integers(0, 100)), min_size=1, max_size=20),
    st.integers(0, 300_000),
)
def test_hpcc_measures_the_same_across_a_wrap(factor: int, steps: list[tuple[int, int]], queue_bytes: int) -> None:
    """Two sequences of records differ only in their start: just before times and byte counts wrap, and at 0."""
    dilation = Dilation(factor)
    unit_us = 1 << time_shift(dilation)
    wrapping, plain = hpcc_of(dilation), hpcc_of(dilation)
    for hpcc, time_us, sent_bytes in ((wrapping, (1 << 24) * unit_us - unit_us, (1 << 27) - 128), (plain, 0, 0)):
        acknowledge(hpcc, slot_at(time_us, sent_bytes, queue_bytes, 1, dilation), 1)
        for number, (model_ns, percent) in enumerate(steps, 2):
            time_us += dilation.wall_ns(model_ns) // 1000 // unit_us * unit_us
            sent_bytes += int(model_ns * 12.5 * percent / 100) // 128 * 128
            acknowledge(hpcc, slot_at(time_us, sent_bytes, queue_bytes, 1, dilation), number)
    assert (wrapping.rate_bps, wrapping.utilization) == (plain.rate_bps, plain.utilization)


@pytest.mark.parametrize("factor", [1_000, 2_000])
def test_records_between_which_the_byte_count_may_have_wrapped_are_not_compared(factor: int) -> None:
    """A link of 400 Gb/s sends 2^27 B in 2.68 ms. The next record is compared with the newer one of the two."""
    dilation = Dilation(factor)
    hpcc = hpcc_of(dilation)
    start_us = dilation.wall_ns(2_700_000) // 1000
    acknowledge(hpcc, slot_at(0, 0, 200_000, 2, dilation), 1)
    acknowledge(hpcc, slot_at(start_us, 0, 200_000, 2, dilation), 2)
    assert hpcc.utilization == 1.0
    acknowledge(hpcc, slot_at(start_us + dilation.wall_ns(10_000) // 1000, 250_000, 0, 2, dilation), 3)
    assert hpcc.utilization == pytest.approx(0.5, abs=0.001)


def test_a_hop_without_a_known_rate_changes_nothing() -> None:
    dilation = Dilation(1_000)
    hpcc = hpcc_of(dilation)
    acknowledge(hpcc, slot_at(0, 0, 0, 0, dilation), 1)
    acknowledge(hpcc, slot_at(10_000, 250_000, 0, 0, dilation), 2)
    assert (hpcc.utilization, hpcc.rate_bps) == (1.0, hpcc.path.line_rate_bps)
