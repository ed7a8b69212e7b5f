# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Messages between the runner and its agents after the configuration: one JSON object per line, in both directions.

Every message is a class, named by its `command` or `event` field. An unknown or malformed line raises a ProtocolError
that quotes it, so neither side silently skips a line. Runs under the virtual clock use the same record classes but
send no lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from os_helpers.visible import visible
from sfc_testbed.hosts.io.summaries import LatenessSummary, SpacingSummary
from sfc_testbed.hosts.transport.counters import NicCounters
from sfc_testbed.scenarios.model.flow import Flow
from sfc_testbed.telemetry.figures import ReceiverFigures, SenderFigures
from sfc_testbed.telemetry.rows import CongestionRow, GoodputRow, LatenessRow, SignalRow

_QUOTED_CHARACTERS = 200


class ProtocolError(ValueError):
    """A received line that is not a valid message; the text quotes the line and gives the reason."""


class _Message:
    __slots__ = ()
    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class Start(_Message):
    """Command to start the run: model time 0 is at this instant of CLOCK_MONOTONIC."""

    start_ns: int
    command: Literal["start"] = "start"


@dataclass(frozen=True, slots=True)
class Quiesce(_Message):
    """Command to stop sending; frames that are already in the network are still received."""

    command: Literal["quiesce"] = "quiesce"


@dataclass(frozen=True, slots=True)
class Stop(_Message):
    """Command to report the final statistics and exit."""

    command: Literal["stop"] = "stop"


@dataclass(frozen=True, slots=True)
class Add(_Message):
    """Command to add flows to a started run. The agent serves at least one end of each flow.

    Their start times count from model time 0.
    """

    flows: tuple[Flow, ...]
    addresses: dict[str, Annotated[IPv4Address, Field(strict=False)]]
    """The IP address of every host that is an end of one of the flows."""
    command: Literal["add"] = "add"


@dataclass(frozen=True, slots=True)
class Look(_Message):
    """Command to report the state of every host, followed by a `Looked` event with this number."""

    number: int
    command: Literal["look"] = "look"


@dataclass(frozen=True, slots=True)
class Adopt(_Message):
    """Command to use these settings (fields of TransportSettings) for messages that begin from now on."""

    settings: dict[str, Any]
    command: Literal["adopt"] = "adopt"


Command = Start | Add | Look | Adopt | Quiesce | Stop


@dataclass(frozen=True, slots=True)
class Ready(_Message):
    """The event sent once all sockets of the agent are open."""

    hosts: int
    event: Literal["ready"] = "ready"


@dataclass(slots=True)  # creating a frozen one would take three times as long
class FlowSent(_Message):
    """The sender's record of a flow, written when the flow or the run ends, in model units."""

    flow_id: int
    finish_us: float | None
    """The time at which the last acknowledgement arrived; None if it did not arrive."""
    figures: SenderFigures
    gave_up: bool = False
    """Whether the sender has given up the flow."""
    start_us: float | None = None
    """The time at which a flow that waited for other flows became ready; None for a flow that started as planned."""
    event: Literal["flow"] = "flow"


@dataclass(slots=True)
class FlowReceived(_Message):
    """The event sent once the receiver has the whole message."""

    flow_id: int
    figures: ReceiverFigures
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
    """A row of the congestion control trace."""

    event: Literal["congestion"] = "congestion"


@dataclass(frozen=True, slots=True)
class HostStatistics(_Message):
    """Counters of a host."""

    host: str
    nic: NicCounters
    kernel_drops: int = 0
    """Frames that the kernel dropped before the NIC received them."""
    send_failures: int = 0
    """Frames that the kernel refused to send because it had no room."""
    link_down: int = 0
    """Frames sent while the interface was down."""
    event: Literal["statistics"] = "statistics"


@dataclass(frozen=True, slots=True)
class AgentLateness(_Message):
    """The lateness of the frames that an agent's hosts sent, and the error of the spacing between them."""

    lateness: LatenessSummary
    spacing: SpacingSummary
    event: Literal["lateness"] = "lateness"


@dataclass(frozen=True, slots=True)
class MessageState(_Message):
    """The state of an unfinished message at its sender, in model units."""

    flow_id: int
    acknowledged_bytes: int
    in_flight_bytes: int
    paused_for_us: float
    """The remaining time of the flow's pause; 0 if the flow is not paused."""
    window_bytes: int | None
    rate_gbps: float
    figures: SenderFigures


@dataclass(frozen=True, slots=True)
class ProgramFlowState(_Message):
    """The state of a 5-tuple of ordinary programs that has queued frames or is paused, in model units."""

    destination_ip: str
    protocol: int
    source_port: int
    destination_port: int
    held_bytes: int
    paused_for_us: float


@dataclass(frozen=True, slots=True)
class HostState(_Message):
    """The current state and counters of a host's NIC."""

    statistics: HostStatistics
    messages: tuple[MessageState, ...]
    programs: tuple[ProgramFlowState, ...]
    class_paused_for_us: float
    """The remaining time of an 802.1Qbb pause of the data class, in model us."""
    event: Literal["state"] = "state"


@dataclass(frozen=True, slots=True)
class Looked(_Message):
    """The event that completes the answer to the `Look` command with this number."""

    number: int
    event: Literal["looked"] = "looked"


@dataclass(frozen=True, slots=True)
class Refused(_Message):
    """The event sent when the agent refuses a command, with the reason."""

    reason: str
    event: Literal["refused"] = "refused"


@dataclass(frozen=True, slots=True)
class Stopped(_Message):
    """The last event of an agent, sent just before it exits."""

    event: Literal["stopped"] = "stopped"


Record = FlowSent | FlowReceived | Goodput | Late | Signal | Congestion
"""Events that are written to a run's traces."""

AgentEvent = Ready | Record | HostStatistics | AgentLateness | HostState | Looked | Refused | Stopped

Message = TypeVar("Message")


@cache
def _commands() -> TypeAdapter[Command]:
    """Return the reader and writer of commands, which takes long to build and is not used in virtual time."""
    return TypeAdapter(Annotated[Command, Field(discriminator="command")])


@cache
def _events() -> TypeAdapter[AgentEvent]:
    return TypeAdapter(Annotated[AgentEvent, Field(discriminator="event")])


def command_line(command: Command) -> bytes:
    """Return the line that encodes a command, with its newline."""
    return _commands().dump_json(command) + b"\n"


def event_line(event: AgentEvent) -> bytes:
    """Return the line that encodes an event, with its newline."""
    return _events().dump_json(event) + b"\n"


def parse_command(line: str) -> Command:
    """Parse a line from the runner. Raises ProtocolError."""
    return _parsed(_commands(), line)


def parse_event(line: str) -> AgentEvent:
    """Parse a line from an agent. Raises ProtocolError."""
    return _parsed(_events(), line)


def _parsed(messages: TypeAdapter[Message], line: str) -> Message:
    try:
        return messages.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        reason = ": ".join([*(".".join(map(str, first["loc"])),) * bool(first["loc"]), first["msg"]])
        reason = visible(reason[:_QUOTED_CHARACTERS])
        quoted = repr(line[:_QUOTED_CHARACTERS])
        raise ProtocolError(f"{quoted} is not a message: {reason}") from error
