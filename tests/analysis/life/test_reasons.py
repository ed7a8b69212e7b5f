# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the reasons for lost time, with observations whose reasons were computed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from sfc_testbed.analysis.life.port_curve import PortCurve
from sfc_testbed.analysis.life.reasons import Hop, Observations, Pause, reasons_of

RATE_BPS = 8_000_000_000
WINDOW = 10_000
FLOW = {
    "src": "h1",
    "size_bytes": 1000,
    "start_us": 0.0,
    "finish_us": 112.0,
    "received_us": 111.0,
    "fct_us": 112.0,
    "ideal_fct_us": 12.0,
    "paused_us": 0.0,
    "packets_resent": 0,
    "bytes_resent": 0,
    "timeouts": 0,
}


def hop(*depths_bytes: float, ports: Sequence[tuple[str, int]] = (("tor1", 3),), towards: str = "") -> Hop:
    """Return a hop whose ports always send at their rate and have these constant depths."""
    times = np.arange(10.0, 210.0, 10.0)
    curves = [
        PortCurve.of_samples(times, times * 1000, np.full(20, depth), np.full(20, depth), RATE_BPS)
        for depth in depths_bytes
    ]
    return Hop(ports, towards, curves, 1.0)


def reasons(*hops: Hop, row: dict[str, Any] | None = None, **more: Any) -> dict[str, float]:
    """Return the lost time by reason, without reasons of less than 0.1 us."""
    flow = {**FLOW, **(row or {})}
    end_us = more.pop("end_us", flow["received_us"])
    seen = Observations(
        flow, end_us, hops, (), access_us=0.0, return_us=1.0, nic_rate_bps=RATE_BPS, window_bytes=WINDOW, **more
    )
    return {reason.text: round(reason.lost_us, 3) for reason in reasons_of(seen) if reason.lost_us > 0.1}


def test_the_last_packet_waits_in_a_queue_of_its_path() -> None:
    assert reasons(hop(0), hop(100_000, ports=[("tor2", 5)])) == {"queue of tor2, port 5": 100.0}


def test_a_pause_is_divided_among_the_switches_that_set_it() -> None:
    """The sender counted 60 us, less than the BTS asked for, because it had nothing left to send in the end."""
    pauses = [Pause(10.0, 50.0, "paused by BTS of tor2"), Pause(50.0, 90.0, "paused by BTS of tor1")]
    assert reasons(hop(40_000), row={"paused_us": 60.0}, pauses=pauses) == {
        "queue of tor1, port 3": 40.0,
        "paused by BTS of tor2": 30.0,
        "paused by BTS of tor1": 30.0,
    }


def test_a_pause_that_no_bts_set_has_the_reason_of_the_flow_control() -> None:
    assert reasons(row={"paused_us": 100.0}, other_pause="NIC of h1 stopped by PFC of tor1") == {
        "NIC of h1 stopped by PFC of tor1": 100.0
    }


def test_the_port_of_equal_cost_paths_is_named_only_if_it_is_certain() -> None:
    """The flow waited at least as long as in the shorter queue."""
    ports = [("tor1", 3), ("tor1", 4)]
    [(text, lost_us)] = reasons(hop(100_000, 120_000, ports=ports)).items()
    assert (text, lost_us) == ("queue of tor1, port 3 or tor1, port 4 (not recorded which)", 100.0)


def test_many_ports_are_counted() -> None:
    ports = [("tor1", number) for number in range(1, 9)]
    [text] = reasons(hop(*[100_000] * 8, ports=ports))
    assert text == "queue of one of 8 ports of tor1 (not recorded which)"


def test_a_late_ack_is_a_reason_of_its_own() -> None:
    found = reasons(row={"received_us": 51.0}, end_us=51.0)
    assert found["last ACK on its way back"] == 60.0


def test_a_flow_with_a_window_is_held_back_by_the_queue_that_delays_its_acks() -> None:
    """A queue of 98 us makes a round trip 50 times as long, so it costs 98 % of the time until the last packet left."""
    row = {"size_bytes": 2 * WINDOW, "ideal_fct_us": 2.0}
    assert reasons(hop(98_000), row=row) == pytest.approx({"queue of tor1, port 3": 110.0}, abs=0.5)


def test_congestion_control_is_the_reason_for_what_no_queue_explains() -> None:
    row = {"size_bytes": 2 * WINDOW}
    assert reasons(hop(0), row=row, congestion="hpcc") == {"limited by its congestion control (hpcc)": 100.0}
    assert reasons(hop(0), row=row) == {"not recorded": 100.0}


def test_congestion_control_cannot_hold_back_a_message_of_one_window() -> None:
    assert reasons(hop(0), congestion="hpcc") == {"not recorded": 100.0}


@pytest.mark.parametrize(
    ("row", "cause"), [({"timeouts": 1}, "1 timeout"), ({"timeouts": 0}, "a loss"), ({"timeouts": 2}, "2 timeouts")]
)
def test_a_gap_after_a_loss_is_lost_by_retransmission(row: dict[str, Any], cause: str) -> None:
    """Nothing arrives from 3 to 111 us, and 8 us of this time are a queue's."""
    more = {"packets_resent": 1, "bytes_resent": 1000, **row}
    assert reasons(hop(8_000), row=more, delivered_us=[2.0, 3.0], has_losses=True) == {
        f"resent 1 packet after {cause}": 92.0,
        "queue of tor1, port 3": 8.0,
    }


def test_packets_that_were_sent_again_needlessly_cost_only_their_time_on_the_wire() -> None:
    found = reasons(row={"packets_resent": 5, "bytes_resent": 5000}, delivered_us=[3.0])
    assert found == {"not recorded": 95.0, "resent 5 packets after reordering": 5.0}


def test_other_flows_on_the_nic_count_while_the_link_is_busy() -> None:
    """The NIC sends without a gap for 40 us, of which the flow itself needs 1 us."""
    times = np.arange(10.0, 210.0, 10.0)
    nothing = np.zeros(20)
    nic = PortCurve.of_samples(times, np.minimum(times, 40.0) * 1000, nothing, nothing, RATE_BPS)
    assert reasons(hop(0), nic=nic)["other flows on the NIC of h1"] == 39.0


def test_an_earlier_message_on_the_queue_pair_comes_first() -> None:
    assert reasons(earlier=(7, 80.0)) == {"waited for flow 7 on its queue pair": 80.0, "not recorded": 20.0}


def test_a_stopped_port_names_the_switch_that_stopped_it() -> None:
    """The port sends a quarter of the time, while packets wait."""
    times = np.arange(10.0, 210.0, 10.0)
    curve = PortCurve.of_samples(times, times * 250, np.full(20, 25_000), np.full(20, 25_000), RATE_BPS)
    found = reasons(Hop([("spine1", 2)], "tor2", [curve], 1.0), stops_ports=True)
    assert found == {"spine1, port 2, stopped by PFC of tor2": 75.0, "queue of spine1, port 2": 25.0}
    assert reasons(Hop([("spine1", 2)], "tor2", [curve], 1.0)) == {"queue of spine1, port 2": 100.0}


def test_a_flow_that_did_not_finish_has_reasons_until_the_end_of_the_run() -> None:
    row = {"finish_us": None, "received_us": None, "fct_us": None}
    found = reasons(row=row | {"timeouts": 3}, end_us=1000.0, has_losses=True)
    assert found == {"resent 0 packets after 3 timeouts": 988.0}
