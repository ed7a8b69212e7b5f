# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Workload of a trace: the messages of an application's ranks, replayed with their dependencies and computations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, PrivateAttr

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.scenario import (
    Placement,
    ScenarioError,
    Workload,
    check_host,
    more_hosts,
    placed_hosts,
)
from sfc_testbed.scenarios.traffic.traces.files import EXAMPLE, read_trace
from sfc_testbed.scenarios.traffic.traces.messages import messages_of
from sfc_testbed.topologies.model import Topology

if TYPE_CHECKING:
    import numpy as np


class Replay(Workload):
    """The replay of a trace. Each rank is on a host; its operations wait for one another as in the trace."""

    file: str = Field(
        EXAMPLE,
        description="A GOAL schedule, a SimAI workload, or a Chakra trace (NAME of NAME.0.et, NAME.1.et, ...); "
        f"{EXAMPLE}: a small ring that comes with the testbed.",
    )
    placement: Placement = "packed"
    ranks: list[str] | None = Field(
        None, description="The host of each rank, instead of a placement; ranks on the same host exchange data at once."
    )
    overlap: bool = Field(
        False, description="Let computations of one processor overlap if no dependency orders them; otherwise refused."
    )
    passes: Annotated[int, Field(ge=1, le=10_000)] = Field(1, description="Training iterations of a SimAI workload.")
    shared_nic: bool = Field(False, description="Send through the host's NIC whatever NIC a GOAL schedule names.")
    _notes: tuple[str, ...] = PrivateAttr(())

    @property
    def notes(self) -> tuple[str, ...]:
        return self._notes

    def flows(self, topology: Topology, random: np.random.Generator) -> list[FlowRequest]:
        try:
            trace = read_trace(Path(self.file), shares_nics=self.shared_nic, passes=self.passes)
            requests, notes = messages_of(trace, self._hosts(trace.ranks, topology, random), may_overlap=self.overlap)
        except ScenarioError as error:
            raise ScenarioError(f"{self.file}: {error}") from error
        self._notes = (f"{self.file}: {'; '.join(notes)}.",) if notes else ()
        return requests

    def _hosts(self, count: int, topology: Topology, random: np.random.Generator) -> list[str]:
        """Return the host of each rank."""
        if self.ranks is not None:
            if len(self.ranks) != count:
                raise ScenarioError(f"--set ranks names {len(self.ranks)} hosts, but the trace has {count} ranks")
            for name in self.ranks:
                check_host(name, topology)
            return self.ranks
        present = len(topology.hosts)
        if count > present:
            raise ScenarioError(
                f"the trace has {count} ranks, but this network has {present} hosts; "
                f"{more_hosts(topology, count - present)}"
            )
        return placed_hosts(self.placement, topology, random)[:count]
