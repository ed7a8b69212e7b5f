# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks that the curves of a plot can be told apart, and test data with schemes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from sfc_testbed.analysis.plots.palette import DASH_CYCLE, IN_THE_DARK, LineLook, lightness
from sfc_testbed.request.schemes import RATE_CONTROLS, SCHEMES

LEAST_GREY_STEP = 5.0
"""The smallest difference of lightness, out of 100, between two curves with the same dashes."""

_NAMES = st.one_of(st.sampled_from([*SCHEMES]), st.text("abcxyz-", min_size=1, max_size=8))
_CONTROLS = st.one_of(st.just(""), st.sampled_from([*RATE_CONTROLS]), st.text("mnp", min_size=1, max_size=4))
SCHEME_TEXTS = st.builds(lambda name, control: f"{name}+{control}" if control else name, _NAMES, _CONTROLS)
"""Known and user-defined schemes, with and without a congestion control."""

MANY_SCHEMES = (
    ("irn", "irn+hpcc", "irn+dcqcn"),
    ("irn", "irn+hpcc", "irn+dcqcn", "irn+mine"),
    tuple(f"irn+{control}" for control in RATE_CONTROLS),
    tuple(SCHEMES),
    ("ndp", "onramp-straw-man", "mine", "yours"),
    ("sfc",) * 12,
)


def assert_distinguishable(looks: Sequence[LineLook]) -> None:
    """Fail if two curves share a colour and dashes, or dashes and nearly the same grey, on either page."""
    for one, other in combinations(looks, 2):
        if one.dashes == other.dashes:
            assert one.color != other.color
            assert abs(lightness(one.color) - lightness(other.color)) >= LEAST_GREY_STEP
            dark, other_dark = IN_THE_DARK[one.color], IN_THE_DARK[other.color]
            assert abs(lightness(dark) - lightness(other_dark)) >= LEAST_GREY_STEP


def assert_curves_differ(figure: Figure) -> None:
    """Fail if two named curves of a panel have the same name or look alike."""
    for axes in figure.axes:
        curves = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
        assert len({line.get_label() for line in curves}) == len(curves)
        dashes = [vars(line)["_unscaled_dash_pattern"] for line in curves]
        assert set(dashes) <= set(DASH_CYCLE)
        colors = [to_hex(line.get_color()).upper() for line in curves]
        assert_distinguishable([LineLook(*look) for look in zip(colors, dashes, strict=True)])
