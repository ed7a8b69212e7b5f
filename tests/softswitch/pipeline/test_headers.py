# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of header stacks, unions, varbits, lookahead, advance, verify and parser errors."""

from __future__ import annotations

import pytest

from tests.softswitch.pipeline.harness import Pipeline

PROGRAM = "headers"
ACCEPTED, TOO_SHORT, STACK_OUT_OF_BOUNDS, HEADER_TOO_SHORT, BAD_KIND = 1, 101, 102, 103, 104


def label(number: int, bottom: bool) -> bytes:
    return (number << 12 | bottom << 8 | 0x40).to_bytes(4, "big")


def send(pipeline: Pipeline, kind: int, length: int, rest: bytes = b"") -> tuple[int, bytes]:
    sent = pipeline.send(bytes([kind, length]) + rest)
    assert sent is not None
    return sent


def test_stack_is_parsed_to_its_bottom(pipeline: Pipeline) -> None:
    """Labels up to the bottom are headers, the rest is payload; the deparser emits all of them."""
    data = label(1, False) + label(2, True) + b"payload"
    assert send(pipeline, 1, 0, data) == (ACCEPTED, bytes([1, 0]) + data)


def test_push_pop_and_copy_of_stack_elements(pipeline: Pipeline) -> None:
    """push_front loses the last element of a full stack, pop_front the first; assignment copies a header."""
    a, b, c = label(1, False), label(2, False), label(3, True)
    assert send(pipeline, 1, 1, a + b + c)[1] == bytes([1, 1]) + (0xABCDE << 12).to_bytes(4, "big") + a + b
    assert send(pipeline, 1, 2, a + b + c)[1] == bytes([1, 2]) + b + c
    assert send(pipeline, 1, 3, a + b + c)[1] == bytes([1, 3]) + a + a + c


def test_stack_overflow_is_an_error_and_keeps_the_rest_as_payload(pipeline: Pipeline) -> None:
    data = label(1, False) * 4 + b"x"
    assert send(pipeline, 1, 0, data) == (STACK_OUT_OF_BOUNDS, bytes([1, 0]) + data)


def test_making_a_union_member_valid_invalidates_the_other(pipeline: Pipeline) -> None:
    """The deparser emits at most one member of a union."""
    assert send(pipeline, 2, 0, b"\x12\x34zz")[1] == b"\x02\x00\x12\x34zz"
    assert send(pipeline, 2, 8, b"\x12\x34zz")[1] == b"\x02\x08\x00\x00\x12\x34zz"
    assert send(pipeline, 3, 0, b"\x12\x34\x56\x78")[1] == b"\x03\x00\x12\x34\x56\x78"


@pytest.mark.parametrize("n_bytes", range(9))
def test_varbit_of_every_length_comes_out_unchanged(pipeline: Pipeline, n_bytes: int) -> None:
    """The varbit is between fixed fields."""
    data = b"<" + bytes(range(n_bytes)) + b">" + b"payload"
    assert send(pipeline, 4, 8 * n_bytes, data) == (ACCEPTED, bytes([4, 8 * n_bytes]) + data)


def test_parser_errors(pipeline: Pipeline) -> None:
    """Errors reach ingress by number; bytes that were not extracted stay payload."""
    assert send(pipeline, 3, 0, b"\x01\x02\x03") == (TOO_SHORT, b"\x03\x00\x01\x02\x03")
    assert send(pipeline, 4, 72, bytes(20)) == (HEADER_TOO_SHORT, b"\x04\x48" + bytes(20))
    assert send(pipeline, 4, 64, bytes(9)) == (TOO_SHORT, b"\x04\x40" + bytes(9))
    assert send(pipeline, 99, 0) == (BAD_KIND, b"\x63\x00")
    assert send(pipeline, 6, 0, b"ab") == (TOO_SHORT, b"\x06\x00ab")


def test_advance_skips_bytes_for_good(pipeline: Pipeline) -> None:
    """Skipped bytes are neither header nor payload, so they are lost."""
    assert send(pipeline, 5, 16, b"skabrest")[1] == b"\x05\x10abrest"
    assert send(pipeline, 5, 64, b"short")[0] == TOO_SHORT


def test_lookahead_does_not_consume_bytes(pipeline: Pipeline) -> None:
    """The third byte ahead is copied to the header and stays in the payload; masks in select match 6 and 7."""
    for kind in (6, 7):
        assert send(pipeline, kind, 0, b"abc")[1] == bytes([kind]) + b"cabc"


def test_packet_length_in_egress_counts_headers_made_valid(pipeline: Pipeline) -> None:
    """BMv2 adjusts packet_length by setValid; an unchanged packet keeps its length."""
    assert send(pipeline, 2, 9, b"\x12\x34zz")[1] == b"\x02\x06\x12\x34zz"
