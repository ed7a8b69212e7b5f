# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs in virtual time: SFC's effect on an incast as in the paper, and complete accounting of packets."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sfc_testbed.analysis.results.result import counted
from sfc_testbed.testbed.execution.execute import StoredRun
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.virtual import simulation
from sfc_testbed.testbed.virtual.part import lookahead_ns
from tests.testbed.incasts import assert_all_arrived, plan_incast, run_incast, run_plan, trace


@pytest.mark.parametrize("scheme", ["gbn", "irn", "ingress-bts", "sfc", "sfc+none", "irn+none"])
def test_every_scheme_delivers_everything_whole(tmp_path: Path, scheme: str) -> None:
    run = run_incast(tmp_path, scheme)
    assert run.result.flows.total == 8
    assert_all_arrived(run.result)
    assert (trace(run, "flows")["slowdown"] >= 1 - 1e-4).all()


def test_sfc_halves_the_peak_buffer(tmp_path: Path) -> None:
    settings = ("degree=16", "topology.hosts_per_tor=16")
    without, with_sfc = (run_incast(tmp_path, scheme, *settings).result for scheme in ("irn+none", "sfc+none"))
    assert counted(with_sfc.max_buffer_bytes) < counted(without.max_buffer_bytes) / 2
    assert counted(with_sfc.bts).sent > 0


def test_the_cache_answers_later_senders(tmp_path: Path) -> None:
    """Senders that start after the first pause reached their ToR are answered there, with less delay."""
    run = run_incast(tmp_path, "sfc+none", "degree=16", "topology.hosts_per_tor=16", "window_us=100")
    assert counted(run.result.bts).cache_hits > 0
    delay = trace(run, "signals").with_columns((pl.col("received_us") - pl.col("sent_us")).alias("delay"))
    near, far = (np.median(delay.filter(pl.col("cause") == cause)["delay"].to_numpy()) for cause in ("cache", "queue"))
    assert near < far


def test_losses_are_recovered_and_explained(tmp_path: Path) -> None:
    resent_bytes = {}
    for scheme in ("gbn", "irn"):
        run = run_incast(tmp_path, scheme, "switch.buffer_bytes=300000")
        assert counted(run.result.drops)["dynamic_threshold"] > 0
        assert_all_arrived(run.result)
        resent_bytes[scheme] = trace(run, "flows")["bytes_resent"].sum()
    assert 0 < resent_bytes["irn"] < resent_bytes["gbn"]


def test_a_run_cut_short_keeps_what_was_measured(tmp_path: Path) -> None:
    run = run_incast(tmp_path, duration_ms=0.05)
    assert run.result.flows.completed < run.result.flows.total
    assert run.result.unexplained_loss == 0
    assert 0 < trace(run, "goodput")["delivered_bytes"].sum() < 8 * 250_000


def test_goodput_is_the_rate_that_flowed(tmp_path: Path) -> None:
    """The receiver's link is busy until the last message: 1000 of 1058 bytes of each frame are payload."""
    goodput = trace(run_incast(tmp_path, "irn"), "goodput")
    rate = 8 * pl.col("delivered_bytes").sum() / (1000 * (pl.col("until_us") - pl.col("from_us")).first())
    over_time = goodput.group_by("from_us").agg(gbps=rate).sort("from_us")
    width_us = plan_incast("irn").transport.goodput_interval_ns / 1000
    first = int(over_time["from_us"][0] / width_us)
    assert first < 10
    assert over_time["from_us"].to_list() == [width_us * (first + index) for index in range(over_time.height)]
    assert over_time.height > 50
    assert over_time["gbps"].to_numpy().max() <= 100
    assert over_time["gbps"][1:-1].mean() == pytest.approx(100 * 1000 / 1058, rel=0.005)


def test_objects_of_a_run_return_to_garbage_collection_however_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ("degree=2", "message_bytes=3000")
    run_incast(tmp_path / "whole", "sfc", *settings)
    assert gc.get_freeze_count() == 0

    def refuse(*_: object) -> None:
        assert gc.get_freeze_count() > 0
        raise OSError("disk full")

    monkeypatch.setattr(Recorder, "begin", refuse)
    with pytest.raises(OSError, match="disk full"):
        run_incast(tmp_path / "cut", "sfc", *settings)
    assert gc.get_freeze_count() == 0


_FAULTS = ("jitter:all,max=2us", "duplicate:all,rate=2%", "loss:all,rate=0.5%")


def _traces(run: StoredRun) -> tuple[pl.DataFrame, ...]:
    flows, signals, goodput = (trace(run, name) for name in ("flows", "signals", "goodput"))
    return flows, signals.sort(pl.all()), goodput.sort(pl.all())


@pytest.mark.parametrize(("scheme", "faults"), [("sfc", ()), ("pfc", _FAULTS)])
def test_shorter_rounds_give_the_same_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scheme: str, faults: tuple[str, ...]
) -> None:
    plan = plan_incast(scheme, faults=faults, duration_ms=20.0)
    whole = lookahead_ns(plan.topology, plan.dilation)
    expected = _traces(run_plan(plan, tmp_path))
    assert expected[1].height > 0 or scheme == "pfc"
    monkeypatch.setattr(simulation, "lookahead_ns", lambda *_: whole // 7)
    for short, whole_trace in zip(_traces(run_plan(plan, tmp_path)), expected, strict=True):
        assert_frame_equal(short, whole_trace)


def test_links_without_delay_make_rounds_of_one_instant(tmp_path: Path) -> None:
    plan = plan_incast("sfc", "topology.host_delay_ns=0")
    assert lookahead_ns(plan.topology, plan.dilation) == 1
    assert_all_arrived(run_plan(plan, tmp_path).result)
