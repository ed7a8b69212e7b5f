# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs in virtual time: SFC's effect on an incast as in the paper, and complete accounting of packets."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from analysis.results.result import RunResult, counted
from testbed.execution.execute import execute
from testbed.plan.plan import RunRequest, plan_run
from testbed.recording.outcome import Silent
from testbed.recording.recorder import Recorder


def _run(tmp_path: Path, scheme: str, *settings: str) -> tuple[RunResult, pl.DataFrame, pl.DataFrame]:
    finished = execute(
        plan_run(RunRequest("incast", scheme=scheme, clock="virtual", settings=settings)), tmp_path, Silent()
    )
    flows, signals = (pl.read_parquet(finished.folder / f"{name}.parquet") for name in ("flows", "signals"))
    return finished.result, flows, signals


@pytest.mark.parametrize("scheme", ["gbn", "irn", "ingress-bts", "sfc", "sfc+none", "irn+none"])
def test_every_scheme_delivers_everything_whole(tmp_path: Path, scheme: str) -> None:
    result, flows, _ = _run(tmp_path, scheme)
    assert result.flows.completed == result.flows.total == 8
    assert result.flows.corrupted == 0
    assert result.unexplained_loss == 0
    assert result.verdict == "faithful"
    assert (flows["slowdown"] >= 1 - 1e-4).all()


def test_sfc_halves_the_peak_buffer(tmp_path: Path) -> None:
    settings = ("degree=16", "topology.hosts_per_tor=16")
    without, _, _ = _run(tmp_path, "irn+none", *settings)
    with_sfc, _, _ = _run(tmp_path, "sfc+none", *settings)
    assert counted(with_sfc.max_buffer_bytes) < counted(without.max_buffer_bytes) / 2
    assert counted(with_sfc.bts).sent > 0


def test_the_cache_answers_later_senders(tmp_path: Path) -> None:
    """Senders that start after the first pause reached their ToR are answered there, with less delay."""
    result, _, signals = _run(tmp_path, "sfc+none", "degree=16", "topology.hosts_per_tor=16", "window_us=100")
    assert counted(result.bts).cache_hits > 0
    delay = signals.with_columns((pl.col("received_us") - pl.col("sent_us")).alias("delay"))
    near, far = (np.median(delay.filter(pl.col("cause") == cause)["delay"].to_numpy()) for cause in ("cache", "queue"))
    assert near < far


def test_losses_are_recovered_and_explained(tmp_path: Path) -> None:
    resent_bytes = {}
    for scheme in ("gbn", "irn"):
        result, flows, _ = _run(tmp_path, scheme, "switch.buffer_bytes=300000")
        assert counted(result.drops)["dynamic_threshold"] > 0
        assert result.flows.completed == result.flows.total
        assert result.flows.corrupted == 0
        assert result.unexplained_loss == 0
        resent_bytes[scheme] = flows["bytes_resent"].sum()
    assert 0 < resent_bytes["irn"] < resent_bytes["gbn"]


def test_a_run_cut_short_keeps_what_was_measured(tmp_path: Path) -> None:
    plan = plan_run(RunRequest("incast", clock="virtual", duration_ms=0.05))
    finished = execute(plan, tmp_path, Silent())
    result = finished.result
    assert result.flows.completed < result.flows.total
    assert result.unexplained_loss == 0
    delivered = pl.read_parquet(finished.folder / "goodput.parquet")["delivered_bytes"].sum()
    assert 0 < delivered < 8 * 250_000


def test_goodput_adds_up_to_the_messages(tmp_path: Path) -> None:
    plan = plan_run(RunRequest("incast", clock="virtual", settings=("transport.goodput_interval_ns=20000",)))
    folder = execute(plan, tmp_path, Silent()).folder
    goodput, flows = (pl.read_parquet(folder / f"{name}.parquet") for name in ("goodput", "flows"))
    by_flow = goodput.group_by("flow_id").agg(pl.col("delivered_bytes").sum()).sort("flow_id")
    assert by_flow["delivered_bytes"].to_list() == flows.sort("flow_id")["size_bytes"].to_list()
    by_interval = goodput.group_by("from_us").agg(pl.col("delivered_bytes").sum())["delivered_bytes"]
    assert by_interval.to_numpy().max() <= 250_000


def test_flows_of_one_sender_share_its_wire(tmp_path: Path) -> None:
    result, flows, _ = _run(tmp_path, "sfc", "flows_per_sender=5", "message_bytes=50000")
    assert result.flows.completed == 40
    assert flows["src"].n_unique() == 8


def test_goodput_is_the_rate_that_flowed(tmp_path: Path) -> None:
    """The receiver's link is busy until the last message: 1000 of 1058 bytes of each frame are payload."""
    plan = plan_run(RunRequest("incast", scheme="irn", clock="virtual"))
    goodput = pl.read_parquet(execute(plan, tmp_path, Silent()).folder / "goodput.parquet")
    rate = 8 * pl.col("delivered_bytes").sum() / (1000 * (pl.col("until_us") - pl.col("from_us")).first())
    over_time = goodput.group_by("from_us").agg(gbps=rate).sort("from_us")
    width_us = plan.transport.goodput_interval_ns / 1000
    first = int(over_time["from_us"][0] / width_us)
    assert first < 10
    assert over_time["from_us"].to_list() == [width_us * (first + index) for index in range(over_time.height)]
    assert over_time.height > 50
    assert over_time["gbps"][1:-1].mean() == pytest.approx(100 * 1000 / 1058, rel=0.005)


def test_objects_of_a_run_return_to_garbage_collection_however_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_run(RunRequest("incast", scheme="sfc", clock="virtual", settings=("degree=2", "message_bytes=3000")))
    execute(plan, tmp_path / "whole", Silent())
    assert gc.get_freeze_count() == 0

    def refuse(*_: object) -> None:
        assert gc.get_freeze_count() > 0
        raise OSError("disk full")

    monkeypatch.setattr(Recorder, "begin", refuse)
    with pytest.raises(OSError, match="disk full"):
        execute(plan, tmp_path / "cut", Silent())
    assert gc.get_freeze_count() == 0
