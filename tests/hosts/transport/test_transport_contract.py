# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The contract that every algorithm must satisfy, in every combination, and what queue pairs do with the algorithms."""

from typing import Any

import pytest

from sfc_testbed.contract import transport as contract
from sfc_testbed.contract.link import FakeLink, plain
from sfc_testbed.contract.transport import WINDOW_BYTES, Combination, combinations, settings_of, transfer
from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS, PathContext
from sfc_testbed.hosts.transport.congestion.window import FixedWindow
from sfc_testbed.hosts.transport.flow_control import FLOW_CONTROLS
from sfc_testbed.hosts.transport.load_balancing import LOAD_BALANCINGS
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.wire.roce.decoder import parse_header
from sfc_testbed.wire.roce.packets import Opcode

ALGORITHMS = [
    *CONGESTION_CONTROLS.values(),
    *FLOW_CONTROLS.values(),
    *LOSS_RECOVERIES.values(),
    *LOAD_BALANCINGS.values(),
]


COMBINATIONS = [
    *combinations(),
    *combinations(["window", "dcqcn"], ["none", "sfc"], load_balancing=[*LOAD_BALANCINGS][1:]),
]
CHECKS = [(combination, name) for combination in COMBINATIONS for name in contract.checks(combination)]


@pytest.mark.parametrize(
    ("combination", "name"), CHECKS, ids=lambda part: part if isinstance(part, str) else "+".join(part)
)
def test_every_combination_satisfies_the_contract(combination: Combination, name: str) -> None:
    contract.checks(combination)[name]()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_algorithms_are_described(algorithm: type[Any]) -> None:
    contract.is_described(algorithm)


@pytest.mark.parametrize("algorithm", CONGESTION_CONTROLS.values())
def test_congestion_controls_start_with_a_positive_window_and_rate(algorithm: type[Any]) -> None:
    contract.starts_with_a_window_and_a_rate(algorithm)


@pytest.mark.parametrize("loss_recovery", LOSS_RECOVERIES)
@pytest.mark.parametrize("flow_control", FLOW_CONTROLS)
@pytest.mark.parametrize("condition", ["clear", "pauses"])
def test_packets_in_flight_respect_the_window(flow_control: str, loss_recovery: str, condition: str) -> None:
    """Bytes sent and not acknowledged, observed on the wire, may exceed the window by one packet."""
    link = transfer(settings_of(("window", flow_control, loss_recovery)), condition)
    moves = [(start_ns, psn + 1, 0) for start_ns, psn in contract.data_starts(link, destination_qpn=101)]
    for arrival_ns, receiver, delivered in link.delivered:
        frame = plain(delivered)
        header = parse_header(frame)
        if receiver == "a" and header and (header.opcode, header.destination_qpn) == (Opcode.ACKNOWLEDGE, 1):
            moves.append((arrival_ns, 0, (header.psn_word(frame) & 0xFFFFFF) + 1))
    sent, acknowledged, max_in_flight = 0, 0, 0
    for _, sent_now, acknowledged_now in sorted(moves):
        sent, acknowledged = max(sent, sent_now), max(acknowledged, acknowledged_now)
        max_in_flight = max(max_in_flight, sent - acknowledged)
    assert WINDOW_BYTES / 2 < max_in_flight * 1000 <= WINDOW_BYTES + 1000


@pytest.mark.parametrize("rate_bps", [0, -1])
def test_a_rate_below_1_is_an_error_that_names_the_class(rate_bps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(FixedWindow):
        def on_sent(self, size_bytes: int, now_ns: int) -> None:
            self.rate_bps = rate_bps

    monkeypatch.setitem(CONGESTION_CONTROLS._rows, "stopped", Stopped)
    link = FakeLink(TransportSettings(congestion="stopped"))
    link.transfer(10_000)
    with pytest.raises(ValueError, match=f"Stopped set rate_bps to {rate_bps}; the least is 1"):
        link.run()


@pytest.mark.parametrize("name", ["dcqcn", "dctcp", "timely"])
def test_a_waiting_packet_keeps_its_time_as_in_the_simulator(name: str) -> None:
    """The HPCC simulator moves the packet only in a function that these controls do not call."""
    assert not CONGESTION_CONTROLS[name].repaces


@pytest.mark.parametrize("repaces", [True, False])
def test_a_new_rate_moves_the_waiting_packet_only_if_the_control_repaces(
    repaces: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HPCC does so in the HPCC simulator, and DCQCN does not. A frame of 1,062 B takes 8.5 us at 1 Gb/s."""

    class Hastening(FixedWindow):
        def __init__(self, parameters: Any, path: PathContext) -> None:
            super().__init__(parameters, path)
            self.rate_bps = 1_000_000_000
            self.timer_ns: int | None = 2_000

        def next_timer_ns(self) -> int | None:
            return self.timer_ns

        def on_timer(self, now_ns: int) -> None:
            self.timer_ns = None
            self.rate_bps = 10_000_000_000

    monkeypatch.setattr(Hastening, "repaces", repaces)
    monkeypatch.setitem(CONGESTION_CONTROLS._rows, "hastening", Hastening)
    link = FakeLink(TransportSettings(congestion="hastening"))
    link.transfer(3_000)
    link.run()
    first_ns, second_ns, third_ns = (start_ns for start_ns, _, _ in link.data_sent())
    assert second_ns - first_ns == pytest.approx(2_000 if repaces else 8_496, abs=100)
    assert third_ns - second_ns == pytest.approx(850, abs=10)
