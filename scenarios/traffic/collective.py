# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Workload of jobs that repeat a collective, with gaps and barriers in between (docs/sources.md#collectives)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from sfc_testbed.request.shown import shown
from sfc_testbed.scenarios.model.flow import MAX_SIZE_BYTES, FlowRequest
from sfc_testbed.scenarios.model.scenario import Job, Placement, ScenarioError, Workload, more_hosts, placed_hosts
from sfc_testbed.scenarios.traffic.collectives.iterations import JobFlows, JobSettings
from sfc_testbed.scenarios.traffic.collectives.schedule import Call, Schedule
from sfc_testbed.scenarios.traffic.collectives.table import COLLECTIVES
from sfc_testbed.scenarios.traffic.incast import Incast
from sfc_testbed.topologies.model import Topology

if TYPE_CHECKING:
    import numpy as np

_NS_PER_US = 1_000


class CollectiveJobs(Workload):
    """Jobs that repeat a collective, with an incast beside them if `degree` is not 0."""

    collective: Literal["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "pipeline", "moe"] = (
        Field("all-reduce", description="What the ranks repeat; moe: the two all-to-alls of a mixture of experts.")
    )
    algorithm: str | None = Field(
        None,
        description="ring, double-binary-tree or recursive; at-once or shifted of all-to-all and moe. By default the "
        "first of these that the collective has.",
    )
    ranks: Annotated[int, Field(ge=2, le=100_000)] = Field(8, description="Ranks of a job, one on each host.")
    bytes: Annotated[int, Field(ge=1, le=MAX_SIZE_BYTES)] = Field(
        800_000,
        description="Size of the buffer of each rank, as NCCL's tests define it: the larger one of input and output. "
        "all-gather, reduce-scatter and all-to-all move 1 / `ranks` of it between two ranks.",
    )
    chunks: Annotated[int, Field(ge=1, le=10_000)] = Field(
        1, description="Messages into which each transfer of a step is divided; micro-batches of a pipeline."
    )
    skew: Annotated[float, Field(ge=0, le=4)] = Field(
        0.0, description="moe: the expert in place k by popularity gets tokens in proportion to 1 / k^skew."
    )
    iterations: Annotated[int, Field(ge=1, le=100_000)] = Field(1, description="How often each job repeats it.")
    compute_us: Annotated[float, Field(ge=0, le=1_000_000)] = Field(
        0.0, description="Time that each rank computes between two iterations."
    )
    jitter_us: Annotated[float, Field(ge=0, le=1_000_000)] = Field(
        0.0, description="Each rank begins each iteration later by a random time of 0 to this."
    )
    step_us: Annotated[float, Field(ge=0, le=1_000_000)] = Field(
        0.0, description="Time that a rank needs to add up, or to process, what it received before it sends it on."
    )
    barrier: Literal["none", "dissemination"] = Field(
        "dissemination",
        description="none: a rank goes on when its own part is done; dissemination: when those of all ranks are.",
    )
    jobs: Annotated[int, Field(ge=1, le=10_000)] = Field(1, description="Jobs at the same time, on different hosts.")
    placement: Placement = "striped"
    degree: Annotated[int, Field(ge=0, le=100_000)] = Field(0, description="Senders of an incast; 0: no incast.")
    message_bytes: Annotated[int, Field(ge=1, le=MAX_SIZE_BYTES)] = Field(
        250_000, description="Bytes of each message of the incast."
    )
    window_us: Annotated[float, Field(ge=0, le=1_000_000)] = Field(
        50.0, description="Window in which the flows of an incast start."
    )
    rounds: Annotated[int, Field(ge=1, le=10_000)] = Field(1, description="Incasts, one after another.")
    round_interval_us: Annotated[float, Field(ge=0, le=10_000_000)] = Field(
        1_000.0, description="Time from the start of an incast to the start of the next one."
    )
    receiver: str | None = Field(None, description="Receiver of the incast; by default the last rank.")

    def flows(self, topology: Topology, random: np.random.Generator) -> list[FlowRequest]:
        hosts = self._hosts(topology, random)
        requests: list[FlowRequest] = []
        for number in range(self.jobs):
            schedule = self._schedule(random)
            gaps_ns = [list(self._gaps_ns(iteration, random)) for iteration in range(self.iterations)]
            settings = JobSettings(
                number + 1,
                self.collective,
                hosts[number * self.ranks : (number + 1) * self.ranks],
                round(self.step_us * _NS_PER_US),
                self.barrier == "dissemination",
                gaps_ns,
            )
            requests += JobFlows(schedule, settings, len(requests))
        if self.degree:
            receiver = hosts[self.jobs * self.ranks - 1] if self.receiver is None else self.receiver
            requests += self._incast(receiver).flows(topology, random)
        return requests

    def described_jobs(self) -> Sequence[Job]:
        factor = COLLECTIVES[self.collective].bus_factor(self.ranks)
        return [Job(self.collective, self._algorithm, self.ranks, self.bytes, factor)] * self.jobs

    @property
    def _algorithm(self) -> str:
        """The name of the algorithm. ScenarioError if the collective has no such algorithm."""
        algorithms = COLLECTIVES[self.collective].algorithms
        if self.algorithm is None:
            return next(iter(algorithms))
        if self.algorithm not in algorithms:
            raise ScenarioError(
                f"algorithm {shown(self.algorithm)}: {self.collective} has no such algorithm; "
                f"choose from {', '.join(algorithms)}"
            )
        return self.algorithm

    def _schedule(self, random: np.random.Generator) -> Schedule:
        """Return the messages of one iteration."""
        algorithm = COLLECTIVES[self.collective].algorithms[self._algorithm]()
        if self.chunks > 1 and not algorithm.has_chunks:
            raise ScenarioError(f"chunks {self.chunks}: algorithm {self._algorithm} sends a step as one message; use 1")
        if self.skew and self.collective != "moe":
            raise ScenarioError(f"skew {self.skew:g}: only collective=moe has a skew, {self.collective} has none")
        schedule = Schedule()
        algorithm.add_messages(schedule, Call(self.ranks, self.bytes, self.chunks, self.skew, random))
        return schedule

    def _gaps_ns(self, iteration: int, random: np.random.Generator) -> Iterator[int]:
        compute_us = self.compute_us if iteration else 0.0
        for _ in range(self.ranks):
            jitter_us = random.uniform(0, self.jitter_us) if self.jitter_us else 0.0
            yield round((compute_us + jitter_us) * _NS_PER_US)

    def _hosts(self, topology: Topology, random: np.random.Generator) -> list[str]:
        """Return the hosts of the ranks, job after job."""
        needed, present = self.jobs * self.ranks, len(topology.hosts)
        if needed > present:
            counted = f"ranks {self.ranks}" if self.jobs == 1 else f"jobs {self.jobs} of ranks {self.ranks}: {needed}"
            raise ScenarioError(
                f"{counted} is above the {present} hosts of this network; {more_hosts(topology, needed - present)}"
            )
        return placed_hosts(self.placement, topology, random)

    def _incast(self, receiver: str) -> Incast:
        return Incast(
            degree=self.degree,
            message_bytes=self.message_bytes,
            window_us=self.window_us,
            rounds=self.rounds,
            round_interval_us=self.round_interval_us,
            receiver=receiver,
        )
