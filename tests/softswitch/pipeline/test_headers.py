# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of header stacks, varbits and parser errors. The vector v1model/headers-kinds tests more on BMv2 too."""

import pytest

from softswitch.engine import SwitchEngine
from tests.softswitch.pipeline.harness import sent

PROGRAM = "headers"
ACCEPTED, TOO_SHORT, STACK_OUT_OF_BOUNDS, HEADER_TOO_SHORT, BAD_KIND = 1, 101, 102, 103, 104


def label(number: int, bottom: bool) -> bytes:
    return (number << 12 | bottom << 8 | 0x40).to_bytes(4, "big")


def test_stack_is_parsed_to_its_bottom(switch: SwitchEngine) -> None:
    """Labels up to the bottom are headers, the rest is payload; the deparser emits all of them."""
    frame = bytes([1, 0]) + label(1, False) + label(2, True) + b"payload"
    assert sent(switch, frame) == (ACCEPTED, frame)


def test_push_and_pop_of_a_full_stack(switch: SwitchEngine) -> None:
    """push_front loses the last element, pop_front the first; assignment copies a header."""
    a, b, c = label(1, False), label(2, False), label(3, True)
    pushed = (0xABCDE << 12).to_bytes(4, "big")
    for operation, stack in ((1, pushed + a + b), (2, b + c), (3, a + a + c)):
        assert sent(switch, bytes([1, operation]) + a + b + c)[1] == bytes([1, operation]) + stack


@pytest.mark.parametrize("n_bytes", range(9))
def test_varbit_of_every_length_comes_out_unchanged(switch: SwitchEngine, n_bytes: int) -> None:
    frame = bytes([4, 8 * n_bytes]) + b"<" + bytes(range(n_bytes)) + b">" + b"payload"
    assert sent(switch, frame) == (ACCEPTED, frame)


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        (b"\x01\x00" + label(1, False) * 4 + b"x", STACK_OUT_OF_BOUNDS),
        (b"\x03\x00\x01\x02\x03", TOO_SHORT),
        (b"\x04\x48" + bytes(20), HEADER_TOO_SHORT),
        (b"\x04\x40" + bytes(9), TOO_SHORT),
        (b"\x63\x00", BAD_KIND),
        (b"\x06\x00ab", TOO_SHORT),
    ],
)
def test_parser_errors_reach_ingress_by_number(switch: SwitchEngine, frame: bytes, error: int) -> None:
    """Bytes that were not extracted stay payload."""
    assert sent(switch, frame) == (error, frame)
