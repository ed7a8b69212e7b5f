# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of rounding dilation factors up to round numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.dilation import next_step


@pytest.mark.parametrize(
    ("least", "step"),
    [(0, 1), (1, 1), (1.2, 2), (4, 5), (6, 7), (7.5, 10), (11, 15), (15, 15), (16, 20), (8_001, 10_000), (12e3, 15e3)],
)
def test_a_factor_is_rounded_up_to_a_step(least: float, step: int) -> None:
    """Steps are integers that are 1, 1.5, 2, 3, 5 or 7 times a power of ten."""
    assert next_step(least) == step


@given(st.floats(1, 1e9))
def test_a_step_is_never_less_and_at_most_twice_as_much(least: float) -> None:
    assert least <= next_step(least) <= 2 * least


@pytest.mark.parametrize("least", [-1.0, float("inf"), float("nan")])
def test_negative_and_infinite_factors_are_refused(least: float) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        next_step(least)
