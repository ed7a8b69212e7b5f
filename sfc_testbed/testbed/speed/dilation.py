# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The dilation of a live run: the smallest one at which this machine is predicted to be on time.

A dry run counts the frames over time (`testbed.speed.dry_run`). A calibration or built-in figures give the cost of each
frame (`testbed.speed.stored`). The frames of each bin are work for the agents and switches that serve them. Work that
exceeds the capacity waits and delays later work. Lindley's recursion gives the waiting time, for the machine as a whole
and for each process, which has at most one core. Only a share of the cores is used in the calculation, as a reserve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sfc_testbed.analysis.results.limits import DEGRADED_ABOVE
from sfc_testbed.request.spec import DilationChoice
from sfc_testbed.testbed.plan.dilations import NETWORK_DILATION
from sfc_testbed.testbed.plan.plan import RunPlan, agent_count
from sfc_testbed.testbed.speed.costs import Costs, ProcessCost
from sfc_testbed.testbed.speed.dry_run import BINS_PER_RTT, Floats, Tell, Traffic, dry_run, ignore
from sfc_testbed.testbed.speed.stored import stored_calibration
from sfc_testbed.topologies.physics import departure_window_ns
from sfc_testbed.wire.dilation import next_step
from sfc_testbed.wire.units import NS_PER_S

MAX_AUTOMATIC_DILATION = 1_000_000
"""The largest dilation that is chosen automatically: a model millisecond then takes 17 minutes."""
USABLE_SHARE = 0.55
"""The share of the cores, and of the one core of a process, that a run may use. The rest is a reserve, because live
runs used 1.3 to 1.8 times the predicted peak load (docs/sources.md#dilation)."""
LATE_SHARE = DEGRADED_ABOVE / 2
"""The largest predicted P99 lateness, as a share of the base RTT."""


def with_dilation(plan: RunPlan, tell: Tell = ignore) -> RunPlan:
    """Return the plan with its dilation and the prediction; a plan that has them, or in virtual time, is not changed.

    A requested dilation is kept; if it is too small, the prediction also names a sufficient one. `tell` gets the share
    of the dry run that is done.
    """
    config = plan.config
    if config.clock == "virtual" or config.dilation_choice is not None:
        return plan
    if not plan.flows:
        return plan.at_dilation(NETWORK_DILATION) if config.is_dilation_automatic else plan
    costs = stored_calibration().costs
    telemetry, window_ns = plan.switch_settings.int_telemetry, departure_window_ns(plan.topology)
    model = LoadModel(dry_run(plan, tell), costs, costs.switch(config.switch), telemetry=telemetry, window_ns=window_ns)
    enough = None
    if config.is_dilation_automatic:
        plan = plan.at_dilation(least_dilation(model, MAX_AUTOMATIC_DILATION))
    elif not model.at(config.dilation).is_enough:
        least = plan.at_dilation(least_dilation(model, MAX_AUTOMATIC_DILATION)).config.dilation
        enough = least if model.at(least).is_enough else None
    prediction = model.at(plan.config.dilation)
    choice = DilationChoice(
        peak_load=round(prediction.peak_load, 4),
        late_share=round(prediction.late_share, 4),
        cores=round(costs.capacity_cores, 2),
        calibrated=costs.origin,
        enough=enough,
    )
    return replace(plan, config=replace(plan.config, dilation_choice=choice))


@dataclass(frozen=True, slots=True)
class Prediction:
    """The prediction for a run at one dilation."""

    peak_load: float
    """The load as a share of all cores in the busiest base RTT; above 1, the excess work is done later."""
    late_share: float
    """The P99 lateness as a share of the base RTT, including wake-ups and a window of departures."""

    @property
    def is_enough(self) -> bool:
        """Whether the predicted lateness is within the limit for a faithful run."""
        return self.late_share <= LATE_SHARE


class LoadModel:
    """The work of a run's frames for the processes of this machine."""

    def __init__(
        self, traffic: Traffic, costs: Costs, switch: ProcessCost, *, telemetry: bool, window_ns: int = 0
    ) -> None:
        """`switch` is the cost of a switch process of the run's target; frames that are due within `window_ns` of model
        time leave together.
        """
        self._window_ns = window_ns
        self._costs = costs
        self._traffic = traffic
        self._agent = costs.agent.times(costs.telemetry_agent if telemetry else 1.0)
        self._switch = switch.times(costs.telemetry_switch if telemetry else 1.0)
        agents = agent_count(traffic.hosts.shape[1])
        ends = traffic.hosts / 2  # an end of a data packet is two frames: the packet and its acknowledgment
        self._ends = np.stack([ends[:, agent::agents].sum(axis=1) for agent in range(agents)], axis=1)
        self._message_starts = np.stack(
            [traffic.message_starts[:, agent::agents].sum(axis=1) for agent in range(agents)], axis=1
        )
        self._forwarded = traffic.switches

    def at(self, dilation: float) -> Prediction:
        """Return the prediction for a dilation."""
        bin_s = self._traffic.bin_ns * dilation / NS_PER_S
        starts_per_s = self._message_starts / bin_s
        message = self._costs.message
        agents = share_of_core(self._agent, self._ends / bin_s) + message.agent_ns * 1e-9 * starts_per_s
        shares = np.concatenate((agents, share_of_core(self._switch, self._forwarded / bin_s)), axis=1)
        runner = self._costs.runner_share + message.runner_ns * 1e-9 * starts_per_s.sum(axis=1) / 2
        machine = shares.sum(axis=1) + runner
        late = self._late_bins(machine, USABLE_SHARE * self._costs.capacity_cores)
        for process in shares.T:
            late = np.maximum(late, self._late_bins(process, USABLE_SHARE))
        base_rtt_ns = self._traffic.bin_ns * BINS_PER_RTT
        late_share = self._p99(late) / BINS_PER_RTT
        late_share += (self._window_ns + self._costs.latest_wakeup_ns / dilation) / base_rtt_ns
        return Prediction(float(self._busiest_rtt(machine)) / self._costs.capacity_cores, float(late_share))

    def _late_bins(self, share: Floats, capacity: float) -> Floats:
        """Return how long the work of each bin waits for earlier work, in bins of wall time."""
        elapsed = np.diff(self._traffic.numbers, prepend=self._traffic.numbers[:1] - 1)
        steps = np.concatenate(([0.0], np.cumsum(share - capacity * elapsed)))
        waiting = steps - np.minimum.accumulate(steps)
        late: Floats = waiting[1:] / capacity
        return late

    def _p99(self, late: Floats) -> float:
        """Return the P99 lateness over all frames that hosts and switches send, each as late as its bin."""
        weights = self._ends.sum(axis=1)
        order = np.argsort(late)
        reached = np.cumsum(weights[order])
        if not reached[-1]:
            return 0.0
        return float(late[order][np.searchsorted(reached, 0.99 * reached[-1])])

    def _busiest_rtt(self, machine: Floats) -> float:
        whole = np.concatenate(([0.0], np.cumsum(machine)))
        width = min(BINS_PER_RTT, len(machine))
        return float((whole[width:] - whole[:-width]).max() / width)


def share_of_core(cost: ProcessCost, frames_per_s: Floats) -> Floats:
    """Return the share of a core that a process uses at these rates."""
    many = cost.fixed_share + cost.frame_ns * 1e-9 * frames_per_s
    share: Floats = np.minimum(many, cost.lone_frame_ns * 1e-9 * frames_per_s)
    return share


def least_dilation(model: LoadModel, most: int) -> int:
    """Return the smallest step at which the run is on time, or else the largest step."""
    step = 1
    while not model.at(step).is_enough and step < most:
        step = next_step(step + 1)
    return step
