# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the table of network and limits, which is read from config.json."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sfc_testbed.analysis.report.physics import physics_rows, physics_tables
from sfc_testbed.request.spec import Physics, RunConfig
from tests.analysis.conftest import CONFIG

PHYSICS = {
    "base_rtt_ns": 4_200,
    "bottleneck_bps": 100_000_000_000,
    "bdp_bytes": 52_500,
    "nic_rates_bps": {"100000000000": 8, "50000000000": 1},
    "window_bytes": None,
}


def config(switch: dict[str, Any], transport: dict[str, Any]) -> RunConfig:
    physics = Physics.model_validate(PHYSICS)
    return replace(CONFIG, physics=physics, switch_settings=switch, transport_settings=transport)


def test_only_values_that_the_run_used_are_shown() -> None:
    rows = physics_rows(config({"bts": "off", "q_th_bytes": 1, "ecn_kmin_bytes": None}, {"rto_ns": 4_000_000}))
    assert rows == [
        ("base RTT", "4.2 µs"),
        ("BDP", "52.5 KB"),
        ("NICs", "8 x 100 Gb/s, 1 x 50 Gb/s"),
        ("first window", "none"),
        ("timeout", "4 ms"),
    ]


def test_thresholds_and_limits_have_their_names() -> None:
    switch = {
        "bts": "ingress",
        "q_th_bytes": 105_000,
        "q_tg_bytes": 52_500,
        "suppression_ns": 2_100,
        "estimator": True,
        "estimator_tau_ns": 4_200,
        "ecn_kmin_bytes": 52_500,
        "ecn_kmax_bytes": None,
    }
    transport = {
        "loss_recovery_parameters": {"cap_packets": 53, "rto_low_ns": 42_000, "rto_high_ns": 1_300_000},
        "flow_control_parameters": {"threshold_ns": 4_200},
    }
    assert dict(physics_rows(config(switch, transport))[4:]) == {
        "cap in flight (BDP-FC)": "53 packets",
        "timeouts": "42 µs, 1.3 ms",
        "one-way delay threshold": "4.2 µs",
        "Q_th, Q_tg": "105 KB, 52.5 KB",
        "suppression period": "2.1 µs",
        "estimator's time constant": "4.2 µs",
        "ECN Kmin, Kmax": "52.5 KB, 52.5 KB",
    }


def test_a_run_without_a_readable_configuration_has_no_such_table() -> None:
    assert physics_rows(None) == []
    assert physics_tables(None) == []


def test_a_run_with_ndp_shows_its_queues_and_its_initial_window() -> None:
    """The timeout is NDP's and not that of go-back-N."""
    switch = {"bts": "off", "trim_queue_bytes": 8_496, "header_queue_bytes": 52_500}
    transport = {"rto_ns": 4_000_000, "loss_recovery_parameters": {"initial_window_packets": 53, "rto_ns": 1_000_000}}
    assert dict(physics_rows(config(switch, transport))[4:]) == {
        "initial window (NDP)": "53 packets",
        "timeout": "1 ms",
        "data queue, header queue": "8.5 KB, 52.5 KB",
    }
