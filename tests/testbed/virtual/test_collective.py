# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs of collectives on the virtual clock: barriers, gaps, the slowest chain, and their tables."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.analysis.report.page_tables import compared_iteration_tables, iteration_table
from sfc_testbed.analysis.results.comparison import compare, result_row
from sfc_testbed.analysis.results.result import read_result
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.cli.tracing import critical_chain
from sfc_testbed.reproduction.model.quantities import BUS_BANDWIDTH, ITERATION_SLOWDOWN, ITERATION_TIME
from sfc_testbed.request.extensions import use
from sfc_testbed.request.spec import BARRIER_TAG
from sfc_testbed.testbed.errors import UsageError
from tests.extended import nothing_remains, write_extension
from tests.testbed.incasts import plan_virtual, run_plan

SMALL = ("ranks=4", "bytes=80000", "iterations=3", "topology.hosts_per_tor=4")


def _run(folder: Path, *words: str, scheme: str = "irn", seed: int = 1) -> Path:
    return run_plan(plan_virtual("collective", scheme, *SMALL, *words, topology="clos", seed=seed), folder).folder


def _data(folder: Path) -> pl.DataFrame:
    return load_run(folder).flows.filter(pl.col("tag") != BARRIER_TAG)


@pytest.mark.parametrize("incast", [(), ("degree=3",)])
def test_no_rank_begins_before_the_parts_of_all_ranks_are_done(tmp_path: Path, incast: tuple[str, ...]) -> None:
    """The gap of 7 us follows the barrier, which follows the last receipt of the iteration before."""
    data = _data(_run(tmp_path, "compute_us=7", "jitter_us=20", *incast)).drop_nulls("job")
    for iteration in (1, 2):
        last_us = data.filter(pl.col("iteration") == iteration)["received_us"].to_numpy().max()
        next_us = data.filter(pl.col("iteration") == iteration + 1)["start_us"].to_numpy().min()
        assert next_us > last_us + 7


def test_without_a_barrier_ranks_drift_apart(tmp_path: Path) -> None:
    """Gaps of up to 500 us let one neighbour of an idle rank begin before another rank has ended its part."""
    data = _data(_run(tmp_path, "collective=pipeline", "barrier=none", "compute_us=7", "jitter_us=500"))
    for rank in range(4):
        own = (pl.col("rank") == rank) | (pl.col("dst") == data.filter(pl.col("rank") == rank)["src"][0])
        ends_us = data.filter(own & (pl.col("iteration") == 1)).select("received_us", "finish_us", "dst", "rank")
        mine = data.filter((pl.col("rank") == rank) & (pl.col("iteration") == 2))
        assert mine["start_us"].to_numpy().min() >= ends_us["received_us"].to_numpy().max() + 7
    last_us = data.filter(pl.col("iteration") == 1)["received_us"].to_numpy().max()
    assert data.filter(pl.col("iteration") == 2)["start_us"].to_numpy().min() < last_us + 507


def test_the_slowest_chain_of_a_stored_run_is_that_of_its_result(tmp_path: Path) -> None:
    folder = _run(tmp_path, "chunks=2", "degree=3")
    run = load_run(folder)
    [job] = run.result.jobs
    assert job.straggler is not None
    chain = critical_chain(run, f"1/{job.straggler.iteration}")
    assert tuple(link.row["flow_id"] for link in chain) == job.straggler.chain
    assert [link.row["step"] for link in chain] == list(range(1, 7))
    assert all(first.row["dst"] == second.row["src"] for first, second in pairwise(chain))


@pytest.mark.parametrize(("words", "message"), [("1/4", "there are 1/1 to 1/3"), ("1", "must be JOB/ITERATION")])
def test_an_iteration_that_does_not_exist_is_one_line(tmp_path: Path, words: str, message: str) -> None:
    run = load_run(_run(tmp_path))
    with pytest.raises(UsageError, match=message):
        critical_chain(run, words)


def test_tables_sweeps_and_quantities_have_the_iterations(tmp_path: Path) -> None:
    folders = [_run(tmp_path, "jobs=2", scheme=scheme, seed=seed) for scheme in ("irn", "sfc") for seed in (1, 2)]
    results = [read_result(folder) for folder in folders]
    table = iteration_table(results[0])
    assert table is not None
    assert [row[:2] for row in table.rows] == [("1", "3/3"), ("2", "3/3")]
    comparison = compare(results)
    assert [(row.label, row.job) for row in comparison.iterations] == [
        (scheme, f"{job} all-reduce (ring)") for job in (1, 2) for scheme in ("irn", "sfc")
    ]
    assert all(row.mean is not None and row.mean.runs == 2 for row in comparison.iterations)
    [compared] = compared_iteration_tables(comparison)
    assert len(compared.rows) == 4
    run = load_run(folders[0])
    mean_us = sum(job.mean_us or 0 for job in run.result.jobs) / 2
    assert ITERATION_TIME.measure(run) == pytest.approx(mean_us)
    assert result_row(run.result)["iteration_us"] == pytest.approx(mean_us)
    assert ITERATION_SLOWDOWN.measure(run) > 1
    assert BUS_BANDWIDTH.measure(run) < 12.5


def test_an_unfinished_run_has_no_means(tmp_path: Path) -> None:
    run = run_plan(plan_virtual("collective", "irn", *SMALL, topology="clos", duration_ms=0.05), tmp_path)
    [job] = run.result.jobs
    assert job.mean_us is None
    assert len(job.took_us) == 3
    with pytest.raises(UsageError, match="were not received, so the iteration has no end"):
        critical_chain(load_run(run.folder), "1/3")


DIRECT = """\
import sfc_testbed as sfc


@sfc.collective_algorithm("all-reduce", "direct")
class Direct(sfc.CollectiveAlgorithm):
    \"""Every rank sends its parts to their owners, and each owner sends the sum to all others.\"""

    has_chunks = False

    def add_messages(self, schedule, call):
        part = call.size_bytes // call.ranks
        peers = [[peer for peer in range(call.ranks) if peer != rank] for rank in range(call.ranks)]
        parts = [[] for _ in peers]
        for rank, others in enumerate(peers):
            for peer in others:
                parts[peer].append(schedule.send(rank, peer, part, step=1))
        for rank, others in enumerate(peers):
            for peer in others:
                schedule.send(rank, peer, part, step=2, processed=parts[rank], queue_pair=2)
"""


def test_the_all_reduce_of_a_file_runs_and_is_measured(tmp_path: Path) -> None:
    """Messages keep their payloads, and sums leave an owner only when it has all parts."""
    with nothing_remains():
        use(write_extension(tmp_path, DIRECT))
        settings = ("algorithm=direct", "ranks=6", "bytes=60000", "iterations=1")
        plan = plan_virtual("collective", "irn", "collective=all-reduce", *settings)
        result = run_plan(plan, tmp_path).result
        assert (result.verdict, result.flows.completed, result.flows.corrupted) == ("faithful", 60, 0)
        [job] = result.jobs
        assert (job.algorithm, job.ranks, len(job.took_us)) == ("direct", 6, 1)
        assert job.slowdown is not None and 1 <= job.slowdown < 1.5
        with pytest.raises(UsageError, match="algorithm 'direct': all-gather has no such algorithm"):
            plan_virtual("collective", "irn", "collective=all-gather", *settings)
