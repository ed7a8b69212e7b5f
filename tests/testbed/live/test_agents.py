# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The runner's communication with agents, tested with programs that imitate or break the agent's protocol."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sfc_testbed.hosts.agent_config import AgentConfig
from sfc_testbed.hosts.protocol import FlowReceived, Ready, Refused, Start, Stop, Stopped, event_line
from sfc_testbed.telemetry.figures import ReceiverFigures
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.live import agents
from sfc_testbed.testbed.live.agents import AgentProcess
from sfc_testbed.testbed.system.child import RunChild
from tests.appearing import comes_true

NOBODY = AgentConfig(
    name="agent1", epoch_ns=0, dilation=1, settings={}, programs=False, hosts=[], flows=[], addresses={}, switches={}
)

INTACT, CORRUPTED = ReceiverFigures(corrupted=False), ReceiverFigures(corrupted=True)
Impostor = Callable[..., AgentProcess]


@pytest.fixture
def impostor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Impostor]:
    """Start a fake agent that prints these lines and then echoes its input on stderr."""
    impostors: list[AgentProcess] = []
    start = RunChild.__init__

    def make(*lines: bytes, then: str = "for line in sys.stdin: print(line, end='', file=sys.stderr)") -> AgentProcess:
        code = f"import sys\nsys.stdout.buffer.write({b''.join(lines)!r})\nsys.stdout.flush()\n{then}"

        def start_impostor(agent: RunChild, name: str, _: object, run_id: str, log: Path) -> None:
            start(agent, name, [sys.executable, "-c", code], run_id, log)

        monkeypatch.setattr(RunChild, "__init__", start_impostor)
        impostors.append(AgentProcess(NOBODY, "test", tmp_path))
        return impostors[-1]

    yield make
    for agent in impostors:
        agent.stop()


def test_an_agent_is_ready_when_it_says_so(impostor: Impostor) -> None:
    agent = impostor(event_line(Ready(0)), event_line(FlowReceived(1, INTACT)), event_line(Stopped()))
    agent.wait_until_ready(Interrupt())
    assert agent.last_events() == [FlowReceived(1, INTACT), Stopped()]
    assert agent.problem is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            b"Traceback (most recent call last):\n",
            "'Traceback (most recent call last):' is not a message: Invalid JSON",
        ),
        (b'{"event":"gossip"}\n', "'{\"event\":\"gossip\"}' is not a message: Input tag 'gossip'"),
        (b'{"event":"received","flow_id":1}\n', "is not a message: received.figures: Field required"),
        (b"\xff\xfe\n", "is not a message: Invalid JSON"),
    ],
    ids=["no JSON", "unknown", "malformed", "no text"],
)
def test_an_unreadable_message_is_a_failure_that_quotes_it(impostor: Impostor, line: bytes, reason: str) -> None:
    agent = impostor(
        event_line(FlowReceived(1, INTACT)), line, event_line(FlowReceived(2, CORRUPTED)), event_line(Stopped())
    )
    assert agent.last_events() == [FlowReceived(1, INTACT), FlowReceived(2, CORRUPTED), Stopped()]
    assert agent.problem is not None
    assert agent.problem.startswith("agent1 sent a message that cannot be read: ")
    assert reason in agent.problem


def test_a_refusal_is_a_failure(impostor: Impostor) -> None:
    agent = impostor(event_line(Refused("'start' comes a second time")), event_line(Stopped()))
    agent.last_events()
    assert agent.problem == "agent1 refused a command: 'start' comes a second time"


@pytest.mark.parametrize(
    ("line", "then", "reason"),
    [
        (b"hello\n", "sys.stdin.read()", "agent1 sent a message that cannot be read: 'hello' is not a message"),
        (b"", "sys.exit('no such interface')", "before it was ready agent1 ended with status 1 .no such interface"),
    ],
)
def test_an_agent_that_does_not_get_ready_ends_the_run(impostor: Impostor, line: bytes, then: str, reason: str) -> None:
    with pytest.raises(RunError, match=reason):
        impostor(line, then=then).wait_until_ready(Interrupt())


def test_an_agent_that_ends_without_a_report_is_named(impostor: Impostor) -> None:
    agent = impostor(event_line(FlowReceived(1, INTACT)), then="sys.exit('crashed')")
    assert agent.last_events() == [FlowReceived(1, INTACT)]
    assert agent.problem is not None
    assert agent.problem.startswith("before it had reported agent1 ended with status 1 (crashed; see ")


def test_commands_arrive_as_lines(impostor: Impostor) -> None:
    agent = impostor()
    agent.send(Start(5))
    agent.send(Stop())
    assert comes_true(lambda: "stop" in agent.last_words())
    assert agent.last_words() == '{"command":"stop"}'


def test_a_long_report_is_read_to_its_end(impostor: Impostor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of thousands of unfinished flows takes long; only silence ends the wait."""
    monkeypatch.setattr(agents, "_REPORT_SECONDS", 5.0)
    received, stopped = event_line(FlowReceived(1, INTACT)), event_line(Stopped())
    print_event = f"sys.stdout.buffer.write({received!r}); sys.stdout.flush(); time.sleep(2)\n"
    then = f"import time\nfor _ in range(3): {print_event}sys.stdout.buffer.write({stopped!r})"
    agent = impostor(then=then)
    assert agent.last_events() == [*[FlowReceived(1, INTACT)] * 3, Stopped()]
