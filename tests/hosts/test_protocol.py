# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the protocol between runner and agents: every message survives encoding, and other lines are refused."""

import json
from dataclasses import replace
from ipaddress import IPv4Address
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sfc_testbed.hosts.io.summaries import LatenessSummary, SpacingSummary
from sfc_testbed.hosts.protocol import (
    Add,
    Adopt,
    AgentEvent,
    AgentLateness,
    Command,
    Congestion,
    FlowReceived,
    FlowSent,
    Goodput,
    HostState,
    HostStatistics,
    Late,
    Look,
    Looked,
    MessageState,
    ProgramFlowState,
    ProtocolError,
    Quiesce,
    Ready,
    Refused,
    Signal,
    Start,
    Stop,
    Stopped,
    command_line,
    event_line,
    parse_command,
    parse_event,
)
from sfc_testbed.hosts.transport.counters import NicCounters
from sfc_testbed.scenarios.model.flow import Flow
from sfc_testbed.telemetry.figures import ReceiverFigures, SenderFigures
from tests.fuzz.budget import inputs
from tests.fuzz.hostile import damaged, texts, values

SIGNAL = Signal(
    sent_us=1.25,
    received_us=3.1,
    host="h1",
    flow_id=None,
    switch="tor1",
    cause="cache",
    pause_us=20.0,
    queue_depth_bytes=375_000,
    cacheable=True,
    obeyed=False,
    paused_until_us=None,
)
COMMANDS: list[Command] = [
    Start(123_456_789_012_345),
    Add((Flow("h1", "h2", 1000, 5, "send", 7, 7, 7),), {"h1": IPv4Address("10.1.0.1"), "h2": IPv4Address("10.1.0.2")}),
    Look(3),
    Adopt({"flow_control": "sfc", "congestion_parameters": {"window_bytes": 1}}),
    Quiesce(),
    Stop(),
]
STATISTICS = HostStatistics("h1", NicCounters(frames_sent=9), kernel_drops=1, send_failures=2)
EVENTS: list[AgentEvent] = [
    Ready(hosts=7),
    FlowSent(1, 12.345678901234567, SenderFigures(7, 2, 2000, 1, 4, paused_us=0.5)),
    FlowSent(2, None, SenderFigures()),
    FlowReceived(3, ReceiverFigures(corrupted=True, received_us=12.5)),
    Goodput(from_us=0.0, until_us=100.0, flow_id=4, delivered_bytes=1 << 40),
    Congestion(time_us=1.5, flow_id=4, cwnd_bytes=None, rate_bps=100_000_000_000, rtt_us=10.25),
    SIGNAL,
    replace(SIGNAL, flow_id=5, obeyed=True, paused_until_us=23.1),
    STATISTICS,
    HostState(
        STATISTICS,
        (
            MessageState(7, 1000, 2000, 0.5, None, 100.0, SenderFigures(paused_us=1.5)),
            MessageState(8, 0, 0, 0.0, 125_000, 2.5, SenderFigures(packets_resent=1)),
        ),
        (ProgramFlowState("10.2.0.1", 6, 5201, 40_000, 3_000, 12.5),),
        class_paused_for_us=0.0,
    ),
    Looked(3),
    Late(12.5, "host", "agent1", 40, 3.25),
    AgentLateness(LatenessSummary(5, 1.0, 2.5, 9.0), SpacingSummary(4, 1.0, 2.5, 9.0, 850.0)),
    Refused("'nonsense' is not a message"),
    Stopped(),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: type(command).__name__)
def test_a_command_survives_encoding(command: Command) -> None:
    line = command_line(command)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert parse_command(line.decode()) == command


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_survives_encoding(event: AgentEvent) -> None:
    line = event_line(event)
    assert line.count(b"\n") == 1
    parsed = parse_event(line.decode())
    assert parsed == event
    assert type(parsed) is type(event)


def test_the_lists_contain_every_kind_of_message() -> None:
    assert {type(event) for event in EVENTS} == set(AgentEvent.__args__)
    assert {type(command) for command in COMMANDS} == set(Command.__args__)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("nonsense", "Invalid JSON"),
        ("", "Invalid JSON"),
        ("[]", "Input should be an object"),
        ('{"flow_id":1}', "Unable to extract tag using discriminator 'event'"),
        ('{"event":"progress","completed":1}', "Input tag 'progress'"),
        ('{"event":"received","flow_id":1}', "received.figures: Field required"),
        ('{"event":"received","flow_id":"1","corrupted":false}', "received.flow_id: Input should be a valid integer"),
        ('{"event":"received","flow_id":1,"figures":{"corrupted":false},"size":2}', "received.size: Unexpected"),
        ('{"event":"statistics","host":"h1","nic":{"frames":1}}', "statistics.nic.frames: Unexpected"),
    ],
)
def test_an_invalid_line_is_quoted_with_the_reason(line: str, reason: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        parse_event(line)
    assert repr(line) in str(caught.value)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("line", ["start 5", '{"command":"start"}', '{"command":"pause"}', '{"event":"stopped"}'])
def test_only_commands_are_parsed_as_commands(line: str) -> None:
    with pytest.raises(ProtocolError, match="is not a message"):
        parse_command(line)


LINES = st.sampled_from([line.decode() for line in (*map(command_line, COMMANDS), *map(event_line, EVENTS))])
MEMBERS = st.dictionaries(st.sampled_from(("command", "event", "start_ns", "nic", "flow_id")) | texts(5), values())
CHANGED = st.tuples(LINES, MEMBERS).map(lambda pair: json.dumps({**json.loads(pair[0]), **pair[1]}))


@given(line=st.one_of(damaged(LINES), CHANGED, damaged(CHANGED), values().map(json.dumps), texts(100)))
@example(line='{"start_ns":0,"command":"start","\\n":null}')
@inputs(300)
def test_any_line_is_a_message_or_is_refused_in_one_line(line: str) -> None:
    codecs: tuple[tuple[Any, Any], ...] = ((parse_command, command_line), (parse_event, event_line))
    for parse, encode in codecs:
        try:
            message = parse(line)
        except ProtocolError as error:
            assert len(str(error)) <= 1_000
            assert not {"\n", "\r"} & set(str(error))
        else:
            assert repr(parse(encode(message).decode())) == repr(message)  # repr, because NaN is not equal to itself
