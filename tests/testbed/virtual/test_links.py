# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the trace of links in virtual time: its sums equal the counters of the switches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sfc_testbed.analysis.results.result import read_result
from sfc_testbed.testbed.virtual.part import Part
from sfc_testbed.topologies.model import Port
from tests.testbed.incasts import plan_incast, run_incast, trace

_FABRIC = ("topology.tors=3", "topology.spines=2", "degree=12", "topology.hosts_per_tor=7", "message_bytes=60000")


@pytest.fixture
def counters(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the statistics of each switch, which are filled when a run ends."""
    statistics: dict[str, Any] = {}
    close = Part.close

    def keep(part: Part) -> None:
        statistics.update({name: engine.statistics()["ports"] for name, engine in part._engines.items()})
        close(part)

    monkeypatch.setattr(Part, "close", keep)
    return statistics


@pytest.mark.parametrize(
    ("scheme", "faults"),
    [
        ("sfc", ()),
        ("irn", ("loss:all,rate=1%",)),
        ("irn", ("corrupt:all,rate=1%", "duplicate:all,rate=1%")),
        ("sfc", ("link:tor1-spine1,down=30us,up=70us",)),
    ],
)
def test_links_balance_and_add_up_to_the_counters(
    tmp_path: Path, counters: dict[str, Any], scheme: str, faults: tuple[str, ...]
) -> None:
    run = run_incast(tmp_path, scheme, *_FABRIC, faults=faults, duration_ms=20.0)
    plan = plan_incast(scheme, *_FABRIC, faults=faults, duration_ms=20.0)
    sums = trace(run, "links").group_by("switch", "port").agg(pl.sum("sent_bytes", "received_bytes", "lost_bytes"))
    measured = {(switch, port): tuple(figures) for switch, port, *figures in sums.iter_rows()}
    counted = {
        (switch, int(port)): (counts["tx_bytes"], counts["rx_bytes"])
        for switch, ports in counters.items()
        for port, counts in ports.items()
        if counts["tx_bytes"] or counts["rx_bytes"]
    }
    assert sum(lost for *_, lost in measured.values()) > 0 or not faults
    if not faults:
        assert {port: (sent, received) for port, (sent, received, _) in measured.items()} == counted
    for link in plan.topology.links:
        if isinstance(link.a, Port) and link.a.node in counters and link.b.node in counters:
            a, b = (measured.get((end.node, end.number), (0, 0, 0)) for end in (link.a, link.b))
            assert a[0] + b[0] == a[1] + b[1] + a[2] + b[2]
            assert faults or (a[0], a[1]) == (b[1], b[0]), "each end receives what the other one sent"


def test_equal_cost_links_have_figures(tmp_path: Path) -> None:
    """A run without equal-cost links has none, and its result file has no such field."""
    fabric = run_incast(tmp_path, "sfc", *_FABRIC)
    assert fabric.result.link_balance is not None
    links = trace(fabric, "links").filter(pl.col("switch").str.starts_with("tor") & (pl.col("port") > 7))
    assert fabric.result.link_balance.sent_bytes == links["sent_bytes"].sum()
    assert 0.5 <= fabric.result.link_balance.jain_index <= 1 <= fabric.result.link_balance.largest_over_mean <= 2
    star = run_incast(tmp_path / "star", "sfc", topology="star")
    assert read_result(star.folder).link_balance is None
    assert "link_balance" not in (star.folder / "result.json").read_text()
