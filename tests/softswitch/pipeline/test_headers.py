# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A test of the bounds of header stacks. The vector v1model/headers-kinds tests headers and parser errors."""

from softswitch.engine import SwitchEngine
from tests.softswitch.pipeline.harness import sent

PROGRAM = "headers"
STACK_OUT_OF_BOUNDS = 102


def test_surplus_stack_element_is_a_parser_error_and_stays_payload(switch: SwitchEngine) -> None:
    frame = b"\x01\x00" + b"\x00\x00\x10\x40" * 4 + b"x"
    assert sent(switch, frame) == (STACK_OUT_OF_BOUNDS, frame)
