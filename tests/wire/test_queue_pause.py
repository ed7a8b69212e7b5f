# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of frames that pause one queue, and of queue numbers in source addresses."""

import pytest

from sfc_testbed.wire.queue_pause import QueuePause, pack_frame, queue_of_pair, unpack_frame, with_queue

PAUSE = QueuePause(3, 200, 65_535)


def test_frame_has_the_documented_bytes() -> None:
    frame = pack_frame(0x0600_0001_0002, PAUSE)
    assert frame.hex() == "0180c2000001" + "060000010002" + "8808" + "fffe" + "5afcbf" + "03c8ffff" + "00" * 37
    assert unpack_frame(frame) == PAUSE


@pytest.mark.parametrize(
    ("position", "value"),
    [(12, 0x08), (15, 0x01), (16, 0x00), (18, 0x00), (19, 8)],
    ids=["EtherType", "opcode", "organization", "organization's end", "class"],
)
def test_other_frames_are_no_pause_of_a_queue(position: int, value: int) -> None:
    frame = bytearray(pack_frame(1, PAUSE))
    frame[position] = value
    assert unpack_frame(bytes(frame)) is None


def test_a_frame_that_is_cut_short_is_no_pause() -> None:
    assert unpack_frame(pack_frame(1, PAUSE)[:22]) is None
    assert unpack_frame(b"") is None


def test_queue_number_is_the_second_byte_of_the_address() -> None:
    assert with_queue(0x0200_0A00_0001, 0) == 0x0200_0A00_0001
    assert with_queue(0x0200_0A00_0001, 0xC8) == 0x02C8_0A00_0001


def test_queue_pairs_get_the_queues_from_1_on_in_turn() -> None:
    assert [queue_of_pair(qpn) for qpn in (1, 2, 255, 256, 511)] == [1, 2, 255, 1, 1]
