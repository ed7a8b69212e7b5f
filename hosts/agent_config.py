# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The configuration of an agent, in model units: its hosts, their flows, and the settings of their NICs.

The testbed writes it as JSON and `hosts.agent` loads it. Later communication uses the messages in `hosts.protocol`.
"""

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sfc_testbed.hosts.records import SwitchClock
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.request.extension import Extension
from sfc_testbed.scenarios.model.flow import Flow
from sfc_testbed.topologies.model import Host, Topology
from sfc_testbed.topologies.physics import departure_window_ns
from sfc_testbed.wire.dilation import Dilation

INTERFACE = "{name}-eth0"
TAP = "{name}-tap0"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class HostStall(_Part):
    """A period in which a host stalls, in model time since the start of the run."""

    at_ns: int = Field(ge=0)
    for_ns: int = Field(gt=0)
    ring_frames: int = Field(ge=0, description="Capacity of the receive ring during the stall, in frames.")


class HostRate(_Part):
    """A change of the rate of a host's link, in model time since the start of the run."""

    at_ns: int = Field(ge=0)
    rate_bps: int = Field(gt=0)


class AgentHost(_Part):
    """A host that the agent serves."""

    host: Host
    pid: int = Field(gt=0, description="A process whose network namespace is the host's.")
    interface: str = Field(description="The host's interface in that namespace.")
    stalls: tuple[HostStall, ...] = ()
    rates: tuple[HostRate, ...] = ()


class AgentConfig(_Part):
    """The configuration of one agent: its hosts, their flows, and the NICs' settings in model units."""

    name: str = Field(description="Name of the agent, for its log.")
    epoch_ns: int = Field(description="CLOCK_MONOTONIC instant at which the microsecond clocks of the switches start.")
    dilation: int = Field(ge=1)
    settings: dict[str, Any] = Field(description="Fields of TransportSettings.")
    programs: bool = Field(False, description="Whether ordinary programs of the hosts use the NICs, via TAP devices.")
    hosts: list[AgentHost]
    flows: list[Flow] = Field(description="Flows with at least one end on a host of this agent.")
    addresses: dict[str, IPv4Address] = Field(description="IP address of every host that is an end of a flow.")
    switches: dict[int, SwitchClock] = Field(description="Switches by the number that they put into a BTS.")
    uses: tuple[Extension, ...] = Field((), description="The extensions that algorithms may come from.")
    window_ns: int = Field(0, ge=0, description="Frames that are due within this time may leave together.")


def agent_configs(
    topology: Topology,
    flows: Iterable[Flow],
    settings: TransportSettings,
    dilation: Dilation,
    *,
    pids: Mapping[str, int],
    switches: Mapping[int, SwitchClock],
    agents: int,
    epoch_ns: int,
    programs: bool = False,
    stalls: Mapping[str, tuple[HostStall, ...]] = MappingProxyType({}),
    rates: Mapping[str, tuple[HostRate, ...]] = MappingProxyType({}),
    uses: tuple[Extension, ...] = (),
) -> list[AgentConfig]:
    """Distribute the hosts among `agents` agents, or one agent per host if there are fewer hosts.

    Every agent gets the flows with an end on one of its hosts. Interfaces have Mininet's names, `hN-eth0`. With
    `programs`, the hosts' ordinary programs use the NICs too. Raises ValueError if `agents` is not positive.
    """
    if agents < 1:
        raise ValueError(f"there must be at least one agent, not {agents}")
    count = min(agents, len(topology.hosts))
    agent_of = {host.name: number % count for number, host in enumerate(topology.hosts)}
    flows_of: list[list[Flow]] = [[] for _ in range(count)]
    for flow in flows:
        for number in {agent_of[flow.src], agent_of[flow.dst]}:
            flows_of[number].append(flow)
    return [
        AgentConfig(
            name=f"agent{number + 1}",
            epoch_ns=epoch_ns,
            dilation=dilation.factor,
            settings=settings.as_dict(),
            programs=programs,
            hosts=[
                AgentHost(
                    host=host,
                    pid=pids[host.name],
                    interface=INTERFACE.format(name=host.name),
                    stalls=stalls.get(host.name, ()),
                    rates=rates.get(host.name, ()),
                )
                for host in topology.hosts[number::count]
            ],
            flows=flows_of[number],
            addresses={end: topology.host[end].ip for flow in flows_of[number] for end in (flow.src, flow.dst)},
            switches=dict(switches),
            uses=uses,
            window_ns=departure_window_ns(topology),
        )
        for number in range(count)
    ]
