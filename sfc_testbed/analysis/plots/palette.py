# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The colours and dash patterns of curves. Curves of one plot differ in colour, and also in lightness or dashes.

A scheme has the same colour in every plot. In a plot with several schemes, each congestion control has its own dash
pattern. Okabe and Ito, and Paul Tol, chose the colours for colour-blind readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle, islice
from typing import TypeVar
from zlib import crc32

Dashes = tuple[float, tuple[float, ...]]
Choice = TypeVar("Choice")

PAPER = "#FFFFFF"
INK = "#1F2328"
MUTED = "#6A737D"
SPINE = "#9AA1A9"
GRID = "#E3E6EA"

SCHEME_COLORS: Mapping[str, str] = {
    "irn": "#444444",
    "gbn": "#999999",
    "pfc": "#CC79A7",
    "onramp": "#E69F00",
    "egress-bts": "#56B4E9",
    "ingress-bts": "#009E73",
    "sfc": "#0072B2",
    "sfc-est": "#882255",
    "sfc-p": "#D55E00",
    "ndp": "#999933",
    "onramp-straw-man": "#661100",
}
"""Colour of each named scheme, without the congestion control after its plus sign."""

OTHER_COLORS = ("#332288", "#117733", "#AA4499", "#999933", "#44AA99", "#661100")
"""Colours for schemes that users add, and for curves that do not stand for schemes."""

BACKDROP = "#C4C8CE"
"""The colour of background series."""

IN_THE_DARK: Mapping[str, str] = {
    "#444444": "#C9CED6",
    "#999999": "#8A929C",
    "#CC79A7": "#F0A8CE",
    "#E69F00": "#F0B429",
    "#56B4E9": "#A6DDFB",
    "#009E73": "#2FC79A",
    "#0072B2": "#3D9BE9",
    "#882255": "#C2558C",
    "#D55E00": "#FF7F32",
    "#332288": "#8C83E6",
    "#117733": "#4CB86E",
    "#AA4499": "#D37CC6",
    "#999933": "#C2C257",
    "#44AA99": "#5FCBB9",
    "#661100": "#CF6A52",
    BACKDROP: "#4A525C",
}
"""The replacement of each line colour on a dark page, chosen for contrast with the background and the other colours."""

_ON_PAGE = {INK: "ink", MUTED: "muted", SPINE: "axis", GRID: "line", PAPER: "panel"}
"""The CSS variable of the page for each colour that is not a line's."""

SOLID: Dashes = (0, ())
DASH_CYCLE: tuple[Dashes, ...] = (
    SOLID,
    (0, (6, 2)),
    (0, (2, 2)),
    (0, (7, 2, 2, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (1, 3)),
    (0, (12, 4)),
    (0, (9, 2, 1, 2, 1, 2)),
)
CONGESTION_DASHES: Mapping[str, Dashes] = {"": SOLID, "hpcc": SOLID, "dcqcn": DASH_CYCLE[1], "none": DASH_CYCLE[3]}

_LEAST_GREY_STEP = 6.0
"""The difference of lightness (0 to 100) from which two greys can be told apart in thin curves."""
_CLEAR_GREY_STEP = 15.0
"""The difference of lightness from which two greys are clearly different."""


@dataclass(frozen=True)
class LineLook:
    """Colour and dash pattern of a line, as matplotlib takes them."""

    color: str
    dashes: Dashes


def color_variables() -> str:
    """Return the CSS variables with the plot colours of a dark page. A light page uses the colours themselves."""
    dark = {light: color.lower() for light, color in IN_THE_DARK.items()}
    dark |= {light: f"var(--{name})" for light, name in _ON_PAGE.items()}
    return " ".join(f"--plot-{light[1:].lower()}: {color};" for light, color in dark.items())


def scheme_color(scheme: str) -> str:
    """Return the usual colour of a scheme such as `sfc` or `sfc+dcqcn`."""
    name = scheme.partition("+")[0]
    return SCHEME_COLORS.get(name) or OTHER_COLORS[crc32(name.encode()) % len(OTHER_COLORS)]


def scheme_looks(schemes: Sequence[str]) -> list[LineLook]:
    """Return a look for each line of one plot, in the order of `schemes`; no two lines look alike.

    With several schemes, the colour shows the scheme and the dashes show the congestion control. If all lines are of
    one scheme, each line has its own colour and dashes, and the first line has the scheme's usual colour.
    """
    names, controls = ([scheme.partition("+")[place] for scheme in schemes] for place in (0, 2))
    dashes = _one_each(controls, CONGESTION_DASHES, lambda control: SOLID, DASH_CYCLE)
    if len(set(names)) == 1:
        colors = list(islice(cycle(_contrasting(scheme_color(names[0]))), len(schemes)))
        if len(set(controls)) == 1:
            return different_looks(map(LineLook, colors, cycle(DASH_CYCLE)))
    else:
        color_of = _one_each(names, SCHEME_COLORS, scheme_color, [*OTHER_COLORS, *SCHEME_COLORS.values()])
        colors = [color_of[name] for name in names]
    return different_looks([LineLook(color, dashes[control]) for color, control in zip(colors, controls, strict=True)])


def numbered_looks(count: int) -> list[LineLook]:
    """Return looks for `count` lines that do not stand for schemes, such as flows; no two lines look alike."""
    numbers = range(count)
    return different_looks(
        [LineLook(OTHER_COLORS[number % len(OTHER_COLORS)], DASH_CYCLE[number % len(DASH_CYCLE)]) for number in numbers]
    )


def different_looks(wanted: Iterable[LineLook], drawn: Iterable[LineLook] = ()) -> list[LineLook]:
    """Return each wanted look, or its nearest variant that differs from all other lines of the plot.

    A variant has other dashes or, once all dashes of the colour are taken, another colour. `drawn` are the looks of
    further lines in the same plot.
    """
    wanted, taken = list(wanted), list(drawn)
    first_new = len(taken)
    usual = {look.color for look in (*wanted, *taken)}
    for look in wanted:
        different = (
            variant for variant in _variants(look, usual) if not any(_look_alike(variant, other) for other in taken)
        )
        unequal = (variant for variant in _variants(look, usual) if variant not in taken)
        taken.append(next(different, None) or next(unequal, look))
    return taken[first_new:]


@cache
def lightness(color: str) -> float:
    """Return the CIELAB lightness of a colour, 0 (black) to 100 (white): the grey of its print."""
    parts = [part / 255 for part in bytes.fromhex(color[1:])]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    luminance = sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return float(116 * luminance ** (1 / 3) - 16 if luminance > 216 / 24389 else luminance * 24389 / 27)


def _contrasting(usual: str) -> list[str]:
    """Return the colour and the other colours to use with it; colours of similar lightness come last."""
    others = [color for color in OTHER_COLORS if color != usual]
    return [usual, *sorted(others, key=lambda color: abs(lightness(color) - lightness(usual)) < _CLEAR_GREY_STEP)]


def _look_alike(one: LineLook, other: LineLook) -> bool:
    """Return whether two lines have the same dashes and a similar lightness, on the light or the dark page."""
    greys = ((one.color, other.color), (IN_THE_DARK[one.color], IN_THE_DARK[other.color]))
    return one.dashes == other.dashes and any(
        abs(lightness(left) - lightness(right)) < _LEAST_GREY_STEP for left, right in greys
    )


def _variants(look: LineLook, usual: set[str]) -> Iterator[LineLook]:
    """Yield the look, the look with other dashes, then other colours. The colours in `usual` come last."""
    start = DASH_CYCLE.index(look.dashes)
    others = sorted((*OTHER_COLORS, *SCHEME_COLORS.values()), key=lambda color: color in usual)
    for color in (look.color, *others):
        yield from (LineLook(color, dashes) for dashes in (*DASH_CYCLE[start:], *DASH_CYCLE[:start]))


def _one_each(
    keys: Iterable[str], fixed: Mapping[str, Choice], usual: Callable[[str], Choice], spare: Sequence[Choice]
) -> dict[str, Choice]:
    """Assign a different choice to each key: its preferred choice, or a spare one if another key has that already.

    Keys with a fixed choice come first, in the order of `fixed`. When no spare choice is left, keys share their
    preferred choices.
    """
    choices: dict[str, Choice] = {}
    wanted = dict.fromkeys(keys)
    for key in (*(key for key in fixed if key in wanted), *(key for key in wanted if key not in fixed)):
        preferred = fixed[key] if key in fixed else usual(key)
        free = [choice for choice in (preferred, *spare) if choice not in choices.values()]
        choices[key] = next(iter(free), preferred)
    return choices
