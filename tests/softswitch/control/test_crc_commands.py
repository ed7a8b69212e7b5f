# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Parameters of custom CRCs, given to a running switch. On BMv2 as well: vector v1model/hashing-parameters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from softswitch.build import build_library
from softswitch.engine import CommandError, SwitchEngine
from tests.softswitch.pipeline.harness import PROGRAMS
from tests.softswitch.pipeline.test_hashing import packed, request
from tests.softswitch.programs.steered import SANITIZED

WHICH = {16: 5, 32: 6}
"""What the program is asked for, and its calculation below."""
NAME = {16: "calc_4", 32: "calc_5"}
CHECKED = b"123456789"
CATALOGUE = {
    (16, 0x1021, 0, 0, False, False): 0x31C3,  # XMODEM
    (16, 0x8005, 0xFFFF, 0, True, True): 0x4B37,  # MODBUS
    (16, 0x1021, 0xFFFF, 0xFFFF, True, True): 0x906E,
    (32, 0x04C11DB7, 0xFFFFFFFF, 0xFFFFFFFF, False, False): 0xFC891918,  # BZIP2
    (32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, True, True): 0xE3069283,  # CRC-32C
}
"""Of the CRC catalogue: parameters and the CRC of nine digits."""
FIELDS = (0xA, 0xBCD, 0x12345678, 5)


def crc(data: bytes, bits: int, polynomial: int, initial: int, final: int, data_in: bool, result_out: bool) -> int:
    """Bit by bit, as the catalogue defines it."""

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
    """A switch whose program hashes what it is sent."""
    with SwitchEngine(build_library(PROGRAMS / "hashing.json", sanitize=SANITIZED)) as switch:
        yield switch


def hashed(switch: SwitchEngine, bits: int) -> int:
    """What it makes of the fields."""
    [(_, _, frame)] = switch.step(1, request(WHICH[bits], *FIELDS), 0)
    return int.from_bytes(frame[8:16], "big")


def line(bits: int, *parameters: object) -> str:
    """The command."""
    return f"set_crc{bits}_parameters {NAME[bits]} {' '.join(map(str, parameters)).lower()}"


def test_the_definition_is_the_catalogues() -> None:
    """With which the switch is compared."""
    for (bits, *parameters), expected in CATALOGUE.items():
        assert crc(CHECKED, bits, *parameters) == expected  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from((16, 32)), st.data())
def test_a_crc_has_the_parameters_that_it_was_given(hashing: SwitchEngine, bits: int, data: st.DataObject) -> None:
    """Also such as no catalogue has: even polynomials, one way of reflection alone."""
    polynomial, initial, final = (data.draw(st.integers(0, (1 << bits) - 1)) for _ in range(3))
    data_in, result_out = data.draw(st.booleans()), data.draw(st.booleans())
    assert hashing.command(line(bits, hex(polynomial), initial, hex(final), data_in, result_out)) == ""
    assert hashed(hashing, bits) == crc(packed(*FIELDS), bits, polynomial, initial, final, data_in, result_out)


def test_parameters_stay_whatever_else_begins_anew(hashing: SwitchEngine) -> None:
    """A reset of the state, a loss of power; the other CRC keeps its own throughout."""
    before = hashed(hashing, 16)
    hashing.command(line(32, "0x1edc6f41", 0, 0, 1, 0))
    changed = hashed(hashing, 32)
    assert changed == crc(packed(*FIELDS), 32, 0x1EDC6F41, 0, 0, True, False)
    for words in ("reset_state", "power off", "power on"):
        hashing.command(words)
    assert (hashed(hashing, 32), hashed(hashing, 16)) == (changed, before)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("set_crc16_parameters calc 1 0 0 true true", "no custom CRC 'calc', there are: calc_4, calc_5"),
        ("set_crc16_parameters calc_5 1 0 0 true true", "'calc_5' has 32 bits"),
        ("set_crc16_parameters calc_4 0x10000 0 0 true true", "polynomial '0x10000' is above 65535"),
        ("set_crc32_parameters calc_5 1 x 0 true true", "initial value 'x' is not a number"),
        ("set_crc32_parameters calc_5 1 0 0 true maybe", "'maybe' is neither true nor false"),
        ("set_crc32_parameters calc_5 1 0 0 true", "5 words is too few"),
    ],
)
def test_what_cannot_be_set_is_one_line(words: str, why: str, hashing: SwitchEngine) -> None:
    """And changes nothing."""
    before = hashed(hashing, 16), hashed(hashing, 32)
    with pytest.raises(CommandError, match=why.replace("(", r"\(")):
        hashing.command(words)
    assert (hashed(hashing, 16), hashed(hashing, 32)) == before
