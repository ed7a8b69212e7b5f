# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What an agent is told: the hosts it serves, the flows that touch them, and how their NICs behave. Model units.

Dumped as JSON by the testbed, loaded by `hosts.agent`; all that follows is said in messages (`hosts.protocol`).
"""

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from hosts.records import SwitchClock
from hosts.transport.settings import TransportSettings
from scenarios.model.flow import Flow
from topologies.model import Host, Topology
from wire.dilation import Dilation

INTERFACE = "{name}-eth0"
TAP = "{name}-tap0"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class HostStall(_Part):
    """The host stands still, in model time since the start of the run."""

    at_ns: int = Field(ge=0)
    for_ns: int = Field(gt=0)
    ring_frames: int = Field(ge=0, description="How many frames may wait to be read.")


class AgentHost(_Part):
    """A host this agent serves."""

    host: Host
    pid: int = Field(gt=0, description="A process whose network namespace is the host's.")
    interface: str = Field(description="The host's interface in that namespace.")
    stalls: tuple[HostStall, ...] = ()


class AgentConfig(_Part):
    """All that one agent is told before it starts: its hosts, their flows, and the NICs' settings in model units."""

    name: str = Field(description="Name of the agent, for its log.")
    epoch_ns: int = Field(description="CLOCK_MONOTONIC instant from which switches count their microseconds.")
    dilation: int = Field(ge=1)
    settings: dict[str, Any] = Field(description="Fields of TransportSettings.")
    programs: bool = Field(False, description="Whether ordinary programs of the hosts use the NICs, by TAP devices.")
    hosts: list[AgentHost]
    flows: list[Flow] = Field(description="Those with at least one end here.")
    addresses: dict[str, IPv4Address] = Field(description="Of every host that is an end of one of the flows.")
    switches: dict[int, SwitchClock] = Field(description="By the number that they put into a BTS.")


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
) -> list[AgentConfig]:
    """Shares hosts out among so many agents (fewer if there are fewer hosts), each with the flows it needs.

    Interfaces are named as Mininet does, `hN-eth0`. With `programs` the hosts' ordinary programs use the NICs too.
    Raises ValueError if `agents` is not positive.
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
            hosts=[_agent_host(host, pids, stalls.get(host.name, ())) for host in topology.hosts[number::count]],
            flows=flows_of[number],
            addresses={end: topology.host[end].ip for flow in flows_of[number] for end in (flow.src, flow.dst)},
            switches=dict(switches),
        )
        for number in range(count)
    ]


def _agent_host(host: Host, pids: Mapping[str, int], stalls: tuple[HostStall, ...]) -> AgentHost:
    return AgentHost(
        host=host,
        pid=pids[host.name],
        interface=INTERFACE.format(name=host.name),
        stalls=stalls,
    )
