# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the figures of jobs' iterations, with values computed by hand."""

from __future__ import annotations

import polars as pl
import pytest

from sfc_testbed.analysis.metrics.iterations import Waits, job_figures, messages_of, slowest_chain
from sfc_testbed.request.spec import BARRIER_TAG, JobPlan
from sfc_testbed.telemetry.schema import FLOWS
from tests.analysis.conftest import trace_of

JOB = JobPlan(
    number=1, collective="all-reduce", algorithm="ring", ranks=3, size_bytes=6_000, bus_factor=4 / 3, iterations=2,
    ideal_us=10.0,
)  # fmt: skip
WAITS: Waits = {2: ((1, 2), (0, 3_000)), 3: ((3,), 0)}
"""Flow 3 waits for flows 1 and 2, with 3 us after the latter, and flow 4 for flow 3."""


def _flow(number: int, src: str, dst: str, start: float, received: float | None, **more: object) -> dict[str, object]:
    finish = None if received is None else received + 2
    fct = None if finish is None else finish - start
    return {
        "flow_id": number, "src": src, "dst": dst, "tag": "all-reduce", "size_bytes": 1_000, "start_us": start,
        "finish_us": finish, "fct_us": fct, "received_us": received, "ideal_fct_us": 4.0, "job": 1, "iteration": 1,
        "rank": int(src[1:]) - 1, "slowdown": None if fct is None else fct / 4.0, **more,
    }  # fmt: skip


def _flows(*rows: dict[str, object]) -> pl.DataFrame:
    return trace_of(FLOWS, rows)


FIRST = (
    _flow(1, "h1", "h2", 0.0, 9.0),
    _flow(2, "h3", "h2", 0.0, 7.0),
    _flow(3, "h2", "h3", 10.0, 18.0),
    _flow(4, "h3", "h1", 18.0, 20.0),
    _flow(5, "h1", "h3", 20.0, 29.0, tag=BARRIER_TAG),
)
SECOND = _flow(6, "h1", "h2", 40.0, 52.0, iteration=2)


def test_bandwidths_are_those_of_nccls_tests() -> None:
    """Iterations of 20 and 12 us: 6,000 B in 16 us are 0.375 GB/s, times 4/3 on the bus. The signal does not count."""
    [job] = job_figures(_flows(*FIRST, SECOND), [JOB], WAITS)
    assert job.took_us == (20.0, 12.0)
    assert (job.min_us, job.mean_us, job.max_us, job.p99_us) == (12.0, 16.0, 20.0, None)
    assert (job.algbw_gbytes_per_s, job.busbw_gbytes_per_s) == pytest.approx((0.375, 0.5))
    assert job.slowdown == pytest.approx(1.6)


def test_the_slowest_chain_follows_the_message_that_ended_last() -> None:
    """Flow 2 arrived earlier than flow 1, but with the 3 us after it, it made flow 3 ready."""
    chain = slowest_chain(messages_of(_flows(*FIRST), 1), WAITS)
    assert [link.row["flow_id"] for link in chain] == [2, 3, 4]
    assert [link.excess_us for link in chain] == [5.0, 6.0, 0.0]


def test_the_straggler_is_the_last_rank_of_the_longest_iteration() -> None:
    [job] = job_figures(_flows(*FIRST, SECOND), [JOB], WAITS)
    assert job.straggler is not None
    assert (job.straggler.iteration, job.straggler.rank, job.straggler.host) == (1, 0, "h1")
    assert (job.straggler.chain, job.straggler.flow) == ((2, 3, 4), 3)
    assert "flow 3 from h2 to h3 lost most: 10 µs, 2.5x its ideal" in job.sentence


def test_a_sender_that_waits_for_its_own_message_waits_for_the_acknowledgment() -> None:
    """Flow 1 is received at 9 us but acknowledged at 11, later than flow 2 is received."""
    flows = _flows(_flow(1, "h1", "h2", 0.0, 9.0), _flow(2, "h3", "h1", 0.0, 10.0), _flow(3, "h1", "h3", 11.0, 15.0))
    chain = slowest_chain(flows, {2: ((1, 2), 0)})
    assert [link.row["flow_id"] for link in chain] == [1, 3]


def test_an_unfinished_iteration_has_no_mean() -> None:
    [job] = job_figures(_flows(*FIRST, _flow(6, "h1", "h2", 40.0, None, iteration=2)), [JOB], WAITS)
    assert job.took_us == (20.0, None)
    assert (job.min_us, job.mean_us, job.max_us, job.busbw_gbytes_per_s) == (20.0, None, None, None)
    assert job.straggler is not None
    assert job.straggler.iteration == 1
    [none] = job_figures(_flows(_flow(1, "h1", "h2", 0.0, None)), [JOB], {})
    assert (none.min_us, none.straggler, none.sentence) == (None, None, "")
