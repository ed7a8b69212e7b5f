# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Lines between the runner and its agents: every line is a valid message, or is refused with a one-line error.

Lines can be damaged because the last line of an agent may be cut, and programs of a host may write to its output.
"""

from __future__ import annotations

import json

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from hosts import protocol
from hosts.io.summaries import LatenessSummary, SpacingSummary
from hosts.protocol import AgentEvent, Command, ProtocolError
from hosts.transport.counters import NicStatistics
from hosts.transport.messages import SendingCounts
from tests.fuzz.target import Case, Finding, Target
from tests.fuzz.targets.hostile import damaged, texts, values

_LONGEST = 1_000
_COMMANDS: tuple[Command, ...] = (protocol.Start(10), protocol.Quiesce(), protocol.Stop())
_EVENTS: tuple[AgentEvent, ...] = (
    protocol.Ready(2),
    protocol.FlowSent(1, 2.5, 0.0, SendingCounts(3, 1, 1000)),
    protocol.FlowReceived(1, False),
    protocol.HostStatistics("h1", NicStatistics()),
    protocol.AgentLateness(LatenessSummary(1, 2.0, 3.0, 4.0), SpacingSummary(1, 2.0, 3.0, 4.0, 5.0)),
    protocol.Refused("why"),
    protocol.Stopped(),
)


def _lines() -> SearchStrategy[str]:
    valid = [*map(protocol.command_line, _COMMANDS), *map(protocol.event_line, _EVENTS)]
    message = st.sampled_from([line.decode() for line in valid])
    member = st.tuples(
        st.one_of(st.sampled_from(("command", "event", "start_ns", "nic", "flow_id", "counts")), texts(5)), values()
    )
    changed = st.tuples(message, st.lists(member, max_size=2)).map(
        lambda pair: json.dumps({**json.loads(pair[0]), **dict(pair[1])})
    )
    return st.one_of(damaged(message), changed, damaged(changed), values().map(json.dumps), texts(100))


def _cases() -> SearchStrategy[Case]:
    return _lines().map(lambda line: {"line": line})


def _check(case: Case) -> int:
    line = case["line"]
    try:
        command = protocol.parse_command(line)
    except ProtocolError as error:
        _check_refusal(str(error))
    else:
        _check_same(protocol.parse_command(protocol.command_line(command).decode()), command)
    try:
        event = protocol.parse_event(line)
    except ProtocolError as error:
        _check_refusal(str(error))
    else:
        _check_same(protocol.parse_event(protocol.event_line(event).decode()), event)
    return 1


def _check_refusal(text: str) -> None:
    if len(text) > _LONGEST or "\n" in text or "\r" in text:
        raise Finding("a refusal that is not one short line", ascii(text)[:_LONGEST])


def _check_same(again: Command | AgentEvent, message: Command | AgentEvent) -> None:
    if repr(again) != repr(message):  # NaN is not equal to itself
        raise Finding("a message changes when it is passed on", f"{message!r} {again!r}")


TARGET = Target("agent-lines", "line of an agent or its runner", _check, examples=300, cases=_cases)
