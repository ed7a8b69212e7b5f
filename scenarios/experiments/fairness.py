# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 14: groups of senders join and leave one link; SFC leaves their shares as congestion control makes them."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from analysis.goodput import jain_index, sharing
from analysis.runs import Run
from scenarios.claims import Bound, Judged, Ratio
from scenarios.experiment import Experiment, Grid, Measured, NotMeasured, Results
from scenarios.figures import buffer_over_time, goodput_over_time
from scenarios.flow import FlowRequest
from scenarios.quantities import RECEIVER_THROUGHPUT, Quantity
from scenarios.scenario import Scale, Scenario, ScenarioError, Workload
from topologies.model import Topology

_WITH, _WITHOUT = _SCHEMES = ("sfc+dcqcn", "irn+dcqcn")


class JoinAndLeave(Workload):
    """Groups of senders start one step after the other and, sharing fairly, finish one step after the other.

    A message is as long as its fair share of the link: with G groups, group i sends from step i to step i + G.
    """

    groups: Annotated[int, Field(ge=1, le=64)] = Field(4, description="Groups of senders.")
    senders_per_group: Annotated[int, Field(ge=1, le=64)] = Field(4, description="Senders of a group.")
    step_us: Annotated[float, Field(gt=0, le=10_000_000)] = Field(500.0, description="From one group to the next.")

    def flows(self, topology: Topology, random: np.random.Generator) -> list[FlowRequest]:
        needed = self.groups * self.senders_per_group
        *senders, receiver = (host.name for host in topology.hosts)
        if len(senders) < needed:
            raise ScenarioError(f"{needed} senders and a receiver do not fit {len(topology.hosts)} hosts")
        rate_bps = topology.host_link[receiver].rate_bps
        found = []
        for number, sender in enumerate(senders[:needed]):
            group = number // self.senders_per_group
            steps = range(group, group + self.groups)
            share = sum(1 / self._sending_in(step) for step in steps) / self.senders_per_group
            size_bytes = round(share * rate_bps * self.step_us / 8e6)
            found.append(
                FlowRequest(sender, receiver, size_bytes, round(group * self.step_us * 1000), f"group{group + 1}")
            )
        return found

    def _sending_in(self, step: int) -> int:
        """How many groups send in a step."""
        return sum(group <= step < group + self.groups for group in range(self.groups))


def _least_index(run: Run) -> float:
    """Jain's index of the mean rates inside each group, the lowest of all groups."""
    done = run.flows.filter(pl.col("fct_us").is_not_null())
    if done.height < run.flows.height:
        raise NotMeasured(f"{run.flows.height - done.height} flows did not finish")
    rates = done.with_columns(rate=pl.col("size_bytes") / pl.col("fct_us"))
    return min(jain_index(rows["rate"].to_numpy()) for rows in rates.partition_by("tag"))


def _sharing(run: Run) -> float:
    """Mean over time of Jain's index of all senders under way."""
    values = sharing(run.goodput, run.flows)
    if not values.size:
        raise NotMeasured("no two flows were under way together")
    return float(values.mean())


def _group_times(run: Run) -> np.typing.NDArray[np.float64]:
    means = run.flows.group_by("tag").agg(pl.col("fct_us").mean()).sort("tag")
    return means["fct_us"].to_numpy().astype(np.float64)


def _same_times(results: Results) -> Measured:
    """How long each group takes with SFC over how long without."""
    ratios = _group_times(results.at(_WITH, {})) / _group_times(results.at(_WITHOUT, {}))
    worst = float(ratios[np.argmax(np.abs(ratios - 1))])
    return Measured(worst, 0.9 <= worst <= 1.1, f"{', '.join(f'{ratio:.3f}' for ratio in ratios)} by group")


def _scale(step_us: float) -> Scale:
    # Three times the seven steps that fair sharing at full rate takes.
    return Scale("dumbbell", {"left_hosts": 16}, {"step_us": step_us}, duration_ms=21 * step_us / 1000)


FAIRNESS = Quantity("Jain's index inside the least fair group", _least_index, lambda value: f"{value:.3f}")
SHARING = Quantity("Jain's index of all senders, mean over time", _sharing, lambda value: f"{value:.3f}")

EXPERIMENT = Experiment(
    title="Fairness: groups join and leave",
    paper="Fig. 14",
    scenario=Scenario(
        "fairness",
        "four groups of four senders join and leave one 100G link, DCQCN+W",
        JoinAndLeave,
        {"ci": _scale(1_500.0), "laptop": _scale(3_000.0), "paper": _scale(10_000.0)},
    ),
    grids={"ci": Grid(_SCHEMES), "laptop": Grid(_SCHEMES), "paper": Grid(_SCHEMES)},
    claims=(
        Ratio(
            "senders of a group share as fairly with SFC as without",
            "zero impact",
            FAIRNESS,
            _WITH,
            _WITHOUT,
            at_least=0.97,
        ),
        Bound("they share fairly", "equal shares", FAIRNESS, _WITH, at_least=0.9),
        Ratio(
            "at any time all senders under way share as fairly with SFC as without",
            "zero impact",
            SHARING,
            _WITH,
            _WITHOUT,
            at_least=0.97,
        ),
        Judged("every group takes as long with SFC as without", "zero impact", _same_times),
        Ratio(
            "the link carries as much", "zero impact", RECEIVER_THROUGHPUT, _WITH, _WITHOUT, at_least=0.97, at_most=1.03
        ),
    ),
    figures=(goodput_over_time(), buffer_over_time()),
    notes=(
        "Inside a group, shares are mean rates over a flow's life (its size over its FCT); over time they are goodput "
        "in intervals of 100 us.",
    ),
)
