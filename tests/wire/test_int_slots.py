# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the compact layout of in-band telemetry: fields, codes of rates, and the unit of time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.contract.frames import with_shim, with_slot
from sfc_testbed.wire.constants import INT_FLAG_ECHO, INT_FLAG_STAMP, INT_MAX_HOPS
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.int_header import echo, request, strip
from sfc_testbed.wire.int_slots import MOST_RATES, Slot, pack, rate_code, time_shift, unpack
from sfc_testbed.wire.roce.decoder import RoceDecoder, parse_header
from sfc_testbed.wire.roce.packets import data_frame_bytes, pack_psn_word
from tests.wire.test_roce import framer, header_of

STAMP = bytes(4) + (7).to_bytes(4, "big") + bytes(8)
slots = st.builds(
    Slot, st.integers(0, 15), st.integers(0, 2**24 - 1), st.integers(0, 2**20 - 1), st.integers(0, 2**16 - 1)
)


def test_the_layout_is_the_documented_one() -> None:
    """The shim comes first, then five slots, the newest first, then the stamp."""
    packed = pack((Slot(0xA, 0xBCDEF0, 0x12345, 0x6789), Slot(1, 2, 3, 4)), INT_FLAG_STAMP, STAMP)
    assert packed.hex() == "02060000" + "abcdef0123456789" + "1000002000030004" + "00" * 24 + STAMP.hex()
    assert request(telemetry=True, stamp_us=None, is_compact=True) == pack(())
    assert request(telemetry=True, stamp_us=7, is_compact=True) == pack((), INT_FLAG_STAMP, STAMP)
    assert request(telemetry=False, stamp_us=7, is_compact=True) == request(telemetry=False, stamp_us=7)


@given(st.lists(slots, max_size=INT_MAX_HOPS), st.booleans())
def test_a_packet_keeps_its_length_on_its_way_and_in_its_echo(path: list[Slot], has_stamp: bool) -> None:
    shim = request(telemetry=True, stamp_us=7 if has_stamp else None, is_compact=True)
    plain = framer().frame(0, pack_psn_word(3), b"body")
    sent = frame = framer().frame(0, pack_psn_word(3), b"body", shim=shim)
    assert len(sent) == data_frame_bytes(4, is_last=False) + (60 if has_stamp else 44)
    decoder = RoceDecoder()
    for number, slot in enumerate(path, 1):
        frame = with_slot(frame, slot)
        assert len(frame) == len(sent)
        header = header_of(frame, decoder.header)
        assert (header.psn_word(frame), header.body(frame), header.icrc_is_right(frame)) == (3, b"body", True)
        assert unpack(header.shim(frame)) == tuple(reversed(path[:number]))
    stripped = strip(frame)
    assert stripped is not None
    assert stripped[0] == plain
    answer = echo(stripped[1], 9)
    assert (len(answer), answer[1] & INT_FLAG_ECHO, unpack(answer)) == (len(shim), 1, tuple(reversed(path)))
    assert not has_stamp or int.from_bytes(answer[-8:-4], "big") == 2


@pytest.mark.parametrize(
    "shim",
    [bytes([6, 4, 0, 0]) + bytes(40), pack(())[:43], pack((), INT_FLAG_STAMP), b"\0\4\0\1" + bytes(40)],
    ids=["6 hops", "cut", "no stamp", "reserved"],
)
def test_malformed_slots_are_refused(shim: bytes) -> None:
    """A header that is too short reaches into the BTH, so that what follows is no RoCEv2 packet."""
    frame = with_shim(framer().frame(0x11, pack_psn_word(3), bytes(4)), shim)
    stripped = strip(frame)
    assert RoceDecoder().header(frame) is None
    assert stripped is None or parse_header(stripped[0]) is None


def test_rates_have_codes_from_the_lowest() -> None:
    rates = (10, 25, 100)
    assert [rate_code(rates, rate) for rate in (10, 25, 100, 40)] == [1, 2, 3, 0]
    most = range(1, MOST_RATES + 1)
    assert [rate_code(most, rate) for rate in most] == list(most)
    assert rate_code(range(1, MOST_RATES + 2), 1) == 0


@given(st.integers(1, 10_000_000))
def test_the_unit_of_time_is_fine_and_its_period_long(factor: int) -> None:
    """The unit is 1 wall us or at most 2 model ns, and times wrap after 16.7 model ms at the earliest."""
    unit_wall_ns = 1000 << time_shift(Dilation(factor))
    unit_model_ns = unit_wall_ns / factor
    assert unit_wall_ns == 1000 or unit_model_ns < 2
    assert unit_model_ns * 2**24 >= 16_700_000
