# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What an agent is told: the hosts it serves, the flows that touch them, and how their NICs behave. Model units.

Dumped as JSON by the testbed, loaded by `hosts.agent`.
"""

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Address
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from hosts.build import FlowData, HostData
from hosts.transport.settings import TransportSettings
from wire.dilation import Dilation

INTERFACE = "{name}-eth0"
TAP = "{name}-tap0"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AgentHost(_Part):
    """A host this agent serves."""

    name: str
    pid: int = Field(gt=0, description="A process whose network namespace is the host's.")
    interface: str = Field(description="The host's interface in that namespace.")
    mac: str
    ip: IPv4Address
    gateway_mac: str = Field(description="Destination MAC of everything the host sends.")
    rate_bps: int = Field(gt=0, description="Rate of its link (model).")


class AgentFlow(_Part):
    """A flow with at least one end here."""

    flow_id: int = Field(ge=0)
    src: str
    dst: str
    source_qpn: int = Field(gt=0)
    destination_qpn: int = Field(gt=0)
    size_bytes: int = Field(gt=0)
    start_ns: int = Field(ge=0, description="When the message is ready, from the start instant (model).")
    tag: str = ""


class AgentConfig(_Part):
    """All that one agent is told before it starts: its hosts, their flows, and the NICs' settings in model units."""

    name: str = Field(description="Name of the agent, for its log.")
    epoch_ns: int = Field(description="CLOCK_MONOTONIC instant from which switches count their microseconds.")
    dilation: int = Field(ge=1)
    settings: dict[str, Any] = Field(description="Fields of TransportSettings.")
    programs: bool = Field(False, description="Whether ordinary programs of the hosts use the NICs, by TAP devices.")
    hosts: list[AgentHost]
    flows: list[AgentFlow]
    addresses: dict[str, IPv4Address] = Field(description="Of every host that is an end of one of the flows.")


def agent_configs(
    hosts: Sequence[HostData],
    flows: Iterable[FlowData],
    settings: TransportSettings,
    dilation: Dilation,
    *,
    pids: Mapping[str, int],
    agents: int,
    epoch_ns: int,
    programs: bool = False,
) -> list[AgentConfig]:
    """Shares hosts out among so many agents (fewer if there are fewer hosts), each with the flows it needs.

    Interfaces are named as Mininet does, `hN-eth0`. With `programs` the hosts' ordinary programs use the NICs too.
    Raises ValueError if `agents` is not positive.
    """
    if agents < 1:
        raise ValueError(f"there must be at least one agent, not {agents}")
    count = min(agents, len(hosts))
    agent_of = {host.name: number % count for number, host in enumerate(hosts)}
    flows_of: list[list[AgentFlow]] = [[] for _ in range(count)]
    for flow in flows:
        entry = _agent_flow(flow)
        for number in {agent_of[flow.src], agent_of[flow.dst]}:
            flows_of[number].append(entry)
    addresses = {host.name: host.ip for host in hosts}
    return [
        AgentConfig(
            name=f"agent{number + 1}",
            epoch_ns=epoch_ns,
            dilation=dilation.factor,
            settings=settings.as_dict(),
            programs=programs,
            hosts=[_agent_host(host, pids) for host in hosts[number::count]],
            flows=flows_of[number],
            addresses={end: addresses[end] for flow in flows_of[number] for end in (flow.src, flow.dst)},
        )
        for number in range(count)
    ]


def _agent_host(host: HostData, pids: Mapping[str, int]) -> AgentHost:
    return AgentHost(
        name=host.name,
        pid=pids[host.name],
        interface=INTERFACE.format(name=host.name),
        mac=host.mac,
        ip=host.ip,
        gateway_mac=host.gateway_mac,
        rate_bps=host.rate_bps,
    )


def _agent_flow(flow: FlowData) -> AgentFlow:
    return AgentFlow(
        flow_id=flow.flow_id,
        src=flow.src,
        dst=flow.dst,
        source_qpn=flow.source_qpn,
        destination_qpn=flow.destination_qpn,
        size_bytes=flow.size_bytes,
        start_ns=flow.start_ns,
        tag=flow.tag,
    )
