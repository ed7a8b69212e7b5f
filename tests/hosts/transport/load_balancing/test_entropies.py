# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of queue pairs with different UDP source ports: frames, marks, signals and the default."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from sfc_testbed.contract.frames import with_tos
from sfc_testbed.contract.link import FakeLink, bts, plain, transferred
from sfc_testbed.hosts.transport.load_balancing import LOAD_BALANCINGS
from sfc_testbed.hosts.transport.load_balancing.base import ENTROPIES
from sfc_testbed.hosts.transport.messages import BtsReceived, MessageReceived
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.wire.constants import ECN_CONGESTION_EXPERIENCED, ROCE_SOURCE_PORT_QPN_MASK
from sfc_testbed.wire.roce.decoder import parse_header
from sfc_testbed.wire.roce.packets import source_port
from tests.hosts.transport.flow_control.test_pauses import prototypes_bts

SPRAYED = TransportSettings(load_balancing="oblivious", loss_recovery="irn")


def ports(link: FakeLink, sender: str) -> list[int]:
    headers = [parse_header(plain(frame)) for _, name, frame in link.sent if name == sender]
    return [header.source_port for header in headers if header is not None]


def test_the_entropies_are_the_lower_bits_of_the_source_port() -> None:
    assert ENTROPIES == ROCE_SOURCE_PORT_QPN_MASK + 1


def test_by_default_every_packet_has_the_port_of_its_queue_pair() -> None:
    link = transferred(30_000)
    assert set(ports(link, "a")) == {source_port(1)}
    assert set(ports(link, "b")) == {source_port(101)}


@pytest.mark.parametrize("congestion", ["none", "hpcc", "swift"])
def test_sprayed_packets_have_many_ports_and_correct_checksums(congestion: str) -> None:
    """The receiver checks each ICRC, and answers in the order of arrival."""
    link = transferred(30_000, replace(SPRAYED, congestion=congestion))
    assert len(set(ports(link, "a"))) == 30
    assert ports(link, "b") == ports(link, "a")
    assert link.b.statistics().corrupted == link.a.statistics().corrupted == 0
    assert len(link.of(MessageReceived, "b")) == 1


def test_only_load_balancings_that_use_marks_send_ecn_capable_packets() -> None:
    capable = {}
    for name in LOAD_BALANCINGS:
        link = transferred(3_000, replace(SPRAYED, load_balancing=name))
        capable[name] = {frame[15] & 0x3 for _, sender, frame in link.sent if sender == "a"}
    assert capable == {"flow": {0}, "oblivious": {0}, "reps": {2}, "plb": {2}}


def test_reps_sends_on_entropies_whose_packets_were_not_marked() -> None:
    """Packets with an even port are marked. Once the first round trip is over, most packets have an odd port."""

    def mark_even(number: int, name: str, frame: bytes) -> bytes:
        is_marked = name == "a" and frame[35] % 2 == 0
        return with_tos(frame, frame[15] | ECN_CONGESTION_EXPERIENCED) if is_marked else frame

    settings = replace(SPRAYED, load_balancing="reps", congestion="window", bdp_bytes=20_000)
    later = ports(transferred(1_000_000, settings, change=mark_even), "a")[200:]
    odd = sum(port % 2 for port in later) / len(later)
    assert odd > 0.6
    unmarked = ports(transferred(1_000_000, settings), "a")[200:]
    assert 0.3 < sum(port % 2 for port in unmarked) / len(unmarked) < 0.7


def test_a_bts_pauses_the_queue_pair_that_it_names_whatever_its_port() -> None:
    """A BTS contains the port of the packet that caused it."""
    link = FakeLink(replace(SPRAYED, flow_control="sfc"))
    first, second = link.transfer(100_000), link.transfer(100_000)
    link.inject(3_000, link.a, bts(1, 50, source_port=0xC123))
    link.run()
    assert [event.flow_id for event in link.of(BtsReceived, "a")] == [first]
    finish_ns = {event.flow_id: event.finish_ns for event in link.of(Transmission, "a")}
    assert finish_ns[first] > 53_000 > finish_ns[second]


def test_a_bts_without_a_cause_names_all_flows_to_the_address() -> None:
    link = FakeLink(replace(SPRAYED, flow_control="sfc"))
    flows = [link.transfer(100_000), link.transfer(100_000)]
    link.inject(3_000, link.a, prototypes_bts(0xC123, 50))
    link.run()
    assert sorted(event.flow_id or 0 for event in link.of(BtsReceived, "a")) == flows


def test_a_nic_that_adopts_spraying_still_obeys_signals_for_older_queue_pairs() -> None:
    link = FakeLink(TransportSettings(flow_control="sfc", loss_recovery="irn"))
    flow = link.transfer(100_000)
    link.a.adopt(replace(SPRAYED, flow_control="sfc"), link.dilation)
    link.inject(3_000, link.a, bts(1, 50))
    link.run()
    assert [event.flow_id for event in link.of(BtsReceived, "a")] == [flow]
    assert link.a.statistics().bts_received == 1


@pytest.mark.parametrize("name", ["oblivious", "reps", "plb"])
def test_a_timeout_is_reported_to_the_load_balancing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    timeouts: list[int] = []
    kind = LOAD_BALANCINGS[name]
    noted: Callable[..., None] = lambda self, now_ns: timeouts.append(now_ns)  # noqa: E731
    counting = type("Counting", (kind,), {"on_timeout": noted})
    monkeypatch.setitem(LOAD_BALANCINGS._rows, name, counting)
    link = transferred(1_000, replace(SPRAYED, load_balancing=name), drop=lambda number, sender, frame: number == 0)
    assert len(timeouts) == 1
    assert len(link.of(MessageReceived, "b")) == 1
