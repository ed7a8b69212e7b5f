# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests with hostile bytes: the result is always a call within bounds, or the end of the connection."""

import asyncio
import struct
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from softswitch.thrift.framing import MOST_BYTES, MOST_DEPTH, MOST_ELEMENTS, CallReader, Malformed
from softswitch.thrift.interface import interface
from softswitch_tests.thrift.clients import PATIENCE_S, message_of, read
from softswitch_tests.thrift.conftest import ThriftSwitch

HEAD = b"\x80\x01\x00\x01\x00\x00\x00\x01x\x00\x00\x00\x07"
KEYS = [interface().Match(type=1, lpm=interface().Lpm(b"\x0a\x00\x00\x00", 8))]
DATA = [b"\x00\x03", b"\x0a\x00\x00\x01"]
SEEDS = [
    message_of("bm_mt_add_entry", 0, "In.routes", KEYS, "In.route", DATA, interface().EntryOptions(0)),
    message_of("bm_mt_get_entries", 0, "In.routes"),
    message_of("bm_counter_write", 0, "In.by_port", 1, interface().Count(1, 2)),
    message_of("bm_mc_node_create", 0, 1, "101", "1", service="simple_pre_lag"),
    message_of("mirroring_session_add", 5, interface().MirroringSession(port=3), service="simple_switch"),
]


def _list(kind: int, count: int) -> bytes:
    return HEAD + b"\x0f\x00\x01" + bytes([kind]) + struct.pack(">i", count)


@pytest.mark.parametrize(
    ("message", "what"),
    [
        (b"GET / HTTP/1.1\r\n", "not a call"),
        (b"\x80\x01\x00\x02" + HEAD[4:] + b"\x00", "not a call"),
        (HEAD[:4] + struct.pack(">i", 257), "name of 257"),
        (HEAD[:8] + b"\xff" + HEAD[9:] + b"\x00", "not ASCII"),
        (HEAD[:4] + struct.pack(">i", -1), str(MOST_BYTES)),
        (HEAD + b"\x0b\x00\x01" + struct.pack(">i", MOST_BYTES), str(MOST_BYTES)),
        (HEAD + b"\x0b\x00\x01" + struct.pack(">i", -5), str(MOST_BYTES)),
        (_list(8, MOST_ELEMENTS), str(MOST_ELEMENTS)),
        (_list(8, -1), str(MOST_ELEMENTS)),
        (_list(1, 5), "type 1"),
        (HEAD + b"\x0c\x00\x01" * MOST_DEPTH, f"{MOST_DEPTH} deep"),
        (HEAD + b"\x02\x00\x01\x01" * (MOST_ELEMENTS + 1), str(MOST_ELEMENTS)),
    ],
)
def test_message_beyond_the_bounds_is_refused(message: bytes, what: str) -> None:
    """The refusal comes before memory or time is spent."""
    with pytest.raises(Malformed, match=what):
        read(message)


def test_a_call_is_read_to_its_end_and_no_further() -> None:
    """Every type is read; an end within a call is an error, an end before a call is not."""
    message = HEAD + b"\x04\x00\x01" + struct.pack(">d", 1.5) + b"\x0d\x00\x02\x0b\x08" + struct.pack(">i", 1)
    message += (
        struct.pack(">i", 1) + b"k" + struct.pack(">i", -3) + b"\x0e\x00\x03\x03" + struct.pack(">i", 1) + b"\xff"
    )
    call = read(message + b"\x00trailing")
    assert call is not None
    assert (call.name, call.sequence) == ("x", 7)
    assert call.arguments == {1: (4, 1.5), 2: (13, (11, [b"k", -3])), 3: (14, (3, [-1]))}
    assert read(b"") is None
    for length in range(1, len(message)):
        with pytest.raises(EOFError):
            read(message[:length])


def test_calls_are_read_one_by_one_however_they_arrive() -> None:
    """All at once, in single bytes, and cut within a call."""
    stream_bytes = b"".join(HEAD[:-1] + bytes([sequence]) + b"\x00" for sequence in range(3))

    async def sequences(step: int) -> list[int]:
        stream = asyncio.StreamReader()
        reader = CallReader(stream, PATIENCE_S)
        reading = asyncio.ensure_future(reader.read())
        numbers = []
        for begin in range(0, len(stream_bytes), step):
            stream.feed_data(stream_bytes[begin : begin + step])
            await asyncio.sleep(0)
        stream.feed_eof()
        call = await reading
        while call is not None:
            numbers.append(call.sequence)
            call = await reader.read()
        return numbers

    for step in (1, 20, len(stream_bytes)):
        assert asyncio.run(sequences(step)) == [0, 1, 2]


@given(st.binary(max_size=300))
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_a_call_or_an_end(message: bytes) -> None:
    """A valid header comes first, so that most inputs reach the parser of the body."""
    try:
        read(HEAD + message)
    except (Malformed, EOFError):
        return


@given(st.sampled_from(SEEDS), st.lists(st.tuples(st.integers(0, 500), st.integers(0, 255)), max_size=4))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_call_with_wrong_bytes_is_answered(
    make_switch: Callable[[str], ThriftSwitch], seed: bytes, changes: list[tuple[int, int]]
) -> None:
    message = bytearray(seed)
    for place, byte in changes:
        message[place % len(message)] = byte
    try:
        call = read(bytes(message))
    except (Malformed, EOFError):
        return
    assert call is not None
    switch = make_switch("l3")
    assert switch.calls.answer(call).startswith(b"\x80\x01\x00")
    assert switch.engine.command("get_time_elapsed") == "0"
