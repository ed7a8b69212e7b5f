# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Conditions under which the tests run BMv2."""

import functools
from pathlib import Path

import pytest

from tools.bmv2_target import Bmv2Target, missing

needs_bmv2 = pytest.mark.skipif(missing() is not None, reason=str(missing()))
NOT_ON_BMV2 = {
    "v1model/sets-values": "simple_switch_CLI writes three bytes into a value set of 16 bits",
    "v1model/stacks-frames": "simple_switch aborts if the last header of a stack is copied",
}
"""The vectors that BMv2 1.15.5 does not pass, with the reason (docs/stf.md)."""
_BEYOND_THE_ARRAY = bytes(1) + b"\xff" * 4 + bytes(120)
"""A frame that makes the program `stateful` access registers at an index beyond the array."""


@functools.cache
def skip_what_corrupts_it(program: Path) -> None:
    """Skip the test of a program that accesses registers out of range, if this simple_switch does not check indices.

    A simple_switch compiled with NDEBUG would corrupt its memory or crash.
    """
    if program.stem != "stateful":
        return
    with Bmv2Target(program) as target:
        try:
            target.send(1, _BEYOND_THE_ARRAY)
        except ConnectionError:
            pytest.skip("this simple_switch does not check register indices (compiled with NDEBUG)")
