# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What the runner and its agents say to each other after the configuration: one JSON object a line, both ways.

Each message is a class; `command` or `event` names it. A line that is none of them is a ProtocolError, which quotes it:
neither side passes over what it does not understand. The records of a run are the same classes under the virtual clock,
which sends no lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from compiled.visible import visible
from hosts.io.summaries import LatenessSummary, SpacingSummary
from hosts.transport.counters import NicStatistics
from hosts.transport.messages import SendingCounts
from scenarios.model.flow import Flow
from telemetry.rows import CongestionRow, GoodputRow, LatenessRow, SignalRow

_QUOTED_CHARACTERS = 200


class ProtocolError(ValueError):
    """A line that is no message, quoted, and why."""


class _Message:
    __slots__ = ()
    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class Start(_Message):
    """To the agent: model time 0 is at this instant of CLOCK_MONOTONIC."""

    start_ns: int
    command: Literal["start"] = "start"


@dataclass(frozen=True, slots=True)
class Quiesce(_Message):
    """To the agent: the hosts send nothing any more; what is on the way still arrives."""

    command: Literal["quiesce"] = "quiesce"


@dataclass(frozen=True, slots=True)
class Stop(_Message):
    """To the agent: report and end."""

    command: Literal["stop"] = "stop"


@dataclass(frozen=True, slots=True)
class Add(_Message):
    """To the agent, once started: more messages, of which it serves at least one end. They count from model time 0."""

    flows: tuple[Flow, ...]
    addresses: dict[str, Annotated[IPv4Address, Field(strict=False)]]
    """Of every host that is an end of one of the flows."""
    command: Literal["add"] = "add"


@dataclass(frozen=True, slots=True)
class Look(_Message):
    """To the agent: tell the state of each host, then `Looked` with this number."""

    number: int
    command: Literal["look"] = "look"


@dataclass(frozen=True, slots=True)
class Adopt(_Message):
    """To the agent: messages that begin from now on go by these settings (fields of TransportSettings)."""

    settings: dict[str, Any]
    command: Literal["adopt"] = "adopt"


Command = Start | Add | Look | Adopt | Quiesce | Stop


@dataclass(frozen=True, slots=True)
class Ready(_Message):
    """All sockets are open."""

    hosts: int
    event: Literal["ready"] = "ready"


@dataclass(frozen=True, slots=True)
class FlowSent(_Message):
    """What the sender knows of a flow once it is done, or when the run ended before it was: model units."""

    flow_id: int
    finish_us: float | None
    """When the last acknowledgement arrived; None: it did not."""
    paused_us: float
    counts: SendingCounts
    gave_up: bool = False
    """It never will: the sender has given the flow up."""
    start_us: float | None = None
    """When it was ready, of one that waited for others; None: as planned."""
    event: Literal["flow"] = "flow"


@dataclass(frozen=True, slots=True)
class FlowReceived(_Message):
    """The receiver has the whole message."""

    flow_id: int
    corrupted: bool
    event: Literal["received"] = "received"


@dataclass(slots=True)
class Goodput(GoodputRow, _Message):
    """A row of the goodput trace."""

    event: Literal["goodput"] = "goodput"


@dataclass(slots=True)
class Late(LatenessRow, _Message):
    """A row of the lateness trace."""

    event: Literal["late"] = "late"


@dataclass(slots=True)
class Signal(SignalRow, _Message):
    """A row of the signals trace."""

    event: Literal["signal"] = "signal"


@dataclass(slots=True)
class Congestion(CongestionRow, _Message):
    """A row of the trace of congestion controls."""

    event: Literal["congestion"] = "congestion"


@dataclass(frozen=True, slots=True)
class HostStatistics(_Message):
    """What a host counted by the end."""

    host: str
    nic: NicStatistics
    kernel_drops: int = 0
    """Frames that the kernel dropped before the NIC saw them."""
    send_failures: int = 0
    """Frames that the kernel did not take."""
    link_down: int = 0
    """Frames sent while the interface was down."""
    event: Literal["statistics"] = "statistics"


@dataclass(frozen=True, slots=True)
class AgentLateness(_Message):
    """How late an agent put its hosts' frames on the wire, and how far from one another."""

    lateness: LatenessSummary
    spacing: SpacingSummary
    event: Literal["lateness"] = "lateness"


@dataclass(frozen=True, slots=True)
class MessageState(_Message):
    """An unfinished message at its sender: model units."""

    flow_id: int
    acknowledged_bytes: int
    in_flight_bytes: int
    paused_for_us: float
    """How long it must still wait; 0: it is not paused."""
    paused_us: float
    """How long it has been paused so far."""
    window_bytes: int | None
    rate_gbps: float
    packets_resent: int


@dataclass(frozen=True, slots=True)
class ProgramFlowState(_Message):
    """A 5-tuple of a host's ordinary programs that waits or is paused: model units."""

    destination_ip: str
    protocol: int
    source_port: int
    destination_port: int
    held_bytes: int
    paused_for_us: float


@dataclass(frozen=True, slots=True)
class HostState(_Message):
    """What a host's NIC has in hand now, and what it has counted so far."""

    statistics: HostStatistics
    messages: tuple[MessageState, ...]
    programs: tuple[ProgramFlowState, ...]
    class_paused_for_us: float
    """What is left of an 802.1Qbb pause of the data class."""
    event: Literal["state"] = "state"


@dataclass(frozen=True, slots=True)
class Looked(_Message):
    """The answer to `Look` is complete."""

    number: int
    event: Literal["looked"] = "looked"


@dataclass(frozen=True, slots=True)
class Refused(_Message):
    """A command was not obeyed, and why."""

    reason: str
    event: Literal["refused"] = "refused"


@dataclass(frozen=True, slots=True)
class Stopped(_Message):
    """The agent's last word."""

    event: Literal["stopped"] = "stopped"


Record = FlowSent | FlowReceived | Goodput | Late | Signal | Congestion
"""What belongs into a run's traces."""

AgentEvent = Ready | Record | HostStatistics | AgentLateness | HostState | Looked | Refused | Stopped

Message = TypeVar("Message")

_COMMANDS: TypeAdapter[Command] = TypeAdapter(Annotated[Command, Field(discriminator="command")])
_EVENTS: TypeAdapter[AgentEvent] = TypeAdapter(Annotated[AgentEvent, Field(discriminator="event")])


def command_line(command: Command) -> bytes:
    """The line, its end included."""
    return _COMMANDS.dump_json(command) + b"\n"


def event_line(event: AgentEvent) -> bytes:
    """The line, its end included."""
    return _EVENTS.dump_json(event) + b"\n"


def parse_command(line: str) -> Command:
    """What the runner wants. Raises ProtocolError."""
    return _parsed(_COMMANDS, line)


def parse_event(line: str) -> AgentEvent:
    """What an agent tells. Raises ProtocolError."""
    return _parsed(_EVENTS, line)


def _parsed(messages: TypeAdapter[Message], line: str) -> Message:
    try:
        return messages.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        reason = ": ".join([*(".".join(map(str, first["loc"])),) * bool(first["loc"]), first["msg"]])
        reason = visible(reason[:_QUOTED_CHARACTERS])
        quoted = repr(line[:_QUOTED_CHARACTERS])
        raise ProtocolError(f"{quoted} is no message: {reason}") from error
