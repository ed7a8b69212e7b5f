# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of setting the parameters of custom CRCs. The vector v1model/hashing-parameters tests the same on BMv2."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from softswitch.engine import CommandError, SwitchEngine
from softswitch_tests.pipeline.harness import crc
from softswitch_tests.pipeline.test_hashing import packed, request

PROGRAM = "hashing"
WHICH = {16: 5, 32: 6}
"""The first byte of a frame that selects each CRC; its calculation is in NAME."""
NAME = {16: "calc_4", 32: "calc_5"}
FIELDS = (0xA, 0xBCD, 0x12345678, 5)


def hashed(switch: SwitchEngine, bits: int) -> int:
    [(_, _, frame)] = switch.step(1, request(WHICH[bits], *FIELDS), 0)
    return int.from_bytes(frame[8:16], "big")


def line(bits: int, *parameters: object) -> str:
    return f"set_crc{bits}_parameters {NAME[bits]} {' '.join(map(str, parameters)).lower()}"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from((16, 32)), st.data())
def test_crc_uses_its_parameters(switch: SwitchEngine, bits: int, data: st.DataObject) -> None:
    """Includes parameters that no catalogue has, such as even polynomials or only one kind of reflection."""
    polynomial, initial, final = (data.draw(st.integers(0, (1 << bits) - 1)) for _ in range(3))
    data_in, result_out = data.draw(st.booleans()), data.draw(st.booleans())
    assert switch.command(line(bits, hex(polynomial), initial, hex(final), data_in, result_out)) == ""
    assert hashed(switch, bits) == crc(packed(*FIELDS), bits, polynomial, initial, final, data_in, result_out)


def test_parameters_survive_reset_and_power_loss(switch: SwitchEngine) -> None:
    """The other CRC is never affected."""
    before = hashed(switch, 16)
    switch.command(line(32, "0x1edc6f41", 0, 0, 1, 0))
    changed = hashed(switch, 32)
    assert changed == crc(packed(*FIELDS), 32, 0x1EDC6F41, 0, 0, True, False)
    switch.commands(("reset_state", "power off", "power on"))
    assert (hashed(switch, 32), hashed(switch, 16)) == (changed, before)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("set_crc16_parameters calc 1 0 0 true true", "no custom CRC 'calc', there are: calc_4, calc_5"),
        ("set_crc16_parameters calc_5 1 0 0 true true", "'calc_5' has 32 bits"),
        ("set_crc16_parameters calc_4 0x10000 0 0 true true", "polynomial '0x10000' is above 65535"),
        ("set_crc32_parameters calc_5 1 x 0 true true", "initial value 'x' is not a number"),
        ("set_crc32_parameters calc_5 1 0 0 true maybe", "'maybe' is neither true nor false"),
        ("set_crc32_parameters calc_5 1 0 0 true", "5 words is too few"),
    ],
)
def test_refused_parameters_change_nothing(words: str, reason: str, switch: SwitchEngine) -> None:
    before = hashed(switch, 16), hashed(switch, 32)
    with pytest.raises(CommandError, match=reason.replace("(", r"\(")):
        switch.command(words)
    assert (hashed(switch, 16), hashed(switch, 32)) == before
