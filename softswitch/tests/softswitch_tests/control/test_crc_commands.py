# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of setting the parameters of custom CRCs. The vector v1model/hashing-parameters tests the same on BMv2."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from softswitch.engine import CommandError, SwitchEngine
from softswitch_tests.pipeline.harness import switch_with
from softswitch_tests.pipeline.test_hashing import packed, request

WHICH = {16: 5, 32: 6}
"""The first byte of a frame that selects each CRC; its calculation is in NAME."""
NAME = {16: "calc_4", 32: "calc_5"}
FIELDS = (0xA, 0xBCD, 0x12345678, 5)


def crc(data: bytes, bits: int, polynomial: int, initial: int, final: int, data_in: bool, result_out: bool) -> int:
    """Return a CRC computed bit by bit, as the catalogue defines it."""

    def reflected(value: int, width: int) -> int:
        return int(f"{value:0{width}b}"[::-1], 2)

    value = initial
    for byte in data:
        value ^= (reflected(byte, 8) if data_in else byte) << (bits - 8)
        for _ in range(8):
            value = (value << 1 ^ polynomial if value >> (bits - 1) else value << 1) & ((1 << bits) - 1)
    return (reflected(value, bits) if result_out else value) ^ final


@pytest.fixture
def hashing() -> Iterator[SwitchEngine]:
    with switch_with("hashing") as switch:
        yield switch


def hashed(switch: SwitchEngine, bits: int) -> int:
    [(_, _, frame)] = switch.step(1, request(WHICH[bits], *FIELDS), 0)
    return int.from_bytes(frame[8:16], "big")


def line(bits: int, *parameters: object) -> str:
    return f"set_crc{bits}_parameters {NAME[bits]} {' '.join(map(str, parameters)).lower()}"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from((16, 32)), st.data())
def test_crc_uses_its_parameters(hashing: SwitchEngine, bits: int, data: st.DataObject) -> None:
    """Includes parameters that no catalogue has, such as even polynomials or only one kind of reflection."""
    polynomial, initial, final = (data.draw(st.integers(0, (1 << bits) - 1)) for _ in range(3))
    data_in, result_out = data.draw(st.booleans()), data.draw(st.booleans())
    assert hashing.command(line(bits, hex(polynomial), initial, hex(final), data_in, result_out)) == ""
    assert hashed(hashing, bits) == crc(packed(*FIELDS), bits, polynomial, initial, final, data_in, result_out)


def test_parameters_survive_reset_and_power_loss(hashing: SwitchEngine) -> None:
    """The other CRC is never affected."""
    before = hashed(hashing, 16)
    hashing.command(line(32, "0x1edc6f41", 0, 0, 1, 0))
    changed = hashed(hashing, 32)
    assert changed == crc(packed(*FIELDS), 32, 0x1EDC6F41, 0, 0, True, False)
    for words in ("reset_state", "power off", "power on"):
        hashing.command(words)
    assert (hashed(hashing, 32), hashed(hashing, 16)) == (changed, before)


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
def test_refused_parameters_change_nothing(words: str, reason: str, hashing: SwitchEngine) -> None:
    before = hashed(hashing, 16), hashed(hashing, 32)
    with pytest.raises(CommandError, match=reason.replace("(", r"\(")):
        hashing.command(words)
    assert (hashed(hashing, 16), hashed(hashing, 32)) == before
