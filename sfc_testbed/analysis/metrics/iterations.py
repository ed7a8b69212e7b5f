# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Metrics of the iterations of jobs: times, bandwidths as NCCL's tests define them, and the slowest chain of messages.

The time of an iteration is that from the first ready message to the last receipt. Signals of barriers do not count. The
algorithm bandwidth is size / time, and the bus bandwidth is its product with the collective's factor
(docs/sources.md#collectives). The slowest chain leads back from the message that was received last, each time to the
message that the source saw end last among those that the message waited for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from sfc_testbed.analysis.formatting import amount, format_bytes, format_ratio, format_us
from sfc_testbed.analysis.metrics.figures import Figure, Figures
from sfc_testbed.analysis.metrics.percentiles import percentile
from sfc_testbed.request.spec import BARRIER_TAG, JobPlan

COLUMNS = ("flow_id", "src", "dst", "job", "iteration", "step", "rank", "received_us", "ideal_fct_us")
"""The columns of the flows trace that these figures need, beside the columns that all figures need."""

Waits: TypeAlias = Mapping[int, tuple[tuple[int, ...], "int | tuple[int, ...]"]]
"""The numbers of the flows that a flow waits for and the delays after them, by the flow's position, from 0."""


class Straggler(Figures):
    """The rank that was last in a job's longest iteration, and its slowest chain of messages."""

    iteration: int
    rank: int | None
    """The rank of the receiver; None if it sent nothing."""
    host: str
    chain: tuple[int, ...]
    """The flows of the slowest chain, in order of time; only the last one if nothing is known about waits."""
    flow: int
    """The flow of the chain that took longest, compared with its ideal FCT."""
    src: str
    dst: str
    fct_us: Figure
    fct_slowdown: Figure


class JobFigures(Figures):
    """The iterations of one job. A mean, P99 or maximum is None if an iteration did not finish."""

    job: int
    collective: str
    """The collective; empty if the flows came from a file."""
    algorithm: str
    ranks: int
    size_bytes: int | None
    ideal_us: Figure
    """The least possible time of an iteration in an otherwise idle network."""
    took_us: tuple[Figure | None, ...]
    """The time of each iteration; None: it did not finish."""
    min_us: Figure | None
    mean_us: Figure | None
    p99_us: Figure | None
    """None with fewer than 100 iterations."""
    max_us: Figure | None
    slowdown: Figure | None
    """`mean_us` / `ideal_us`."""
    algbw_gbytes_per_s: Figure | None
    """The algorithm bandwidth over the mean time, in 10^9 bytes per second."""
    busbw_gbytes_per_s: Figure | None
    """The bus bandwidth over the mean time."""
    straggler: Straggler | None

    @property
    def sentence(self) -> str:
        """The straggler of the longest iteration and its slowest message; empty if no iteration finished."""
        last = self.straggler
        if last is None:
            return ""
        rank = last.host if last.rank is None else f"rank {last.rank} ({last.host})"
        return (
            f"Job {self.job} took longest in iteration {last.iteration}, where {rank} was last. "
            f"In the slowest chain of {amount(len(last.chain), 'message')}, "
            f"flow {last.flow} from {last.src} to {last.dst} lost most: "
            f"{format_us(last.fct_us)}, {format_ratio(last.fct_slowdown)} its ideal."
        )

    @property
    def name(self) -> str:
        """The job's number, collective and algorithm."""
        return " ".join(filter(None, (str(self.job), self.collective, f"({self.algorithm})" if self.algorithm else "")))

    @property
    def description(self) -> str:
        """The collective, its algorithm, ranks and size."""
        size = f", {format_bytes(self.size_bytes)}" if self.size_bytes is not None else ""
        algorithm = f" ({self.algorithm})" if self.algorithm else ""
        return f"{self.collective or 'messages'}{algorithm}, {self.ranks} ranks{size}"

    @property
    def finished(self) -> int:
        """The number of iterations that finished."""
        return sum(took_us is not None for took_us in self.took_us)


def job_figures(flows: pl.DataFrame, jobs: Sequence[JobPlan], waits: Waits) -> tuple[JobFigures, ...]:
    return tuple(_figures(messages_of(flows, job.number), job, waits) for job in jobs)


def messages_of(flows: pl.DataFrame, job: int) -> pl.DataFrame:
    """Return the messages of a job without the signals of its barriers."""
    return flows.filter((pl.col("job") == job) & (pl.col("tag") != BARRIER_TAG))


def iteration_times(messages: pl.DataFrame) -> pl.DataFrame:
    """Return the iterations of a job's messages in order: iteration and took_us, which is null if it did not finish."""
    is_whole = (pl.col("received_us").null_count() == 0) & (pl.col("start_us").null_count() == 0)
    took_us = pl.when(is_whole).then(pl.col("received_us").max() - pl.col("start_us").min())
    return messages.group_by("iteration").agg(took_us=took_us).sort("iteration")


def _figures(messages: pl.DataFrame, job: JobPlan, waits: Waits) -> JobFigures:
    times = iteration_times(messages)
    took_us: list[float | None] = times["took_us"].to_list()
    known = np.sort(times["took_us"].drop_nulls().to_numpy().astype(np.float64))
    is_whole = bool(took_us) and known.size == len(took_us)
    mean_us = float(known.mean()) if is_whole else None
    algbw = job.size_bytes / mean_us / 1_000 if mean_us and job.size_bytes is not None else None
    return JobFigures(
        job=job.number,
        collective=job.collective,
        algorithm=job.algorithm,
        ranks=job.ranks,
        size_bytes=job.size_bytes,
        ideal_us=job.ideal_us,
        took_us=tuple(took_us),
        min_us=float(known[0]) if known.size else None,
        mean_us=mean_us,
        p99_us=percentile(known, 99, len(took_us) - known.size),
        max_us=float(known[-1]) if is_whole else None,
        slowdown=mean_us / job.ideal_us if mean_us is not None and job.ideal_us else None,
        algbw_gbytes_per_s=algbw,
        busbw_gbytes_per_s=None if algbw is None or job.bus_factor is None else algbw * job.bus_factor,
        straggler=_straggler(messages, times, waits),
    )


def _straggler(messages: pl.DataFrame, times: pl.DataFrame, waits: Waits) -> Straggler | None:
    """Return the straggler of the longest iteration among those that finished."""
    finished = times.drop_nulls("took_us")
    if finished.is_empty():
        return None
    longest = int(finished.sort("took_us", "iteration", descending=[True, False])["iteration"][0])
    chain = slowest_chain(messages.filter(pl.col("iteration") == longest), waits)
    last = chain[-1].row
    late = max(chain, key=lambda link: link.excess_us)
    ranks = messages.filter(pl.col("src") == last["dst"])["rank"]
    return Straggler(
        iteration=longest,
        rank=None if ranks.is_empty() else ranks[0],
        host=last["dst"],
        chain=tuple(link.row["flow_id"] for link in chain),
        flow=late.row["flow_id"],
        src=late.row["src"],
        dst=late.row["dst"],
        fct_us=late.fct_us,
        fct_slowdown=late.fct_us / late.row["ideal_fct_us"],
    )


class ChainLink(NamedTuple):
    """A message of a slowest chain."""

    row: Mapping[str, Any]
    """The row of the message in the flows trace."""

    @property
    def fct_us(self) -> float:
        """The FCT, or the time to the receipt if the run ended before the last acknowledgment arrived."""
        end_us = self.row["received_us"] if self.row["finish_us"] is None else self.row["finish_us"]
        return float(end_us - self.row["start_us"])

    @property
    def excess_us(self) -> float:
        """The time that the message took beyond its ideal FCT."""
        return self.fct_us - float(self.row["ideal_fct_us"])


def slowest_chain(messages: pl.DataFrame, waits: Waits) -> list[ChainLink]:
    """Return the slowest chain of an iteration that finished, in order of time.

    `messages` are those of one iteration of a job.
    """
    number = int(messages.sort("received_us", "flow_id", descending=[True, False])["flow_id"][0])
    places = dict(zip(messages["flow_id"].to_list(), range(messages.height), strict=True))
    ends = message_ends(messages)
    chain = []
    while number:
        chain.append(ChainLink(messages.row(places[number], named=True)))
        number = last_ended(number, waits, ends)
    return chain[::-1]


class MessageEnds(NamedTuple):
    """The hosts of a message, and when it ended at both; None: it did not end there."""

    src: str
    dst: str
    received_us: float | None
    finish_us: float | None

    def at(self, host: str) -> float:
        """Return when the message ended, as this host saw it; infinity if it did not end."""
        is_receipt = self.dst == host or self.finish_us is None
        end_us = self.received_us if is_receipt else self.finish_us
        return inf if end_us is None else end_us


def message_ends(messages: pl.DataFrame) -> dict[int, MessageEnds]:
    """Return the ends of messages by their numbers."""
    rows = messages.select("flow_id", *MessageEnds._fields).iter_rows()
    return {number: MessageEnds(*ends) for number, *ends in rows}


def last_ended(number: int, waits: Waits, ends: Mapping[int, MessageEnds]) -> int:
    """Return the message that ended last, as the source saw it, of the messages that a message waited for; or 0."""
    after, delay_ns = waits.get(number - 1, ((), 0))
    delays_ns = delay_ns if isinstance(delay_ns, tuple) else (delay_ns,) * len(after)
    host = ends[number].src
    times = {
        other: ends[other].at(host) + other_delay_ns / 1000
        for other, other_delay_ns in zip(after, delays_ns, strict=True)
        if other in ends
    }
    return max(times, key=lambda other: (times[other], -other)) if times else 0
