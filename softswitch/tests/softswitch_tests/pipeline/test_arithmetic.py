# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compares operators with Python's integers truncated to the field width, on operands chosen by Hypothesis."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from softswitch.engine import SwitchEngine
from softswitch_tests.pipeline.harness import sent

PROGRAM = "arithmetic"
FIELDS = (
    *(("op", 8, False), ("shift", 8, False)),
    *((name, 32, False) for name in ("a", "b", "r")),
    *((name, 32, True) for name in ("sa", "sb", "sr")),
    *((name, 64, False) for name in ("la", "lb", "lr")),
    *((name, 128, False) for name in ("wa", "wb", "wr")),
    *((name, 200, False) for name in ("xa", "xb", "xr")),
    *(("small", 3, False), ("odd", 13, False)),
)
WIDTHS = {"": (32, False), "s": (32, True), "l": (64, False), "w": (128, False), "x": (200, False)}
Operator = Callable[[int, int, int, int, bool], int]


def pack(values: dict[str, int]) -> bytes:
    number = total = 0
    for name, bits, _ in FIELDS:
        number = number << bits | values.get(name, 0) & ((1 << bits) - 1)
        total += bits
    return number.to_bytes(total // 8, "big")


def unpack(data: bytes) -> dict[str, int]:
    number, results = int.from_bytes(data, "big"), {}
    for name, bits, signed in reversed(FIELDS):
        value = number & ((1 << bits) - 1)
        results[name] = value - (1 << bits) if signed and value >> (bits - 1) else value
        number >>= bits
    return results


def cut(value: int, bits: int, signed: bool) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def clamp(value: int, bits: int, signed: bool) -> int:
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return min(max(value, low), high)


OPERATORS: dict[int, Operator] = {
    0: lambda a, b, _, bits, signed: cut(a + b, bits, signed),
    1: lambda a, b, _, bits, signed: cut(a - b, bits, signed),
    2: lambda a, b, _, bits, signed: cut(a * b, bits, signed),
    3: lambda a, b, _, bits, signed: clamp(a + b, bits, signed),
    4: lambda a, b, _, bits, signed: clamp(a - b, bits, signed),
    5: lambda a, _, shift, bits, signed: cut(a << shift, bits, signed),
    6: lambda a, _, shift, bits, signed: cut(a >> shift, bits, signed),
}


def operand(bits: int, signed: bool) -> st.SearchStrategy[int]:
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return st.one_of(st.integers(low, high), st.sampled_from([low, low + 1, -1 if signed else 0, 0, 1, high - 1, high]))


OPERANDS = st.fixed_dictionaries(
    {f"{kind}{name}": operand(*width) for kind, width in WIDTHS.items() for name in "ab"}
    | {"shift": st.integers(0, 255), "small": st.integers(0, 7), "odd": st.integers(0, 8191)}
)


def run(switch: SwitchEngine, op: int, values: dict[str, int]) -> dict[str, int]:
    return unpack(sent(switch, pack({**values, "op": op}))[1])


@pytest.mark.parametrize("op", OPERATORS)
@given(values=OPERANDS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_operator_of_every_width_truncates_as_in_p4(switch: SwitchEngine, op: int, values: dict[str, int]) -> None:
    """Covers sum, difference, product, saturation and shifts, for unsigned 32, 64, 128 and 200 bits and signed 32."""
    results = run(switch, op, values)
    for kind, (bits, signed) in WIDTHS.items():
        want = OPERATORS[op](values[f"{kind}a"], values[f"{kind}b"], values["shift"], bits, signed)
        assert results[f"{kind}r"] == want, kind


@given(values=OPERANDS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bits_comparisons_slices_and_casts(switch: SwitchEngine, values: dict[str, int]) -> None:
    """The operators tested here have a different formula for each width."""
    v = values
    results = run(switch, 7, v)
    assert results["r"] == cut(~(v["a"] ^ (v["b"] | 0x0FF0)), 32, False)
    assert results["sr"] == ~(v["sa"] ^ v["sb"])
    assert results["wr"] == cut(~(v["wa"] & v["wb"]), 128, False)
    assert results["xr"] == cut(~(v["xa"] | v["xb"]), 200, False)
    results = run(switch, 8, v)
    assert results["r"] == (v["a"] < v["b"])
    assert results["sr"] == (-1 if v["sa"] < v["sb"] else 1)
    assert (results["lr"], results["wr"], results["xr"]) == (v["la"] >= v["lb"], v["wa"] > v["wb"], v["xa"] <= v["xb"])
    results = run(switch, 9, v)
    assert results["r"] == v["xa"] >> 32 & 0xFFFFFFFF
    assert results["sr"] == cut(v["a"], 8, True)
    assert results["lr"] == v["a"] << 32 | v["b"]
    assert results["wr"] == v["la"] << 64 | v["lb"]
    assert results["xr"] == v["wa"]
    results = run(switch, 10, v)
    assert results["r"] == cut(-v["a"], 32, False)
    assert results["sr"] == cut(-v["sa"], 32, True)
    assert results["lr"] == v["small"] * v["odd"]
    assert results["wr"] == v["la"] << 8
