# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The alpha-beta bound of an iteration, compared with formulas and with runs on an idle network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import log2
from pathlib import Path

import numpy as np
import pytest

from sfc_testbed.analysis.results.result import RunResult
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import JobPlan, RunSpec
from sfc_testbed.testbed.flows.ideal import ideal_times_ns
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from tests.testbed.incasts import assert_all_arrived, plan_virtual, run_plan

STAR = ("topology.hosts=8", "transport.payload_bytes=4000", "transport.ack_every=8", "transport.bdp_bytes=1000000")
"""Settings for one path between two hosts, a window that never stops a sender, and few acknowledgments."""
RANKS, SIZE_BYTES = 8, 4_000_000

Time = Callable[[int], float]
"""Returns alpha + beta m in µs: the time of a message of m bytes on the idle path."""


def _plan(*words: str) -> RunPlan:
    usual = (f"ranks={RANKS}", f"bytes={SIZE_BYTES}", "iterations=2", *STAR)
    settings = parse_settings(usual) | parse_settings(words)
    return plan_run(RunSpec("collective", "irn", clock="virtual", topology="star", settings=settings))


def _ideal(*words: str) -> float:
    [job] = _plan(*words).config.jobs
    return job.ideal_us


def _message_time(plan: RunPlan) -> Time:
    flow = plan.flows.part(0, 1)

    def time_us(size_bytes: int) -> float:
        message = replace(flow, size_bytes=np.array([size_bytes]))
        times = ideal_times_ns(plan.topology, message, plan.transport.payload_bytes)
        return float(times.delivered[0]) / 1_000

    return time_us


def _halving(time_us: Time) -> float:
    return sum(time_us(SIZE_BYTES >> step) for step in range(1, 4))


def _tree(time_us: Time) -> float:
    """Return the time of one of two trees of eight ranks: six hops, four of them with two halves on a link."""
    return 4 * time_us(SIZE_BYTES) + 2 * time_us(SIZE_BYTES // 2)


FORMULAS: dict[tuple[str, str], Callable[[Time], float]] = {
    ("all-reduce", "ring"): lambda time_us: 2 * 7 * time_us(SIZE_BYTES // 8),
    ("all-gather", "ring"): lambda time_us: 7 * time_us(SIZE_BYTES // 8),
    ("reduce-scatter", "ring"): lambda time_us: 7 * time_us(SIZE_BYTES // 8),
    ("all-reduce", "recursive"): lambda time_us: 2 * _halving(time_us),
    ("all-gather", "recursive"): _halving,
    ("all-reduce", "double-binary-tree"): _tree,
    ("all-to-all", "shifted"): lambda time_us: 7 * time_us(SIZE_BYTES // 8),
    ("all-to-all", "at-once"): lambda time_us: time_us(7 * SIZE_BYTES // 8),
    ("broadcast", "ring"): lambda time_us: 7 * time_us(SIZE_BYTES),
    ("pipeline", "gpipe"): lambda time_us: 14 * time_us(SIZE_BYTES),
    ("moe", "at-once"): lambda time_us: 2 * time_us(7 * SIZE_BYTES // 8),
}
"""The alpha-beta time of each algorithm without chunks, as in docs/sources.md#collectives."""


def _run(folder: Path, plan: RunPlan) -> RunResult:
    result = run_plan(plan, folder).result
    assert_all_arrived(result)
    return result


@pytest.mark.parametrize(("collective", "algorithm"), FORMULAS)
def test_an_idle_network_needs_the_alpha_beta_time(tmp_path: Path, collective: str, algorithm: str) -> None:
    """The bound is within 0.5 % of the formula, and both iterations of a run are within 2 % above the bound."""
    plan = _plan(f"collective={collective}", f"algorithm={algorithm}", "placement=packed")
    [job] = plan.config.jobs
    formula_us = FORMULAS[collective, algorithm](_message_time(plan))
    assert job.ideal_us == pytest.approx(formula_us, rel=0.005)
    [figures] = _run(tmp_path, plan).jobs
    assert figures.min_us is not None
    assert figures.max_us is not None
    assert job.ideal_us <= figures.min_us <= figures.max_us < 1.02 * job.ideal_us
    assert figures.slowdown == pytest.approx(1, abs=0.02)


def test_chunks_hide_the_latency_of_a_ring() -> None:
    """With many chunks, the NIC of each rank is busy all the time: the sending time and one latency."""
    time_us = _message_time(_plan())
    busy_us = time_us(2 * 7 * SIZE_BYTES // 8)
    assert busy_us <= _ideal("chunks=25") < 1.01 * busy_us < _ideal("chunks=1")


def test_steps_of_a_rank_that_computes_take_longer() -> None:
    """Processing costs `step_us` in the 13 steps of a ring that forward something, and once in a shifted moe."""
    assert _ideal("step_us=10") == pytest.approx(_ideal() + 130, abs=0.01)
    experts = ("collective=moe", "algorithm=shifted")
    assert _ideal("step_us=10", *experts) == pytest.approx(_ideal(*experts) + 10, abs=0.01)


def test_the_busiest_expert_bounds_a_mixture_of_experts(tmp_path: Path) -> None:
    """With skew 1, the first of eight experts gets 36.8 % of the tokens of seven ranks over one link, and answers."""
    plan = _plan("collective=moe", "skew=1", "placement=packed")
    time_us = _message_time(plan)
    first = SIZE_BYTES / sum(1 / place for place in range(1, 9))
    [job] = plan.config.jobs
    assert job.ideal_us == pytest.approx(2 * time_us(round(7 * first)), rel=0.01)
    [figures] = _run(tmp_path, plan).jobs
    assert job.ideal_us <= (figures.min_us or 0) < 1.5 * job.ideal_us


@pytest.mark.parametrize(
    "words",
    [
        ("collective=all-to-all", "placement=random"),
        ("chunks=3", "jobs=2"),
        ("algorithm=double-binary-tree", "chunks=4", "ranks=11", "step_us=1.5"),
        ("algorithm=recursive", "ranks=6"),
        ("collective=broadcast", "algorithm=double-binary-tree", "chunks=5", "jitter_us=9"),
        ("collective=moe", "algorithm=shifted", "skew=0.7", "degree=5", "barrier=none", "compute_us=4"),
    ],
)
@pytest.mark.parametrize("scheme", ["irn", "sfc+hpcc"])
def test_no_iteration_is_faster_than_its_bound(tmp_path: Path, words: tuple[str, ...], scheme: str) -> None:
    settings = ("bytes=200000", "iterations=3", "topology.hosts_per_tor=8", *words)
    plan = plan_virtual("collective", scheme, *settings, topology="clos")
    result = _run(tmp_path, plan)
    assert len(result.jobs) == len(plan.config.jobs)
    for job in result.jobs:
        assert len(job.took_us) == 3
        assert all(took_us is not None and took_us >= job.ideal_us for took_us in job.took_us)


_ONE_HOST_A_RACK = ("topology.hosts_per_tor=1", "topology.spines=16", "barrier=none")


@pytest.mark.parametrize(
    ("topology", "words"),
    [
        ("clos", ("collective=all-to-all", "ranks=5", "topology.tors=5", "topology.fabric_rate_bps=60G")),
        ("clos", ("collective=moe", "skew=1", "ranks=3", "topology.tors=3", "topology.fabric_rate_bps=25G")),
        ("clos", ("collective=moe", "ranks=3", "topology.tors=3", "topology.host_rates_bps=100G,25G")),
        ("rail", ("collective=moe", "skew=1", "ranks=6", "bytes=50000")),
    ],
)
@pytest.mark.parametrize("balancing", ["ecmp", "flowlet", "spray"])
def test_no_iteration_over_slow_links_is_faster_than_its_bound(
    tmp_path: Path, topology: str, words: tuple[str, ...], balancing: str
) -> None:
    """A NIC sends messages in turn, so frames need not wait for one another before a slower link.

    The short last frame of a message need not wait for the others either.
    """
    of_racks = () if topology == "rail" else ("bytes=60000", *_ONE_HOST_A_RACK)
    settings = ("iterations=2", *of_racks, *words)
    plan = plan_virtual("collective", "irn", *settings, topology=topology, load_balancing=balancing, seed=2)
    [job] = _run(tmp_path, plan).jobs
    assert all(took_us is not None and took_us >= job.ideal_us for took_us in job.took_us)


def test_jobs_of_a_flow_file_have_an_ideal_but_no_size(tmp_path: Path) -> None:
    """A file has the columns job, iteration, step and rank, but not the size that defines the bandwidths."""
    run = run_plan(_plan(), tmp_path)
    replay = plan_virtual("flows", "irn", *STAR, topology="star", flow_file=run.folder / "flows-input.csv")
    [replayed] = replay.config.jobs
    [job] = _plan().config.jobs
    assert replayed == JobPlan(
        number=1, collective="", algorithm="", ranks=RANKS, size_bytes=None, bus_factor=None, iterations=2,
        ideal_us=job.ideal_us,
    )  # fmt: skip
    [figures] = _run(tmp_path / "again", replay).jobs
    assert figures.took_us == run.result.jobs[0].took_us
    assert figures.busbw_gbytes_per_s is None


def test_a_small_message_needs_the_latency() -> None:
    """A ring of one-byte segments takes 14 latencies, each with a frame of the least size at every link."""
    time_us = _message_time(_plan())
    assert _ideal("bytes=8") == pytest.approx(14 * time_us(1), abs=0.01)
    assert _ideal("algorithm=recursive", "bytes=8") < _ideal("bytes=8") * (2 * log2(RANKS) + 1) / 14
