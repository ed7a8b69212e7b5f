# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs with one hostile or silent host: they end, every packet is accounted for, and the result reports it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from sfc_testbed.analysis.results.result import RunResult
from sfc_testbed.contract.link import plain
from sfc_testbed.hosts.build import build_nics
from sfc_testbed.hosts.transport.algorithms import Algorithms
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.transmission import PAYLOAD_BLOCK
from sfc_testbed.testbed.virtual import part
from sfc_testbed.wire.addresses import parse_ip
from sfc_testbed.wire.constants import DSCP_CONTROL, PSN_MASK
from sfc_testbed.wire.roce.decoder import RoceHeader, parse_header
from sfc_testbed.wire.roce.framer import RoceFramer
from sfc_testbed.wire.roce.packets import Opcode, Syndrome, pack_aeth, pack_psn_word
from sfc_testbed.wire.tail import whole_frame
from tests.testbed.incasts import plan_incast, run_plan

VICTIM = parse_ip("10.1.0.1")


class SilentNic(Nic):
    """A NIC that receives every frame and does nothing."""

    sender_qpns: ClassVar[dict[int, int]] = {}
    """The senders' queue pairs, by this host's queue pairs."""

    def receive(self, frame: bytes, now_ns: int, tail: int = 0) -> None:
        frame = whole_frame(frame, tail, PAYLOAD_BLOCK)
        self._wire.advance(now_ns - 1)
        self._wire.clock_ns = max(self._wire.clock_ns, now_ns)
        self._counters.frames_received += 1
        header = parse_header(plain(frame))
        if header is not None and header.is_data:
            self.answer(header, plain(frame))

    def answer(self, header: RoceHeader, frame: bytes) -> None:
        """Do nothing; subclasses send an answer."""

    def acknowledge(self, header: RoceHeader, psn: int, source_ip: int) -> None:
        """Acknowledge all packets up to and including `psn`."""
        framer = RoceFramer(
            destination_mac=self.address.gateway_mac,
            source_mac=self.address.mac,
            source_ip=source_ip,
            destination_ip=header.source_ip,
            source_qpn=header.destination_qpn,
            destination_qpn=self.sender_qpns[header.destination_qpn],
            tos=DSCP_CONTROL << 2,
        )
        body = pack_aeth(Syndrome.ACK, 0)
        self._wire.send_control(framer.frame(Opcode.ACKNOWLEDGE, pack_psn_word(psn & PSN_MASK), body))


class LyingNic(SilentNic):
    """A NIC that acknowledges every packet and discards its data."""

    def answer(self, header: RoceHeader, frame: bytes) -> None:
        self.acknowledge(header, header.psn_word(frame), self.address.ip)


class ForgingNic(SilentNic):
    """A NIC that acknowledges packets that were never sent, which the sender can detect."""

    def answer(self, header: RoceHeader, frame: bytes) -> None:
        self.acknowledge(header, header.psn_word(frame) + 10_000, self.address.ip)


class SpoofingNic(SilentNic):
    """A NIC that answers with another host's address, which the ToR can detect."""

    def answer(self, header: RoceHeader, frame: bytes) -> None:
        self.acknowledge(header, header.psn_word(frame), VICTIM)


def _result(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: type[SilentNic], scheme: str, *settings: str
) -> RunResult:
    """Execute an 8:1 incast whose receiver has a NIC of this kind; return the result."""
    plan = plan_incast(scheme, *settings)
    (receiver,) = {flow.dst for flow in plan.flows}
    host = plan.topology.host[receiver]
    assert int(host.ip) != VICTIM
    monkeypatch.setattr(SilentNic, "sender_qpns", {flow.destination_qpn: flow.source_qpn for flow in plan.flows})

    def hostile(*arguments: object, **named: object) -> list[Nic]:
        nics = build_nics(*arguments, **named)  # type: ignore[arg-type]
        index = plan.topology.hosts.index(host)
        nics[index] = kind(nics[index].address, Algorithms(plan.transport, plan.dilation))
        return nics

    monkeypatch.setattr(part, "build_nics", hostile)
    return run_plan(plan, tmp_path).result


@pytest.mark.parametrize("scheme", ["irn+none", "gbn", "sfc+hpcc"])
@pytest.mark.parametrize("kind", [SilentNic, ForgingNic, SpoofingNic])
def test_flows_to_a_receiver_without_valid_answers_are_given_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: type[SilentNic], scheme: str
) -> None:
    few = ("message_bytes=20000", "transport.retry_limit=2", "transport.rto_ns=500000")
    result = _result(monkeypatch, tmp_path, kind, scheme, *few)
    assert result.unexplained_loss == 0
    assert result.flows.completed == 0
    assert result.flows.timeouts == 3 * result.flows.total
    events = result.host_events
    assert events is not None and result.drops is not None
    assert events["messages_failed"] == result.flows.total
    assert events.keys() == {"messages_failed"} | ({"acknowledgements_refused"} if kind is ForgingNic else set())
    assert result.drops.keys() == ({"foreign_source"} if kind is SpoofingNic else set())
    assert result.verdict == ("degraded" if kind is ForgingNic else "faithful")


@pytest.mark.parametrize("scheme", ["irn+none", "gbn"])
def test_acknowledged_but_discarded_data_makes_a_run_invalid(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scheme: str
) -> None:
    """The senders cannot detect it, but the result compares both ends."""
    result = _result(monkeypatch, tmp_path, LyingNic, scheme, "message_bytes=20000")
    assert result.flows.completed == result.flows.total
    assert result.host_events == {"messages_undelivered": result.flows.total}
    assert result.verdict == "invalid"
