# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the plot of a network with its load."""

from __future__ import annotations

import polars as pl
import pytest

from sfc_testbed.analysis.plots.description import Marks, Plot, Segments
from sfc_testbed.analysis.plots.load import MOST_HOSTS, plot_load
from sfc_testbed.telemetry.schema import LINKS, QUEUES
from sfc_testbed.topologies.shapes import shape

NETWORK = shape("clos", {"tors": 2, "spines": 1, "hosts_per_tor": 2}).build()
LINK_ROWS = [
    # 100 us at 100 Gb/s are 1,250,000 bytes.
    {"time_us": 50.0, "switch": "tor1", "port": 1, "sent_bytes": 0, "received_bytes": 500_000},
    {"time_us": 100.0, "switch": "tor1", "port": 1, "sent_bytes": 12_500, "received_bytes": 500_000},
    {"time_us": 100.0, "switch": "tor1", "port": 3, "sent_bytes": 1_000_000, "received_bytes": 12_500},
    {"time_us": 100.0, "switch": "spine1", "port": 1, "sent_bytes": 12_500, "received_bytes": 1_000_000},
]
QUEUE_ROWS = [
    {"time_us": 10.0, "switch": "tor1", "port": -1, "class": -1, "depth_bytes": 9, "high_water_bytes": 90_000},
    {"time_us": 10.0, "switch": "tor1", "port": 3, "class": 3, "depth_bytes": 9, "high_water_bytes": 80_000},
    {"time_us": 20.0, "switch": "tor1", "port": 3, "class": 3, "depth_bytes": 9, "high_water_bytes": 90_000},
    {"time_us": 20.0, "switch": "tor2", "port": 1, "class": 3, "depth_bytes": 0, "high_water_bytes": 10_000},
    {"time_us": 20.0, "switch": "tor2", "port": 2, "class": 3, "depth_bytes": 0, "high_water_bytes": 100},
]


def drawn(links: list[dict[str, object]] = LINK_ROWS, **parameters: int) -> Plot | None:
    topology = shape("clos", {"tors": 2, "spines": 1, "hosts_per_tor": 2, **parameters}).build()
    frames = (pl.DataFrame(rows, schema=of.dtypes) for rows, of in ((links, LINKS), (QUEUE_ROWS, QUEUES)))
    return plot_load(topology, *frames)


def items(plot: Plot | None, kind: type[Segments] | type[Marks]) -> list[Segments | Marks]:
    assert plot is not None
    named = [item for item in plot.panels[0].items if isinstance(item, (Segments, Marks))]
    return [item for item in named if isinstance(item, kind)]


def test_links_are_drawn_by_the_use_of_their_busier_direction() -> None:
    """The link of h1 is used for 80 %, the one to the spine, four times as fast, for 20 %, and no other one."""
    found = {part.label: part.texts for part in items(drawn(), Segments)}
    assert list(found) == ["not used", "up to 25 %", "above 75 %"]
    assert found["above 75 %"] == ["h1 – tor1, port 1: → 80.0 %, ← 1.0 % of 100 Gb/s"]
    assert found["up to 25 %"] == ["tor1, port 3 – spine1, port 1: → 20.0 %, ← 0.2 % of 400 Gb/s"]
    assert len(found["not used"]) == len(NETWORK.links) - 2


def test_the_longest_queue_of_each_port_is_marked_with_its_time() -> None:
    """The area of a mark is proportional to the queue. Much shorter queues have no mark."""
    [peaks] = [part for part in items(drawn(), Marks) if part.label]
    assert peaks.texts == [
        "tor1, port 3, to spine1: peak queue 90 KB until 20 µs",
        "tor2, port 1, to h3: peak queue 10 KB until 20 µs",
    ]
    assert isinstance(peaks, Marks)
    assert peaks.sizes[1] / peaks.sizes[0] == pytest.approx(1 / 3)


def test_a_network_without_traffic_is_not_drawn() -> None:
    assert drawn([]) is None


def test_a_very_large_network_is_drawn_without_its_hosts() -> None:
    large = {"tors": 16, "hosts_per_tor": MOST_HOSTS // 16 + 1}
    rows = [{**row, "port": row["port"] if row["port"] != 3 else large["hosts_per_tor"] + 1} for row in LINK_ROWS]
    plot = drawn(rows, **large)
    names = [name for part in items(plot, Marks) if not part.label for name in part.texts]
    assert names == [*(f"tor{number}" for number in range(1, 17)), "spine1"]
    assert sum(len(part.texts) for part in items(plot, Segments)) == 16
