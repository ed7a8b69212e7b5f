# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The plot of a network with its load: links by their mean use, and ports by the peak of their queues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfc_testbed.analysis.formatting import format_bytes, three_digits
from sfc_testbed.analysis.plots.description import Axis, Item, Marker, Marks, Plot, PlotPanel, Segments
from sfc_testbed.analysis.plots.palette import BACKDROP, INK, MUTED, SOLID, LineLook
from sfc_testbed.analysis.plots.places import Place, places_of
from sfc_testbed.telemetry.reader import Rows, answer
from sfc_testbed.telemetry.schema import WHOLE_BUFFER
from sfc_testbed.topologies.model import Link, Port, Topology

_LEVELS = (
    (0.0, "not used", BACKDROP, 0.8),
    (0.25, "up to 25 %", "#56B4E9", 1.2),
    (0.5, "25 to 50 %", "#0072B2", 1.8),
    (0.75, "50 to 75 %", "#E69F00", 2.6),
    (1.0, "above 75 %", "#D55E00", 3.4),
)
"""The highest mean use of each level, its name in the legend, and the colour and width of its links."""
_FEW_LINKS = 200
"""The most links that have these widths. More links have half of them."""
_PEAK_COLOR = "#AA4499"
MOST_HOSTS = 1024
"""The most hosts that are drawn. A larger network is drawn without hosts and their links."""
_MOST_PEAKS = 64
"""The most ports whose peaks are marked."""
_LEAST_PEAK = 0.02
"""The lowest peak that is marked, as a part of the highest."""
_PEAK_POINTS = (5.0, 20.0)
"""The diameter of the smallest and of the largest mark of a peak."""
_MOST_NAMES = 24
"""The most names in a row of nodes; of more nodes, the first and the last have their names."""
_MARGINS = (0.02, 0.35)


@dataclass(frozen=True)
class _Use:
    """The mean use of both directions of a link, as parts of its rate."""

    link: Link
    from_a: float
    from_b: float

    @property
    def highest(self) -> float:
        """The use of the busier direction."""
        return max(self.from_a, self.from_b)

    @property
    def text(self) -> str:
        """The ends of the link, its rate and its use."""
        a, b = self.link.a, self.link.b
        uses = f"→ {self.from_a * 100:.1f} %, ← {self.from_b * 100:.1f} %"
        return f"{_end(a)} – {_end(b)}: {uses} of {self.link.rate_bps / 1e9:g} Gb/s"


def plot_load(topology: Topology, links: Rows, queues: Rows) -> Plot | None:
    """Plot a network with its load; None if its links carried nothing."""
    uses = _uses(topology, links)
    if not any(use.highest for use in uses):
        return None
    places = places_of(topology)
    has_hosts = len(topology.hosts) <= MOST_HOSTS
    shown = [use for use in uses if has_hosts or _is_between_switches(topology, use.link)]
    rows = max(row for _, row in places.values())
    lowest = 0.0 if has_hosts else 1.0
    panel = PlotPanel(
        f"{topology.name}: {len(topology.hosts):,} hosts, {len(topology.switches):,} switches",
        Axis(low=-_MARGINS[0], high=1 + _MARGINS[0]),
        Axis(low=lowest - _MARGINS[1], high=rows + _MARGINS[1]),
        (*_links(shown, places), *_peaks(topology, queues, places, has_hosts), *_nodes(topology, places, has_hosts)),
        has_axes=False,
    )
    return Plot([panel], height_inches=2.2 + 1.2 * (rows - lowest))


def _end(port: Port) -> str:
    return f"{port.node}, port {port.number}" if port.number else port.node


def _is_between_switches(topology: Topology, link: Link) -> bool:
    return link.a.node in topology.switch and link.b.node in topology.switch


def _uses(topology: Topology, links: Rows) -> list[_Use]:
    query = links.lazy()
    sums = answer(
        query.group_by("switch", "port").agg(
            pl.col("sent_bytes", "received_bytes").cast(pl.UInt64).sum(), pl.col("time_us").max()
        )
    )
    if sums.is_empty():
        return []
    end_us = float(sums["time_us"].max())  # type: ignore[arg-type]
    carried = {
        Port(switch, port): (sent, received) for switch, port, sent, received, _ in sums.iter_rows() if end_us > 0
    }
    uses = []
    for link in topology.links:
        sent, received = carried.get(link.a) or carried.get(link.b, (0, 0))[::-1]
        capacity = link.rate_bps * end_us / 8e6
        uses.append(_Use(link, sent / capacity, received / capacity))
    return uses


def _links(uses: Sequence[_Use], places: Mapping[str, Place]) -> Iterator[Segments]:
    """Yield the links of each level of use, the busiest last so that they are on top."""
    lowest, thin = -1.0, 1.0 if len(uses) <= _FEW_LINKS else 0.5
    for highest, name, color, width in _LEVELS:
        top = highest if highest < 1 else float("inf")
        of_level = [use for use in uses if lowest < use.highest <= top]
        lowest = top
        if of_level:
            ends = [places[end.node] for use in of_level for end in (use.link.a, use.link.b)]
            x, y = np.array(ends).T
            yield Segments(name, LineLook(color, SOLID), x, y, [use.text for use in of_level], width * thin)


def _peaks(topology: Topology, queues: Rows, places: Mapping[str, Place], has_hosts: bool) -> Iterator[Marks]:
    """Yield the marks of the ports with the longest queues. Their area is proportional to the peak."""
    of_ports = queues.lazy().filter((pl.col("port") != WHOLE_BUFFER) & (pl.col("high_water_bytes") > 0))
    by_port = of_ports.group_by("switch", "port").agg(
        pl.col("high_water_bytes").max(), pl.col("time_us").get(pl.col("high_water_bytes").arg_max())
    )
    peaks = answer(by_port).sort("high_water_bytes", "switch", "port", descending=[True, False, False])
    rows = [
        (topology.link_at[Port(switch, port)], Port(switch, port), peak, at_us)
        for switch, port, peak, at_us in peaks.iter_rows()
        if Port(switch, port) in topology.link_at
    ]
    rows = [row for row in rows if has_hosts or _is_between_switches(topology, row[0])][:_MOST_PEAKS]
    rows = [row for row in rows if row[2] >= _LEAST_PEAK * rows[0][2]]
    if not rows:
        return
    marks = [_on_link(places, port, link) for link, port, *_ in rows]
    texts = [
        f"{_end(port)}, to {link.other(port).node}: peak queue {format_bytes(peak)} until {three_digits(at_us)} µs"
        for link, port, peak, at_us in rows
    ]
    low, high = _PEAK_POINTS
    sizes = [max(low, high * (peak / rows[0][2]) ** 0.5) for *_, peak, _ in rows]
    x, y = np.array(marks).T
    name = f"peak queue, at most {format_bytes(rows[0][2])}"
    yield Marks(name, LineLook(_PEAK_COLOR, SOLID), x, y, texts, np.array(sizes), alpha=0.75)


def _on_link(places: Mapping[str, Place], port: Port, link: Link) -> Place:
    """Return the place of a mark on a link: near the port, and near the host on its link, where links are apart."""
    (x, y), (other_x, other_y) = places[port.node], places[link.other(port).node]
    share = 0.7 if other_y == 0 else 0.25
    return x + share * (other_x - x), y + share * (other_y - y)


def _nodes(topology: Topology, places: Mapping[str, Place], has_hosts: bool) -> Iterator[Item]:
    hosts = [host.name for host in topology.hosts] if has_hosts else []
    switches = [switch.name for switch in topology.switches]
    for names, color, shape, size in ((hosts, MUTED, "o", 4.0), (switches, INK, "s", 8.0)):
        if names:
            x, y = np.array([places[name] for name in names]).T
            look, sizes = LineLook(color, SOLID), np.full(len(names), size)
            labels, marker = _labels(names, places), Marker(shape)
            yield Marks(
                "", look, x, y, names, sizes, labels, is_above=names is switches, marker=marker, in_legend=False
            )


def _labels(names: Iterable[str], places: Mapping[str, Place]) -> list[str]:
    """Return the names that are drawn beside nodes; an empty text for the others."""
    rows: dict[float, list[str]] = {}
    names = list(names)
    for name in names:
        rows.setdefault(places[name][1], []).append(name)
    shown = {name for row in rows.values() for name in (row if len(row) <= _MOST_NAMES else (row[0], row[-1]))}
    return [name if name in shown else "" for name in names]
