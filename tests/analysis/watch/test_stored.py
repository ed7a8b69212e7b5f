# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the content of a stored run's page: thinning, lost bytes, and what the notes say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.analysis.watch import stored
from sfc_testbed.analysis.watch.stored import Watched, lost_bytes, run_content
from sfc_testbed.telemetry.schema import LINKS, QUEUES, WHOLE_BUFFER
from sfc_testbed.topologies.shapes import shape
from tests.analysis.conftest import FolderMaker, frame_of
from tests.analysis.watch.test_chunk import values

NETWORK = shape("clos", {"tors": 2, "hosts_per_tor": 16, "spines": 2}).build()


def _content(make_run_folder: FolderMaker, runs: int = 1) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the samples of a run's queues, and the content of its page."""
    run = load_run(make_run_folder("sfc"))
    return run.queues.collect(), run_content(Watched(run, NETWORK, "sfc", {}), runs)


def _columns(content: dict[str, Any], part: str) -> dict[str, Any]:
    [chunk] = content["chunks"]
    return {name: values(text) for name, text in chunk[part].items()}


def test_all_samples_are_on_the_page_of_a_small_run(make_run_folder: FolderMaker) -> None:
    queues, content = _content(make_run_folder)
    held = queues.filter((pl.col("port") != WHOLE_BUFFER) | (pl.col("high_water_bytes") > 0)).sort("time_us")
    columns = _columns(content, "queues")
    assert columns["depth_bytes"].tolist() == held["depth_bytes"].to_list()
    assert content["scene"]["queue_interval_us"] == 10
    assert content["scene"]["notes"] == []


def test_merged_samples_keep_peaks_and_the_depth_at_the_end(
    make_run_folder: FolderMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "MOST_ROWS", {**stored.MOST_ROWS, "queues": 120})
    queues, content = _content(make_run_folder)
    columns, interval_us = _columns(content, "queues"), content["scene"]["queue_interval_us"]
    assert len(columns["time_us"]) <= 120
    names = content["scene"]["names"]
    of_queues = queues.filter(pl.col("port") != WHOLE_BUFFER)
    for switch, port in of_queues.select("switch", "port").unique().rows():
        chosen = (columns["switch"] == names.index(switch)) & (columns["port"] == port)
        rows = of_queues.filter((pl.col("switch") == switch) & (pl.col("port") == port))
        assert columns["high_water_bytes"][chosen].max() == rows["high_water_bytes"].max()
        depth_at = dict(rows.select("time_us", "depth_bytes").iter_rows())
        for time_us, depth in zip(columns["time_us"][chosen], columns["depth_bytes"][chosen], strict=True):
            assert time_us % interval_us == 0
            assert depth == depth_at.get(float(time_us), 0)
    assert f"one sample in {interval_us:g} µs" in " ".join(content["scene"]["notes"])


def test_several_runs_share_the_rows_of_a_page(make_run_folder: FolderMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MOST_ROWS", {**stored.MOST_ROWS, "flows": 400, "signals": 60})
    _, content = _content(make_run_folder, runs=2)
    assert len(_columns(content, "flows")["flow_id"]) == 200
    assert len(_columns(content, "signals")["received_us"]) <= 30
    assert any(note.startswith("Only the 200 slowest flows") for note in content["scene"]["notes"])


def test_lost_bytes_are_what_a_switch_received_but_neither_sent_nor_holds() -> None:
    """Bytes that a link lost were sent."""
    depths = enumerate((0, 500, 700, 900), 1)
    queues = frame_of(QUEUES, [(10.0 * n, "tor1", -1, -1, depth, depth) for n, depth in depths])
    links = frame_of(
        LINKS,
        [
            (20.0, "tor1", 1, 0, 3000, 0), (20.0, "tor1", 2, 2500, 0, None),
            (40.0, "tor1", 1, 100, 4000, 0), (40.0, "tor1", 2, 2500, 0, 70),
        ],
    )  # fmt: skip
    lost = lost_bytes(queues.lazy(), links.lazy(), 10.0, 20.0)
    assert lost.rows() == [(40.0, "tor1", 4000 - 2600 - (900 - 500) + 70)]


def test_a_time_that_is_not_finite_does_not_end_the_page(make_run_folder: FolderMaker) -> None:
    run = load_run(make_run_folder("sfc"))
    damaged = replace(run, flows=run.flows.with_columns(finish_us=pl.lit(np.inf)))
    scene = run_content(Watched(damaged, NETWORK, "sfc", {}))["scene"]
    assert 3_000 < scene["end_us"] < 10_000
