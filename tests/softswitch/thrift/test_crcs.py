# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of BMv2's calls that set the parameters of a custom CRC."""

from collections.abc import Callable

from softswitch.thrift.interface import interface
from softswitch.thrift.refusals import CalculationCode
from tests.softswitch.control.test_crc_commands import FIELDS, crc, hashed
from tests.softswitch.pipeline.test_hashing import packed
from tests.softswitch.thrift.conftest import ThriftSwitch
from tests.softswitch.thrift.test_calls import code_of


def test_custom_crcs_take_parameters(make_switch: Callable[[str], ThriftSwitch]) -> None:
    """Numbers arrive signed; errors have BMv2's codes."""
    hashing = make_switch("hashing")
    x25, crc32c = (0x1021, -1, -1, True, True), (0x1EDC6F41, -1, -1, True, True)
    for bits, name, words in ((16, "calc_4", x25), (32, "calc_5", crc32c)):
        parameters = getattr(interface(), f"Crc{bits}")(*words)
        hashing.call(f"bm_set_crc{bits}_custom_parameters", 0, name, parameters)
        everything = (1 << bits) - 1
        expected = crc(packed(*FIELDS), bits, words[0], everything, everything, True, True)
        assert hashed(hashing.engine, bits) == expected
        for wrong, code in (("nothing", CalculationCode.INVALID_NAME), ("calc", CalculationCode.WRONG_TYPE)):
            assert code_of(hashing.call, f"bm_set_crc{bits}_custom_parameters", 0, wrong, parameters) == code
        partly = getattr(interface(), f"Crc{bits}")(words[0])
        answer = code_of(hashing.call, f"bm_set_crc{bits}_custom_parameters", 0, name, partly)
        assert answer == CalculationCode.INVALID_PARAMETERS
        assert hashed(hashing.engine, bits) == expected
    assert code_of(hashing.call, "bm_set_toeplitz_hash_key", 0, "calc", b"") == CalculationCode.WRONG_TYPE
