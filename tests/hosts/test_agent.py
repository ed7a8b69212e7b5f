# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The agent process: two hosts in namespaces on one wire, a real loop, real messages."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from hosts.agent import main
from hosts.agent_config import AgentConfig, AgentFlow, AgentHost
from hosts.transport.settings import TransportSettings
from tests.hosts.namespaces import Station, raw_socket, two_stations
from wire.addresses import parse_ip, parse_mac
from wire.bts import BackToSender, pack_frame
from wire.constants import BtsCause
from wire.roce import source_port

ROOT = Path(__file__).parents[2]
DILATION = 1_000
LEAD_NS = 200_000_000


@pytest.fixture(scope="module")
def stations() -> Iterator[tuple[Station, Station]]:
    """Two hosts on one wire."""
    with two_stations() as pair:
        yield pair


def config_of(stations: tuple[Station, Station], epoch_ns: int, *, flow_bytes: int = 50_000) -> AgentConfig:
    """Two flows one way, one back."""
    hosts = [
        AgentHost(
            name=f"h{number}",
            pid=station.pid,
            interface=station.interface,
            mac=station.mac,
            ip=IPv4Address(station.ip),
            gateway_mac=station.peer_mac,
            rate_bps=100_000_000_000,
        )
        for number, station in enumerate(stations, 1)
    ]
    ends = [("h1", "h2", 1, 1), ("h1", "h2", 2, 2), ("h2", "h1", 1, 1)]
    flows = [
        AgentFlow(
            flow_id=number, src=src, dst=dst, source_qpn=source, destination_qpn=sink, size_bytes=flow_bytes, start_ns=0
        )
        for number, (src, dst, source, sink) in enumerate(ends, 1)
    ]
    return AgentConfig(
        name="agent1",
        epoch_ns=epoch_ns,
        dilation=DILATION,
        settings=TransportSettings(flow_control="sfc", congestion="window").as_dict(),
        hosts=hosts,
        flows=flows,
        addresses={host.name: host.ip for host in hosts},
    )


class AgentProcess:
    """The process under test, spoken to in lines."""

    def __init__(self, config: AgentConfig, folder: Path) -> None:
        path = folder / "agent.json"
        path.write_text(config.model_dump_json())
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hosts.agent", str(path)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.seen: list[dict[str, Any]] = []

    def tell(self, line: str) -> None:
        """One line to its stdin."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def until(self, *kinds: str) -> list[dict[str, Any]]:
        """Reads events until one of each kind named has come (a kind named twice: two)."""
        wanted = list(kinds)
        assert self.process.stdout is not None
        while wanted:
            line = self.process.stdout.readline()
            assert line, f"the agent ended before {wanted}"
            event = json.loads(line)
            self.seen.append(event)
            if event["event"] in wanted:
                wanted.remove(event["event"])
        return self.seen

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Events of one kind so far."""
        return [event for event in self.seen if event["event"] == kind]


@contextmanager
def agent(config: AgentConfig, folder: Path) -> Iterator[AgentProcess]:
    """A running agent that has said ready; it ends with its stdin."""
    running = AgentProcess(config, folder)
    try:
        running.until("ready")
        yield running
    finally:
        assert running.process.stdin is not None
        assert running.process.stdout is not None
        running.process.stdin.close()
        running.process.wait(timeout=30)
        running.process.stdout.close()


@pytest.mark.root
def test_messages_cross_a_real_wire(stations: tuple[Station, Station], tmp_path: Path) -> None:
    """Whole, acknowledged, in about the time the model says; every frame is accounted for."""
    with agent(config_of(stations, time.monotonic_ns()), tmp_path) as running:
        running.tell(f"start {time.monotonic_ns() + LEAD_NS}")
        running.until("flow", "flow", "flow", "received", "received", "received")
        assert " 0% packet loss" in stations[0].run("ping", "-c", "3", "-i", "0.2", "-W", "5", stations[1].ip)
        running.tell("stop")
        running.until("stopped")
    assert not any(event["corrupted"] for event in running.of("received"))
    for event in running.of("flow"):
        assert event["start_us"] == 0.0
        assert event["finish_us"] > 50_000 * 8 / 100_000
    sides = running.of("statistics")
    assert [side["host"] for side in sides] == ["h1", "h2"]
    assert sides[0]["frames_sent"] == sides[1]["frames_received"]
    assert sides[1]["frames_sent"] == sides[0]["frames_received"]
    assert all(side["kernel_drops"] == side["send_failures"] == side["malformed"] == 0 for side in sides)
    (lateness,) = running.of("lateness")
    assert lateness["count"] == sum(side["frames_sent"] for side in sides)
    assert running.of("progress")[0]["completed"] == 0
    assert running.process.returncode == 0


def bts(stations: tuple[Station, Station], pause_us: int) -> bytes:
    """Names flow 1 of the left host."""
    left, right = stations
    signal_ = BackToSender(BtsCause.QUEUE, True, pause_us, 17, 26, source_port(1), 4791, 1, 3, 1, 9, 4_000)
    return pack_frame(
        signal_,
        destination_mac=parse_mac(left.mac),
        source_mac=parse_mac(right.mac),
        congested_ip=parse_ip(right.ip),
        paused_ip=parse_ip(left.ip),
    )


@pytest.mark.root
def test_a_bts_pauses_a_real_flow(stations: tuple[Station, Station], tmp_path: Path) -> None:
    """The signal row is in model units and the flow is done only after its pause."""
    pause_us = 400_000
    epoch_ns = time.monotonic_ns()
    with agent(config_of(stations, epoch_ns, flow_bytes=5_000_000), tmp_path) as running:
        start_ns = time.monotonic_ns()
        running.tell(f"start {start_ns}")
        with raw_socket(stations[1]) as wire:
            while wire.recv(2048)[36:38] != (4791).to_bytes(2, "big"):
                pass
            wire.send(bts(stations, pause_us))
        running.until("signal")
        (row,) = running.of("signal")
        while not any(event["flow_id"] == 1 for event in running.of("flow")):
            running.until("flow")
    assert (row["obeyed"], row["flow_id"], row["host"], row["switch"]) == (True, 1, "h1", 9)
    assert row["pause_us"] == pause_us / DILATION
    assert row["sent_us"] == pytest.approx((epoch_ns + 4_000_000 - start_ns) / DILATION / 1000)
    assert row["paused_until_us"] == pytest.approx(row["received_us"] + pause_us / DILATION)
    (done,) = (event for event in running.of("flow") if event["flow_id"] == 1)
    assert done["paused_us"] == pytest.approx(pause_us / DILATION, rel=0.05)
    assert done["finish_us"] > row["paused_until_us"]


@pytest.mark.root
def test_a_quiesced_agent_reports_what_is_unfinished(stations: tuple[Station, Station], tmp_path: Path) -> None:
    """Ten seconds' worth of data, cut off: both ends agree on what was sent."""
    with agent(config_of(stations, 0, flow_bytes=100_000_000), tmp_path) as running:
        running.tell(f"start {time.monotonic_ns()}")
        running.tell("nonsense")
        with raw_socket(stations[1]) as wire:
            while wire.recv(2048)[36:38] != (4791).to_bytes(2, "big"):
                pass
        running.tell("quiesce")
        running.until("error")
        running.tell("stop")
        running.until("stopped")
    assert sorted(event["flow_id"] for event in running.of("unfinished")) == [1, 2, 3]
    assert running.of("error")[0]["message"] == "not understood: nonsense"
    sides = running.of("statistics")
    assert sides[0]["frames_sent"] == sides[1]["frames_received"] > 0


@pytest.mark.root
def test_sigterm_is_a_stop(stations: tuple[Station, Station], tmp_path: Path) -> None:
    """It reports and leaves with status 0."""
    with agent(config_of(stations, 0), tmp_path) as running:
        running.process.send_signal(signal.SIGTERM)
        running.until("stopped")
    assert running.process.returncode == 0


@pytest.mark.parametrize(
    "arguments", [[], ["/nonexistent/agent.json"], ["one", "two"]], ids=["none", "no file", "too many"]
)
def test_bad_arguments_are_one_line_and_status_two(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is started."""
    assert main(arguments) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
