# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the records of a run, and of the construction of NICs and agent configurations."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from sfc_testbed.hosts.agent_config import AgentConfig, agent_configs
from sfc_testbed.hosts.build import build_nics
from sfc_testbed.hosts.protocol import FlowReceived, FlowSent, Goodput, Record, Signal
from sfc_testbed.hosts.records import RecordWriter, SwitchClock
from sfc_testbed.hosts.transport import messages
from sfc_testbed.hosts.transport.messages import BtsReceived, MessageReceived, OutgoingMessage
from sfc_testbed.hosts.transport.reports import Event
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.scenarios.model.flow import Flow
from sfc_testbed.telemetry.figures import ReceiverFigures, SenderFigures
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire.bts import STAMPS, tick_ns
from sfc_testbed.wire.constants import BtsCause
from sfc_testbed.wire.dilation import Dilation
from tests.wire.test_bts import EXAMPLE

START_NS = 7_000_000
SWITCHES = {4: SwitchClock("tor4", lag_ns=500_000)}
MESSAGE = OutgoingMessage(
    flow_id=3, source_qpn=1, destination_qpn=1, destination_ip=1, size_bytes=5000, ready_ns=START_NS + 2_000_000
)
FIGURES = SenderFigures(packets_sent=7, packets_resent=2, bytes_resent=2000, timeouts=1, naks=4, paused_us=0.5)
SENT = Transmission(MESSAGE, 0, 1, 0)
SENT.figures, SENT.finish_ns = FIGURES, START_NS + 9_000_000


def records_of(*events: Event, switches: Mapping[int, SwitchClock] = SWITCHES) -> list[Record]:
    """Return the records that host h1 writes for the events at dilation 1000, where wall ms are model us."""
    records: list[Record] = []
    writer = RecordWriter(records.append, Dilation(1000), START_NS, switches)
    for event in events:
        writer.write("h1", event)
    return records


def test_a_finished_flow_is_recorded_in_model_units() -> None:
    assert records_of(SENT) == [FlowSent(3, 9.0, FIGURES)]


def test_a_received_message_is_recorded_with_its_last_goodput_interval() -> None:
    last = messages.Goodput(4, START_NS + 2_000_000, START_NS + 3_000_000, 20)
    received = MessageReceived(4, 30, START_NS + 2_100_000, ReceiverFigures(corrupted=True), last)
    assert records_of(received) == [Goodput(2.0, 3.0, 4, 20), FlowReceived(4, ReceiverFigures(corrupted=True))]


PERIOD_NS = STAMPS * tick_ns(Dilation(1000))
"""Time after which time stamps repeat."""


def bts_received(until_ns: int | None) -> BtsReceived:
    """Return the event of a BTS of switch 4, whose data packet arrived at 1 ms of its clock, and that arrived at 3 ms.

    Its time stamp has wrapped.
    """
    return BtsReceived(
        signal=EXAMPLE,
        congested_ip=1,
        flow_id=3,
        sent_ns=START_NS + 1_000_000 + PERIOD_NS,
        received_ns=START_NS + 3_000_000,
        obeyed=until_ns is not None,
        reason="obeyed",
        paused_until_ns=until_ns,
    )


@pytest.mark.parametrize("until_ns", [None, START_NS + 8_000_000])
def test_a_signal_is_recorded_with_switch_name_and_corrected_clock(until_ns: int | None) -> None:
    (record,) = records_of(bts_received(until_ns))
    assert isinstance(record, Signal)
    assert (record.sent_us, record.received_us, record.pause_us) == (1.5, 3.0, 1234.0)
    assert (record.host, record.switch, record.cause, record.flow_id) == ("h1", "tor4", "cache", 3)
    assert record.paused_until_us == (None if until_ns is None else 8.0)


def test_a_signal_of_an_unknown_switch_is_recorded_with_its_number() -> None:
    (record,) = records_of(bts_received(None), switches={})
    assert isinstance(record, Signal)
    assert (record.switch, record.sent_us) == ("switch 4", 1.0)


def test_a_signal_without_time_and_switch_is_recorded_without_them() -> None:
    signal = EXAMPLE._replace(cause=BtsCause.UNKNOWN, switch_id=0)
    (record,) = records_of(replace(bts_received(START_NS + 8_000_000), signal=signal, sent_ns=None))
    assert isinstance(record, Signal)
    assert (record.switch, record.cause, record.sent_us, record.pause_us) == ("unknown", "unknown", None, 1234.0)


STAR = shape("star", {"hosts": 5}).build()


def flow(flow_id: int, src: str, dst: str, source_qpn: int = 1) -> Flow:
    return Flow(src, dst, 10, 5, "incast", flow_id, source_qpn, destination_qpn=1)


def test_nics_send_their_messages_at_the_dilated_start() -> None:
    nics = build_nics(STAR, [flow(1, "h2", "h4")], TransportSettings(), Dilation(1000))
    assert [nic.address.name for nic in nics] == ["h1", "h2", "h3", "h4", "h5"]
    assert [nic.next_timer_ns() for nic in nics] == [None, 5_000, None, None, None]


@pytest.mark.parametrize("link_bps", [400_000_000_000, 50_000_000_000, 25_000_000_000])
def test_a_nic_is_no_faster_than_its_link_and_its_settings(link_bps: int) -> None:
    star = shape("star", {"hosts": 2, "host_rate_bps": link_bps}).build()
    nic, _ = build_nics(star, [Flow("h1", "h2", 1_000, 0, "incast", 1, 1, 1)], TransportSettings(), Dilation(1000))
    [(departure_ns, frame)] = nic.frames_to_send(10_000_000)
    assert departure_ns == pytest.approx(8e12 * len(frame) / min(link_bps, 100_000_000_000), abs=1)


def configs(agents: int) -> list[AgentConfig]:
    return agent_configs(
        STAR,
        [flow(1, "h1", "h2"), flow(2, "h1", "h3", source_qpn=2)],
        TransportSettings(),
        Dilation(10),
        pids={host.name: 100 + number for number, host in enumerate(STAR.hosts)},
        switches=SWITCHES,
        agents=agents,
        epoch_ns=5,
    )


def test_hosts_are_distributed_and_flows_go_to_the_agents_of_both_ends() -> None:
    first, second = configs(2)
    assert [served.host.name for served in first.hosts] == ["h1", "h3", "h5"]
    assert [served.host.name for served in second.hosts] == ["h2", "h4"]
    assert first.flows == [flow(1, "h1", "h2"), flow(2, "h1", "h3", source_qpn=2)]
    assert second.flows == [flow(1, "h1", "h2")]
    assert set(second.addresses) == {"h1", "h2"}
    assert (first.hosts[1].interface, first.hosts[1].pid) == ("h3-eth0", 102)


def test_there_is_at_least_one_agent_and_at_most_one_per_host() -> None:
    assert len(configs(99)) == 5
    with pytest.raises(ValueError, match="at least one agent"):
        configs(0)


def test_a_configuration_survives_json() -> None:
    (config,) = configs(1)
    assert AgentConfig.model_validate_json(config.model_dump_json()) == config
