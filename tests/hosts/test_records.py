# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Rows of the traces: model units, from the instant of model time 0; and NICs and configs from data."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

import pytest

from hosts.agent_config import AgentConfig, agent_configs
from hosts.build import build_nics
from hosts.records import RecordWriter
from hosts.transport.messages import BtsReceived, Goodput, MessageCompleted, MessageReceived, SendingReport
from hosts.transport.settings import TransportSettings
from telemetry.schema import FLOWS, GOODPUT, SIGNALS
from tests.wire.test_bts import EXAMPLE
from wire.dilation import Dilation

START_NS = 7_000_000


class Sink:
    """Keeps rows."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, Any]] = []

    def flow_finished(self, row: Mapping[str, Any]) -> None:
        """Kept."""
        self.rows.append(("finished", row))

    def flow_unfinished(self, row: Mapping[str, Any]) -> None:
        """Kept."""
        self.rows.append(("unfinished", row))

    def flow_received(self, flow_id: int, corrupted: bool) -> None:
        """Kept."""
        self.rows.append(("received", (flow_id, corrupted)))

    def goodput(self, row: Mapping[str, Any]) -> None:
        """Kept."""
        self.rows.append(("goodput", row))

    def signal(self, row: Mapping[str, Any]) -> None:
        """Kept."""
        self.rows.append(("signal", row))


REPORT = SendingReport(
    flow_id=3,
    tag="incast",
    destination_ip=1,
    size_bytes=5000,
    start_ns=START_NS + 2_000_000,
    packets_sent=7,
    packets_resent=2,
    bytes_resent=2000,
    timeouts=1,
    naks=4,
    paused_ns=500_000,
)


def test_a_finished_flow_has_its_columns_in_model_units() -> None:
    """Dilation 1000: wall ms are model us."""
    sink = Sink()
    RecordWriter(sink, Dilation(1000), START_NS).write("h1", MessageCompleted(REPORT, START_NS + 9_000_000))
    ((kind, row),) = sink.rows
    assert kind == "finished"
    assert (row["start_us"], row["finish_us"], row["paused_us"]) == (2.0, 9.0, 0.5)
    assert (row["packets_sent"], row["packets_resent"], row["timeouts"], row["naks"]) == (7, 2, 1, 4)
    assert set(row) <= set(FLOWS.column_names)


def test_an_unfinished_flow_has_no_finish() -> None:
    """Otherwise the same columns."""
    sink = Sink()
    RecordWriter(sink, Dilation(1000), START_NS).write_unfinished([REPORT])
    ((kind, row),) = sink.rows
    assert (kind, row["finish_us"], row["bytes_resent"]) == ("unfinished", None, 2000)


def test_a_received_message_says_whether_it_is_whole() -> None:
    """By flow."""
    sink = Sink()
    RecordWriter(sink, Dilation(1), 0).write("h2", MessageReceived(4, 10, 99, True, Goodput(4, 0, 100, 10)))
    assert sink.rows[-1] == ("received", (4, True))


def test_an_interval_of_goodput_has_every_column_of_its_trace() -> None:
    """That of a message's end comes with the end."""
    sink = Sink()
    records = RecordWriter(sink, Dilation(1000), START_NS)
    last = Goodput(4, START_NS + 2_000_000, START_NS + 3_000_000, 20)
    records.write("h2", Goodput(4, START_NS + 1_000_000, START_NS + 2_000_000, 10))
    records.write("h2", MessageReceived(4, 30, START_NS + 2_100_000, False, last))
    rows = [row for kind, row in sink.rows if kind == "goodput"]
    assert [tuple(row.values()) for row in rows] == [(1.0, 2.0, 4, 10), (2.0, 3.0, 4, 20)]
    assert set(rows[0]) == set(GOODPUT.column_names)


@pytest.mark.parametrize("until_ns", [None, START_NS + 8_000_000])
def test_a_signal_has_every_column_of_its_trace(until_ns: int | None) -> None:
    """Pause in model us too; the switch is still a number."""
    sink = Sink()
    event = BtsReceived(
        EXAMPLE, 1, 3, START_NS + 1_000_000, START_NS + 3_000_000, until_ns is not None, "obeyed", until_ns
    )
    RecordWriter(sink, Dilation(1000), START_NS).write("h1", event)
    ((_, row),) = sink.rows
    assert set(row) == set(SIGNALS.column_names)
    assert (row["sent_us"], row["received_us"], row["pause_us"]) == (1.0, 3.0, 1.234)
    assert (row["host"], row["switch"], row["cause"], row["flow_id"]) == ("h1", 4, "cache", 3)
    assert row["paused_until_us"] == (None if until_ns is None else 8.0)


@dataclass(frozen=True)
class Host:
    """What a topology gives."""

    name: str
    ip: IPv4Address
    mac: str
    gateway_mac: str
    rate_bps: int = 100_000_000_000


@dataclass(frozen=True)
class Flow:
    """What a scenario gives."""

    flow_id: int
    src: str
    dst: str
    source_qpn: int = 1
    destination_qpn: int = 1
    size_bytes: int = 10
    start_ns: int = 5
    tag: str = ""


HOSTS = [
    Host(f"h{number}", IPv4Address(f"10.0.0.{number}"), f"02:00:00:00:00:0{number}", "06:00:00:00:00:01")
    for number in range(1, 6)
]


def test_nics_are_told_of_their_messages() -> None:
    """At the wall time of the start, dilated."""
    nics = build_nics(
        HOSTS, {host.name: host for host in HOSTS}, [Flow(1, "h2", "h4")], TransportSettings(), Dilation(1000)
    )
    assert [nic.address.name for nic in nics] == ["h1", "h2", "h3", "h4", "h5"]
    assert [nic.next_timer_ns() for nic in nics] == [None, 5_000, None, None, None]


def configs(agents: int) -> list[AgentConfig]:
    """Five hosts, two flows."""
    flows = [Flow(1, "h1", "h2"), Flow(2, "h1", "h3", source_qpn=2)]
    pids = {host.name: 100 + number for number, host in enumerate(HOSTS)}
    return agent_configs(HOSTS, flows, TransportSettings(), Dilation(10), pids=pids, agents=agents, epoch_ns=5)


def test_hosts_are_shared_out_and_flows_go_to_both_ends() -> None:
    """Every host once; a flow to each agent that serves an end, once."""
    first, second = configs(2)
    assert [host.name for host in first.hosts] == ["h1", "h3", "h5"]
    assert [host.name for host in second.hosts] == ["h2", "h4"]
    assert [flow.flow_id for flow in first.flows] == [1, 2]
    assert [flow.flow_id for flow in second.flows] == [1]
    assert set(second.addresses) == {"h1", "h2"}
    assert (first.hosts[1].interface, first.hosts[1].pid) == ("h3-eth0", 102)


def test_there_are_never_more_agents_than_hosts() -> None:
    """And never none."""
    assert len(configs(99)) == 5
    with pytest.raises(ValueError, match="at least one agent"):
        configs(0)


def test_a_config_survives_its_file() -> None:
    """JSON there and back."""
    (config,) = configs(1)
    assert AgentConfig.model_validate_json(config.model_dump_json()) == config
