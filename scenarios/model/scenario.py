# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a scenario is: a workload with parameters, and the sizes at which it is run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from scenarios.model.flow import FlowRequest
from topologies.model import Topology
from wire.input.validation import STRICT

# Everywhere in scenarios NumPy is loaded where something is drawn: to name a scenario must cost little.
if TYPE_CHECKING:
    import numpy as np

ScaleName = Literal["ci", "laptop", "paper"]


class ScenarioError(ValueError):
    """A workload that does not fit its network, said in one line."""


class Workload(BaseModel):
    """Parameters of a workload, model units. A subclass says what each means and makes the flows."""

    model_config = STRICT

    @property
    def measured_window_us(self) -> tuple[float, float] | None:
        """Flows that start outside are warm-up or cool-down and are left out of slowdown and throughput; None: none."""
        return None

    @abstractmethod
    def flows(self, topology: Topology, random: np.random.Generator) -> list[FlowRequest]:
        """The flows on this network; all chance comes from `random`. ScenarioError where they do not fit."""


@dataclass(frozen=True)
class Scale:
    """A size of a scenario: its network and what differs from the defaults, for every scheme alike."""

    topology: str
    topology_parameters: Mapping[str, Any] = field(default_factory=dict)
    workload: Mapping[str, Any] = field(default_factory=dict)
    duration_ms: float = 20.0
    switch: Mapping[str, Any] = field(default_factory=dict)
    transport: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    """As they are typed after `--fault`."""


@dataclass(frozen=True)
class Scenario:
    """A named workload. A scale's `duration_ms` bounds the run in model time; it ends once all flows are done."""

    name: str
    summary: str
    workload: type[Workload]
    scales: Mapping[ScaleName, Scale]


def random_stream(seed: int, name: str) -> np.random.Generator:
    """An independent stream of chance for a named use of a seed."""
    import numpy as np

    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *name.encode()])))
