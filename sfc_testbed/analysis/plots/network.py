# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Draws a network: hosts at the bottom, and each switch in the row of its distance from the hosts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from sfc_testbed.analysis.plots.palette import INK, MUTED, PAPER, SPINE
from sfc_testbed.analysis.plots.places import Place, places_of
from sfc_testbed.telemetry.atomic_file import replace_file
from sfc_testbed.topologies.model import Link, Topology

PICTURE_TYPES = (".svg", ".png", ".pdf")
_MOST_NAMES = 40
"""The most nodes of a row that are labelled."""
_WIDTHS_PT = (0.6, 3.0)
"""Width of the slowest and of the fastest links."""


def draw_network(topology: Topology, path: Path) -> None:
    """Write a picture of a network. The end of the name is one of `PICTURE_TYPES`."""
    places = places_of(topology)
    with mpl.rc_context({"svg.hashsalt": "network", "figure.facecolor": PAPER}):
        figure = Figure(figsize=(12, 2.2 + 1.6 * len({y for _, y in places.values()})), layout="constrained")
        axes = figure.add_subplot()
        axes.set_axis_off()
        _draw_links(axes, topology, places)
        for names, size, colour, below in (
            ([switch.name for switch in topology.switches], 60, INK, False),
            ([host.name for host in topology.hosts], 14, MUTED, True),
        ):
            xs, ys = zip(*(places[name] for name in names), strict=True)
            axes.scatter(xs, ys, s=size, c=colour, marker="o" if below else "s", zorder=3)
            _label(axes, names, places, below=below)
        rates = ", ".join(f"{rate_bps / 1e9:g} Gb/s" for rate_bps in topology.link_rates_bps)
        axes.set_title(
            f"{topology.name}: {len(topology.hosts)} hosts, {len(topology.switches)} switches, links of {rates}"
        )
        axes.margins(0.03, 0.15)
        kind = path.suffix[1:]
        replace_file(path, lambda partial: figure.savefig(partial, format=kind, dpi=150, metadata={}))


def _draw_links(axes: mpl.axes.Axes, topology: Topology, places: Mapping[str, Place]) -> None:
    """Draw links between rows as lines, and links within a row as arcs. Fast links are wide."""
    rates = topology.link_rates_bps
    straight: list[tuple[Place, Place]] = []
    widths: list[float] = []
    for link in topology.links:
        a, b = places[link.a.node], places[link.b.node]
        width = _WIDTHS_PT[0] if len(rates) == 1 else _width(link, rates)
        if a[1] != b[1]:
            straight.append((a, b))
            widths.append(width)
        else:
            left, right = sorted((a, b))
            arc = FancyArrowPatch(left, right, connectionstyle="arc3,rad=-0.2", arrowstyle="-", color=SPINE, lw=width)
            axes.add_patch(arc)
    axes.add_collection(LineCollection(straight, colors=SPINE, linewidths=widths, zorder=1))


def _width(link: Link, rates: tuple[int, ...]) -> float:
    return _WIDTHS_PT[0] + (_WIDTHS_PT[1] - _WIDTHS_PT[0]) * rates.index(link.rate_bps) / (len(rates) - 1)


def _label(axes: mpl.axes.Axes, names: list[str], places: Mapping[str, Place], *, below: bool) -> None:
    rows: dict[float, list[str]] = {}
    for name in names:
        rows.setdefault(places[name][1], []).append(name)
    for row in rows.values():
        shown = row if len(row) <= _MOST_NAMES else [row[0], row[-1]]
        for name in shown:
            offset = (0, -12) if below else (0, 8)
            axes.annotate(
                name, places[name], xytext=offset, textcoords="offset points", ha="center", fontsize=8, color=INK
            )
