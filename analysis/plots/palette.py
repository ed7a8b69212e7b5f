# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How schemes look in every plot: a scheme has one colour everywhere, its congestion control one dash pattern.

Colours are Okabe and Ito's, with Paul Tol's for the rest, so that colour-blind readers can tell them apart; dashes and
markers say the same again without colour.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

Dashes = tuple[float, tuple[float, ...]]

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
}
"""Colour of each named scheme, without the congestion control after its plus sign."""

OTHER_COLORS = ("#332288", "#117733", "#AA4499", "#999933", "#44AA99", "#661100")
"""For schemes that people add; a name always gets the same one."""

BACKDROP = "#C4C8CE"
"""For series that only give context."""

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
"""What each colour of a line becomes on a dark page: there, too, far from its background and from the others."""

SOLID: Dashes = (0, ())
DASH_CYCLE: tuple[Dashes, ...] = (SOLID, (0, (6, 2)), (0, (2, 2)), (0, (7, 2, 2, 2)), (0, (3, 1, 1, 1, 1, 1)))
CONGESTION_DASHES: Mapping[str, Dashes] = {"": SOLID, "hpcc": SOLID, "dcqcn": DASH_CYCLE[1], "none": DASH_CYCLE[3]}


@dataclass(frozen=True)
class LineLook:
    """Colour and dash pattern of a line, as matplotlib takes them."""

    color: str
    dashes: Dashes


def scheme_color(scheme: str) -> str:
    """The colour of a scheme such as `sfc` or `sfc+dcqcn`."""
    name = scheme.partition("+")[0]
    return SCHEME_COLORS.get(name) or OTHER_COLORS[crc32(name.encode()) % len(OTHER_COLORS)]


def scheme_looks(schemes: Sequence[str]) -> list[LineLook]:
    """A look for each line of one plot. Lines of equal look (one scheme, two seeds) differ by further dash patterns."""
    used: Counter[LineLook] = Counter()
    looks = []
    for scheme in schemes:
        plain = LineLook(scheme_color(scheme), CONGESTION_DASHES.get(scheme.partition("+")[2], SOLID))
        start = DASH_CYCLE.index(plain.dashes)
        looks.append(LineLook(plain.color, DASH_CYCLE[(start + used[plain]) % len(DASH_CYCLE)]))
        used[plain] += 1
    return looks
