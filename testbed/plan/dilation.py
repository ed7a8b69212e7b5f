# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How much slower than the model a run's clock must run: the least with which this machine is predicted to be on time.

Its flows and its scheme say how many frames there will be at a time (`testbed.load.traffic`), a calibration or what is
built in how much work they are, and `testbed.load.prediction` how late they will be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hosts.transport.algorithms import resolved
from hosts.transport.settings import TransportSettings
from scenarios.model.flow import Flow
from testbed.load.costs import Costs
from testbed.load.prediction import LoadModel, Prediction, least_dilation
from testbed.load.stored import known
from testbed.load.traffic import SendingRules, traffic_of
from testbed.plan.config import DilationConfig
from testbed.plan.fixed_point import largest_fitting
from testbed.plan.network_settings import NetworkSettings
from testbed.plan.request import NETWORK_DILATION, ClockName
from testbed.plan.switch_targets import SwitchTarget
from topologies.model import Topology
from topologies.settings import SwitchSettings

VIRTUAL_DILATION = 1_000
MOST_BY_ITSELF = 1_000_000
"""The largest dilation that is chosen: a model millisecond then takes 17 minutes."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The factor D of a run, and for a live one what is predicted of it."""

    factor: int
    prediction: Prediction | None = None
    capacity_cores: float = 0.0
    calibrated: str | None = None
    """The day on which this machine was measured; None: it was not."""
    enough: int | None = None
    """Where somebody asked for this factor and it will not do: one that would."""


def choose_dilation(
    clock: ClockName,
    target: SwitchTarget,
    topology: Topology,
    flows: Sequence[Flow],
    settings: NetworkSettings,
    duration_ms: float,
    asked: int | None = None,
) -> Choice:
    """The factor that was asked for, else one that suits the clock; a network without flows has a fixed one."""
    if clock == "virtual":
        return Choice(asked or VIRTUAL_DILATION)
    if not flows:
        return Choice(asked or NETWORK_DILATION)
    rules = sending_rules(topology, settings.switch, settings.transport, settings.config.window_bytes)
    traffic = traffic_of(topology, flows, rules, duration_ms * 1e6, resumes=True)
    costs = known().costs
    switch = costs.switches.get(target.name, target.cost)
    model = LoadModel(topology, traffic, costs, switch, telemetry=settings.switch.int_telemetry)
    most = min(MOST_BY_ITSELF, largest_fitting(topology, settings.switch))
    return _chosen(model, costs, most, asked)


def _chosen(model: LoadModel, costs: Costs, most: int, asked: int | None) -> Choice:
    factor, prediction = (asked, model.at(asked)) if asked else least_dilation(model, most)
    enough = None
    if asked and not prediction.is_enough:
        least, slower = least_dilation(model, most)
        enough = least if slower.is_enough else None
    return Choice(factor, prediction, costs.capacity_cores, costs.measured, enough)


def dilation_config(choice: Choice) -> DilationConfig | None:
    """The choice as config.json has it."""
    if choice.prediction is None:
        return None
    return DilationConfig(
        peak_load=round(choice.prediction.peak_load, 4),
        late_share=round(choice.prediction.late_share, 4),
        cores=round(choice.capacity_cores, 2),
        calibrated=choice.calibrated,
        enough=choice.enough,
    )


def sending_rules(
    topology: Topology, switch: SwitchSettings, transport: TransportSettings, window_bytes: int | None
) -> SendingRules:
    """What the fluid model takes of a run's settings; a flow may have no more in flight than IRN's cap either."""
    cap_bytes = resolved(transport).loss_recovery_parameters.get("cap_packets", 0) * transport.payload_bytes
    rules = SendingRules(
        payload_bytes=transport.payload_bytes,
        base_rtt_ns=transport.base_rtt_ns,
        last_link_ns=max(link.delay_ns for link in topology.host_link.values()),
        window_bytes=min((each for each in (window_bytes, cap_bytes) if each), default=None),
        bts_latency_ns=max(each.bts_latency_ns for each in topology.switches),
    )
    return _with_pauses(rules, switch, transport)


def _with_pauses(rules: SendingRules, switch: SwitchSettings, transport: TransportSettings) -> SendingRules:
    """SFC pauses by BTS, OnRamp's straw-man by the delay that acknowledgments tell of; its final form hardly holds."""
    if switch.bts != "off":
        return replace(
            rules,
            pauses_at_bytes=switch.q_th_bytes,
            pauses_down_to_bytes=switch.q_tg_bytes,
            pauses_from_ingress=switch.bts == "ingress",
            suppression_ns=switch.suppression_ns,
            has_cache=switch.pause_cache,
            pauses_hosts=switch.sfc_p,
        )
    if transport.flow_control == "onramp-straw-man":
        half_bytes = transport.bdp_bytes / 2  # what half a base RTT of queueing delay is
        return replace(
            rules,
            pauses_at_bytes=half_bytes,
            pauses_down_to_bytes=half_bytes,
            pauses_from_ingress=False,
            uses_frames=False,
        )
    return rules
