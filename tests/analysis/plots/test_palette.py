# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that the looks of curves differ in colour and in lightness or dashes, on light and dark pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.analysis.plots.palette import (
    DASH_CYCLE,
    OTHER_COLORS,
    SCHEME_COLORS,
    LineLook,
    different_looks,
    lightness,
    numbered_looks,
    scheme_color,
    scheme_looks,
)
from tests.analysis.plots.looks import SCHEME_TEXTS, assert_distinguishable


@given(st.lists(SCHEME_TEXTS, max_size=12))
def test_any_twelve_schemes_can_be_told_apart(schemes: list[str]) -> None:
    assert_distinguishable(scheme_looks(schemes))


@pytest.mark.parametrize("count", range(13))
def test_numbered_curves_can_be_told_apart(count: int) -> None:
    assert_distinguishable(numbered_looks(count))


@given(SCHEME_TEXTS)
def test_a_lone_scheme_has_its_usual_colour(scheme: str) -> None:
    assert [look.color for look in scheme_looks([scheme])] == [scheme_color(scheme)]


@given(st.lists(st.sampled_from([*SCHEME_COLORS]), unique=True, max_size=12), st.data())
def test_a_named_scheme_keeps_its_colour_among_others(names: list[str], data: st.DataObject) -> None:
    schemes = [name if data.draw(st.booleans()) else f"{name}+hpcc" for name in names]
    assert [look.color for look in scheme_looks(schemes)] == [SCHEME_COLORS[name] for name in names]


def test_with_several_schemes_colours_show_schemes_and_dashes_show_congestion_controls() -> None:
    irn, irn_hpcc, sfc, sfc_hpcc = scheme_looks(["irn", "irn+hpcc", "sfc", "sfc+hpcc"])
    assert (irn.color, sfc.color) == (irn_hpcc.color, sfc_hpcc.color)
    assert (irn.dashes, irn_hpcc.dashes) == (sfc.dashes, sfc_hpcc.dashes)
    assert irn.dashes != irn_hpcc.dashes


def test_a_scheme_without_a_congestion_control_is_solid_whatever_the_order() -> None:
    looks = scheme_looks(["irn+dcqcn", "irn+hpcc", "irn", "sfc"])
    assert looks[2].dashes == looks[3].dashes == DASH_CYCLE[0]


@pytest.mark.parametrize("count", [2, 3, 8])
def test_runs_of_one_scheme_differ_in_colour_and_dashes(count: int) -> None:
    """They may differ in a setting only."""
    looks = scheme_looks(["irn"] * count)
    assert len({look.color for look in looks}) == min(count, len(OTHER_COLORS) + 1)
    assert len({look.dashes for look in looks}) == count


def test_congestion_controls_of_one_scheme_differ_in_colour_too() -> None:
    looks = scheme_looks(["irn", "irn+hpcc", "irn+dcqcn", "irn+mine"])
    assert len({look.color for look in looks}) == 4


def test_an_additional_curve_differs_from_existing_curves() -> None:
    drawn = scheme_looks(["irn", "sfc"])
    wanted = [LineLook(look.color, DASH_CYCLE[2]) for look in drawn]
    assert_distinguishable([*drawn, *different_looks(wanted, drawn)])


def test_looks_repeat_if_there_are_more_curves_than_looks() -> None:
    assert len(scheme_looks(["sfc"] * 500)) == 500


@pytest.mark.parametrize(("color", "expected"), [("#000000", 0.0), ("#FFFFFF", 100.0), ("#777777", 50.0)])
def test_lightness_equals_cielab(color: str, expected: float) -> None:
    assert lightness(color) == pytest.approx(expected, abs=0.3)


def test_no_two_colours_are_the_same() -> None:
    assert len(set(SCHEME_COLORS.values())) == len(SCHEME_COLORS)
    assert len(set(OTHER_COLORS)) == len(OTHER_COLORS)
