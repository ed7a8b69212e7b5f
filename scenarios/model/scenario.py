# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Base types of scenarios: a workload with parameters, and the scales at which it is run."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from sfc_testbed.request.checks import STRICT
from sfc_testbed.request.shown import shown
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.topologies.model import MAX_PORT, Host, Topology

# In scenarios/, NumPy is imported only where random numbers are drawn, so that listing scenarios stays fast.
if TYPE_CHECKING:
    import numpy as np

ScaleName = Literal["ci", "laptop", "paper"]
Placement = Annotated[
    Literal["packed", "striped", "random"],
    Field(
        description="packed: ranks fill rack after rack; striped: they alternate over the racks; random: by the seed."
    ),
]


class ScenarioError(ValueError):
    """A workload that does not fit its network; the message is one line."""


@dataclass(frozen=True)
class Job:
    """What a job repeats, for its figures. A job's number is its position in the list of jobs, from 1.

    The messages of a job have its number, their iteration, step and rank.
    """

    collective: str
    algorithm: str
    ranks: int
    size_bytes: int
    """The size by which the algorithm bandwidth is defined (docs/sources.md#collectives)."""
    bus_factor: float
    """The bus bandwidth divided by the algorithm bandwidth."""


class Workload(BaseModel):
    """Parameters of a workload, in model units. A subclass declares the parameters and generates the flows."""

    model_config = STRICT

    @property
    def measured_window_us(self) -> tuple[float, float] | None:
        """The interval of start times that is measured; None: all flows are measured.

        Flows that start outside it are warm-up or cool-down and are left out of slowdown and throughput.
        """
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about how a file of this workload was read, where its format leaves a choice."""
        return ()

    def described_jobs(self) -> Sequence[Job]:
        """Return the jobs whose numbers the flows have, in the order of these numbers."""
        return ()

    def brief(self) -> tuple[Mapping[str, Any], float]:
        """Return parameters that shorten long traffic, and how many times as much traffic there is without them."""
        return {}, 1.0

    @abstractmethod
    def flows(self, topology: Topology, random: np.random.Generator) -> Sequence[FlowRequest]:
        """Return the flows on this network; every random draw uses `random`. ScenarioError if they do not fit."""


@dataclass(frozen=True)
class Scale:
    """A scale of a scenario: its network and its settings that differ from the defaults, the same for every scheme."""

    topology: str
    topology_parameters: Mapping[str, Any] = field(default_factory=dict)
    workload: Mapping[str, Any] = field(default_factory=dict)
    duration_ms: float = 20.0
    has_fixed_duration: bool = False
    """Whether the run shows a fixed time. Flows that have not finished by then are intended and no failure."""
    duration_from: Literal["begin", "last_start", "serial_end"] = "begin"
    """The time from which `duration_ms` counts: the begin of the run, the latest start of a message if messages took no
    time, or this start plus the time in which the slowest host's link sends the bytes of all messages."""
    switch: Mapping[str, Any] = field(default_factory=dict)
    transport: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    """Faults in the syntax of `--fault`."""


@dataclass(frozen=True)
class Scenario:
    """A named workload. A scale's `duration_ms` bounds the run in model time; it ends once all flows are done."""

    name: str
    summary: str
    workload: type[Workload]
    scales: Mapping[ScaleName, Scale]


def check_host(name: str, topology: Topology) -> None:
    """Raise ScenarioError if a network has no host of this name."""
    if name not in topology.host:
        raise ScenarioError(
            f"no host {shown(name)} in this network ({topology.hosts[0].name} to {topology.hosts[-1].name}); "
            f"{more_hosts(topology, _missing_for(name, topology))}"
        )


def _missing_for(name: str, topology: Topology) -> int | None:
    """Return how many hosts more a network needs to have a host of this name; None if hosts never have such names."""
    number = re.fullmatch(r"h([1-9][0-9]{0,5})", name)
    return None if number is None else int(number[1]) - len(topology.hosts)


def more_hosts(topology: Topology, missing: int | None = None, tors: Sequence[str] = ()) -> str:
    """Return the end of a message about too few hosts: the option that adds `missing` under these ToRs, or all ToRs."""
    names = tors or [tor.name for tor in topology.tors]
    settings = [name for name in ("hosts_per_tor", "left_hosts", "hosts") if name in topology.parameters]
    if not settings:
        return "use another --topology"
    setting = "right_hosts" if settings == ["left_hosts"] and list(names) == ["s2"] else settings[0]
    present = topology.parameters[setting]
    if not isinstance(present, int) or missing is None:
        return f"use --set topology.{setting}=NUMBER, or another --topology"
    needed = present - -missing // (len(names) if setting == "hosts_per_tor" else 1)
    if needed > MAX_PORT:
        return "use another --topology"
    return f"use --set topology.{setting}={needed}, or another --topology"


def senders_and_receiver(topology: Topology, senders: int) -> tuple[list[str], str]:
    """Return the first hosts as senders and the last one as their receiver. ScenarioError if they do not fit."""
    *others, receiver = (host.name for host in topology.hosts)
    if len(others) < senders:
        raise ScenarioError(
            f"{senders} senders and a receiver do not fit {len(topology.hosts)} hosts; "
            f"{more_hosts(topology, senders + 1 - len(topology.hosts))}"
        )
    return others[:senders], receiver


def striped_hosts(topology: Topology) -> list[Host]:
    """Return the hosts in an order that alternates over the racks."""
    return [host for turn in zip_longest(*topology.racks) for host in turn if host is not None]


def placed_hosts(placement: Placement, topology: Topology, random: np.random.Generator) -> list[str]:
    """Return the hosts in the order in which ranks are placed on them."""
    if placement == "random":
        return [topology.hosts[place].name for place in random.permutation(len(topology.hosts)).tolist()]
    hosts = striped_hosts(topology) if placement == "striped" else [host for rack in topology.racks for host in rack]
    return [host.name for host in hosts]


def random_stream(seed: int, name: str) -> np.random.Generator:
    """Return an independent random generator for one named use of a seed."""
    import numpy as np

    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *name.encode()])))
