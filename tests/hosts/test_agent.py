# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the agent process with two hosts in network namespaces and a real wire between them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address
from pathlib import Path
from typing import TypeVar

import pytest

from sfc_testbed.hosts.agent import main
from sfc_testbed.hosts.agent_config import AgentConfig, AgentHost
from sfc_testbed.hosts.protocol import (
    Add,
    Adopt,
    AgentEvent,
    AgentLateness,
    Command,
    FlowReceived,
    FlowSent,
    Goodput,
    HostState,
    HostStatistics,
    Look,
    Looked,
    Quiesce,
    Ready,
    Refused,
    Signal,
    Start,
    Stop,
    Stopped,
    command_line,
    parse_event,
)
from sfc_testbed.hosts.records import SwitchClock
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.scenarios.model.flow import Flow
from sfc_testbed.topologies.model import Host
from sfc_testbed.wire.bts import STAMPS, BackToSender, tick_ns
from sfc_testbed.wire.constants import BtsCause
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.roce.packets import source_port
from tests.hosts.namespaces import Stations, await_port, bts_frame, raw_socket
from tests.tree import ROOT

DILATION = 1_000
LEAD_NS = 200_000_000
Event = TypeVar("Event")


def config_of(stations: Stations, epoch_ns: int, *, flow_bytes: int = 50_000) -> AgentConfig:
    """Return an agent configuration with two flows from h1 to h2 and one flow back."""
    hosts = [
        AgentHost(
            host=Host(
                name=f"h{number}",
                ip=IPv4Address(station.ip),
                mac=station.mac,
                switch="s1",
                gateway_ip=IPv4Address(station.ip),
                gateway_mac=station.peer_mac,
                rate_bps=100_000_000_000,
            ),
            pid=station.pid,
            interface=station.interface,
        )
        for number, station in enumerate(stations, 1)
    ]
    ends = [("h1", "h2", 1, 1), ("h1", "h2", 2, 2), ("h2", "h1", 1, 1)]
    flows = [
        Flow(src, dst, flow_bytes, 0, "incast", number, source_qpn=source, destination_qpn=sink)
        for number, (src, dst, source, sink) in enumerate(ends, 1)
    ]
    return AgentConfig(
        name="agent1",
        epoch_ns=epoch_ns,
        dilation=DILATION,
        settings=TransportSettings(flow_control="sfc", congestion="window").as_dict(),
        programs=False,
        hosts=hosts,
        flows=flows,
        addresses={served.host.name: served.host.ip for served in hosts},
        switches={9: SwitchClock("tor9")},
    )


class AgentProcess:
    """The agent process under test, which is controlled with JSON lines."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.seen: list[AgentEvent] = []

    def tell(self, command: Command) -> None:
        self.say(command_line(command).decode())

    def say(self, line: str) -> None:
        """Write a line to the agent's stdin, even if it is not a valid command."""
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def until(self, *kinds: type[AgentEvent]) -> None:
        """Read events until one of every kind in `kinds` has arrived; repeat a kind to wait for several."""
        missing = list(kinds)
        assert self.process.stdout is not None
        while missing:
            line = self.process.stdout.readline()
            assert line, f"the agent ended before {missing}"
            event = parse_event(line)
            self.seen.append(event)
            if type(event) in missing:
                missing.remove(type(event))

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.seen if isinstance(event, kind)]


@contextmanager
def agent(config: AgentConfig, folder: Path) -> Iterator[AgentProcess]:
    """Yield an agent that has reported ready; it ends when its stdin is closed."""
    path = folder / "agent.json"
    path.write_text(config.model_dump_json())
    words = [sys.executable, "-m", "sfc_testbed.hosts.agent", str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        running = AgentProcess(process)
        running.until(Ready)
        yield running
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=30)


@pytest.mark.root
def test_messages_arrive_whole_over_a_real_wire_and_every_frame_is_counted(stations: Stations, tmp_path: Path) -> None:
    with agent(config_of(stations, time.monotonic_ns()), tmp_path) as running:
        running.tell(Start(time.monotonic_ns() + LEAD_NS))
        running.until(FlowSent, FlowSent, FlowSent, FlowReceived, FlowReceived, FlowReceived)
        assert " 0% packet loss" in stations[0].run("ping", "-c", "3", "-i", "0.2", "-W", "5", stations[1].ip)
        running.tell(Stop())
        running.until(Stopped)
    assert not any(event.figures.corrupted for event in running.of(FlowReceived))
    for event in running.of(FlowSent):
        assert event.finish_us is not None
        assert event.finish_us > 50_000 * 8 / 100_000
    hosts = running.of(HostStatistics)
    assert [host.host for host in hosts] == ["h1", "h2"]
    assert hosts[0].nic.frames_sent == hosts[1].nic.frames_received
    assert hosts[1].nic.frames_sent == hosts[0].nic.frames_received
    assert all(host.kernel_drops == host.send_failures == host.nic.malformed == 0 for host in hosts)
    (lateness,) = running.of(AgentLateness)
    assert lateness.lateness.count == sum(host.nic.frames_sent for host in hosts)
    assert running.process.returncode == 0


@pytest.mark.root
def test_frames_of_a_window_leave_together(stations: Stations, tmp_path: Path) -> None:
    """A window that is longer than a message: most frames leave in one call, so their spacing is wrong by all of it."""
    config = config_of(stations, time.monotonic_ns()).model_copy(update={"window_ns": 100_000})
    with agent(config, tmp_path) as running:
        running.tell(Start(time.monotonic_ns() + LEAD_NS))
        running.until(FlowSent, FlowSent, FlowSent, FlowReceived, FlowReceived, FlowReceived)
        running.tell(Stop())
        running.until(Stopped)
    assert not any(event.figures.corrupted for event in running.of(FlowReceived))
    (lateness,) = running.of(AgentLateness)
    assert lateness.spacing.count > 50
    assert lateness.spacing.p50_ns >= int(lateness.spacing.ideal_ns)


@pytest.mark.root
def test_a_bts_pauses_a_flow_and_is_recorded_in_model_units(stations: Stations, tmp_path: Path) -> None:
    pause_us, ticks = 400_000 // DILATION, 250
    signal_ = BackToSender(BtsCause.QUEUE, True, pause_us, 17, 26, source_port(1), 4791, 1, 3, 1, 9, ticks)
    epoch_ns = time.monotonic_ns()
    with agent(config_of(stations, epoch_ns, flow_bytes=5_000_000), tmp_path) as running:
        start_ns = time.monotonic_ns()
        running.tell(Start(start_ns))
        with raw_socket(stations[1]) as wire:
            await_port(wire, 4791)
            wire.send(bts_frame(stations[1], stations[0], signal_))
        running.until(Signal)
        (row,) = running.of(Signal)
        while not any(event.flow_id == 1 for event in running.of(FlowSent)):
            running.until(FlowSent)
    assert (row.obeyed, row.flow_id, row.host, row.switch) == (True, 1, "h1", "tor9")
    assert row.pause_us == pause_us
    tick_us, epoch_us = tick_ns(Dilation(DILATION)) / DILATION / 1000, (epoch_ns - start_ns) / DILATION / 1000
    assert row.sent_us is not None
    assert ((row.sent_us - epoch_us) / tick_us - ticks + 1) % STAMPS == pytest.approx(1, abs=0.01)
    assert 0 <= row.received_us - row.sent_us < STAMPS * tick_us
    assert row.paused_until_us == pytest.approx(row.received_us + pause_us)
    (sent,) = (event for event in running.of(FlowSent) if event.flow_id == 1)
    assert sent.figures.paused_us == pytest.approx(pause_us, rel=0.05)
    assert sent.finish_us is not None
    assert row.paused_until_us is not None
    assert sent.finish_us > row.paused_until_us


@pytest.mark.root
def test_a_quiesced_agent_reports_unfinished_flows_and_refused_commands(stations: Stations, tmp_path: Path) -> None:
    with agent(config_of(stations, 0, flow_bytes=100_000_000), tmp_path) as running:
        running.tell(Start(time.monotonic_ns()))
        running.say("nonsense\n")
        running.tell(Start(5))
        with raw_socket(stations[1]) as wire:
            await_port(wire, 4791)
        running.tell(Quiesce())
        running.until(Refused, Refused)
        running.tell(Stop())
        running.until(Stopped)
    assert sorted(event.flow_id for event in running.of(FlowSent) if event.finish_us is None) == [1, 2, 3]
    nonsense, second_start = (event.reason for event in running.of(Refused))
    assert nonsense.startswith("'nonsense' is not a message")
    assert "comes a second time" in second_start
    hosts = running.of(HostStatistics)
    assert hosts[0].nic.frames_sent == hosts[1].nic.frames_received > 0


@pytest.mark.root
def test_a_running_agent_obeys_add_look_and_adopt(stations: Stations, tmp_path: Path) -> None:
    config = config_of(stations, 0).model_copy(update={"flows": []})
    flow = Flow("h1", "h2", 2_000_000, 0, "prompt", 7, 7, 7)
    back = Flow("h2", "h1", 50_000, 0, "prompt", 8, 8, 8)
    with agent(config, tmp_path) as running:
        running.tell(Add((flow,), config.addresses))
        running.until(Refused)
        running.tell(Start(time.monotonic_ns()))
        running.tell(Add((flow,), config.addresses))
        while not any(state.messages for state in running.of(HostState)):
            running.tell(Look(1))
            running.until(Looked)
        running.tell(Adopt({"loss_recovery": "nonsense"}))
        running.until(Refused)
        running.tell(Adopt(TransportSettings(loss_recovery="irn").as_dict()))
        running.tell(Add((back,), config.addresses))
        running.until(FlowReceived, FlowReceived, FlowSent, FlowSent)
        running.tell(Look(2))
        running.until(Looked)
    assert [event.reason for event in running.of(Refused)] == [
        "messages can be added once the run has started",
        "unknown loss recovery 'nonsense'; choose from go-back-n, irn, ndp",
    ]
    *_, left, right, last_left, last_right = running.of(HostState)
    assert [state.statistics.host for state in (left, right, last_left, last_right)] == ["h1", "h2"] * 2
    assert [message.flow_id for message in left.messages] == [7]
    assert not last_left.messages
    assert not last_right.messages
    assert not any(event.figures.corrupted for event in running.of(FlowReceived))
    assert running.of(Looked)[-1] == Looked(2)


@pytest.mark.root
def test_an_agent_runs_before_ordinary_processes(stations: Stations, tmp_path: Path) -> None:
    with agent(config_of(stations, time.monotonic_ns()), tmp_path) as running:
        policy = os.sched_getscheduler(running.process.pid)
    assert policy == os.SCHED_RR | os.SCHED_RESET_ON_FORK


@pytest.mark.root
def test_sigterm_stops_the_agent_with_status_zero(stations: Stations, tmp_path: Path) -> None:
    with agent(config_of(stations, 0), tmp_path) as running:
        running.process.send_signal(signal.SIGTERM)
        running.until(Stopped)
    assert running.process.returncode == 0


@pytest.mark.parametrize(
    "arguments", [[], ["/nonexistent/agent.json"], ["one", "two"]], ids=["none", "no file", "too many"]
)
def test_bad_arguments_are_reported_in_one_line_with_status_two(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_failure_of_the_agent_is_reported_in_one_line(
    stations: Stations, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Send frames longer than the MTU; the line must name the interface and the size."""
    config = config_of(stations, time.monotonic_ns())
    config = config.model_copy(update={"settings": {**config.settings, "payload_bytes": 4000}})
    with agent(config, tmp_path) as running:
        running.tell(Start(time.monotonic_ns()))
        assert running.process.wait(30) == 1
    [line] = capfd.readouterr().err.splitlines()
    assert line == f"agent: {stations[0].interface} cannot carry a frame of 4058 B: its MTU is too small"


def test_goodput_counts_from_the_start_of_the_run(stations: Stations, tmp_path: Path) -> None:
    config = config_of(stations, time.monotonic_ns())
    interval_us = config.settings["goodput_interval_ns"] / 1000
    with agent(config, tmp_path) as running:
        running.tell(Start(time.monotonic_ns() + LEAD_NS))
        running.until(*[FlowReceived] * 3)
    interval_starts = [event.from_us / interval_us for event in running.of(Goodput)]
    assert interval_starts
    assert min(interval_starts) >= 0
    assert all(interval_start == pytest.approx(round(interval_start), abs=1e-6) for interval_start in interval_starts)
