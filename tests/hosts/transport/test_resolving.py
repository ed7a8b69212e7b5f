# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the algorithm parameters that are derived from the path if they are not set."""

from typing import Any

import pytest

from sfc_testbed.hosts.transport.algorithms import Algorithms, resolved
from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS
from sfc_testbed.hosts.transport.flow_control import FLOW_CONTROLS
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.wire.dilation import Dilation

STAR: dict[str, Any] = {"base_rtt_ns": 4_200, "bdp_bytes": 52_500, "full_queue_ns": 1_280_000}


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("congestion", "window", {"window_bytes": 52_500, "window_ns": 4_200}),
        ("congestion", "dcqcn", {"window_bytes": 52_500}),
        ("flow_control", "onramp", {"threshold_ns": 4_200}),
        ("flow_control", "onramp-straw-man", {"threshold_ns": 4_200}),
        ("loss_recovery", "irn", {"cap_packets": 53, "rto_low_ns": 42_000, "rto_high_ns": 1_300_000}),
    ],
)
def test_unset_parameters_are_derived_from_the_path(kind: str, name: str, expected: dict[str, int]) -> None:
    """The path is a star with a base RTT of 4.2 us."""
    parameters = getattr(resolved(TransportSettings.from_dict({**STAR, kind: name})), f"{kind}_parameters")
    assert parameters | expected == parameters


@pytest.mark.parametrize(
    ("kind", "name", "set_parameters"),
    [
        ("congestion", "window", {"window_bytes": 7_000}),
        ("congestion", "window", {"window_ns": 8_400}),
        ("congestion", "dcqcn", {"window_bytes": 0}),
        ("flow_control", "onramp", {"threshold_ns": 9_000}),
        ("loss_recovery", "irn", {"cap_packets": 0, "rto_low_ns": 1, "rto_high_ns": 2}),
    ],
)
def test_set_parameters_are_not_changed(kind: str, name: str, set_parameters: dict[str, int]) -> None:
    settings = TransportSettings.from_dict({**STAR, kind: name, f"{kind}_parameters": set_parameters})
    parameters = getattr(resolved(settings), f"{kind}_parameters")
    assert parameters | set_parameters == parameters


@pytest.mark.parametrize(
    ("name", "set_parameters", "expected"),
    [
        ("hpcc", {}, {"additive_bps": 40_000_000, "min_rate_bps": 1_000_000_000}),
        ("hpcc", {"preset": "mix/config.txt"}, {"additive_bps": 50_000_000, "min_rate_bps": 100_000_000}),
        ("hpcc", {"preset": "mix/config.txt", "additive_bps": 0}, {"additive_bps": 0, "min_rate_bps": 100_000_000}),
        ("dcqcn", {}, {"increase_interval_ns": 300_000, "additive_bps": 20_000_000, "hyper_bps": 200_000_000}),
        ("dcqcn", {"preset": "mix/config.txt"}, {"increase_interval_ns": 900_000, "min_rate_bps": 100_000_000}),
    ],
)
def test_unset_constants_come_from_the_chosen_preset(
    name: str, set_parameters: dict[str, object], expected: dict[str, int]
) -> None:
    """The default is `run.py` for both controls (docs/sources.md#parameters-of-the-simulator)."""
    settings = TransportSettings.from_dict({**STAR, "congestion": name, "congestion_parameters": set_parameters})
    assert expected.items() <= resolved(settings).congestion_parameters.items()


@pytest.mark.parametrize(
    ("congestion", "settings", "expected"),
    [
        ("bolt", {"bdp_bytes": 250_000}, {"max_packets": 250}),
        ("powertcp", {}, {"additive_bps": 150_000_000, "min_rate_bps": 100_000_000, "gamma": 0.9}),
        (
            "theta-powertcp",
            {},
            {"additive_bps": 150_000_000, "min_rate_bps": 100_000_000, "gamma": 0.7, "allowance": 1.05},
        ),
        ("timely", {}, {"additive_bps": 25_000_000, "hyper_bps": 125_000_000, "low_ns": 50_000}),
        (
            "swift",
            {"congestion_parameters": {"base_target_ns": 40_000}, "line_rate_bps": 100_000_000_000},
            {"hop_target_ns": 6_107, "flow_range_ns": 200_000, "initial_packets": 125.0},
        ),
    ],
)
def test_unset_parameters_follow_from_the_rate_the_bdp_and_other_parameters(
    congestion: str, settings: dict[str, Any], expected: dict[str, float]
) -> None:
    """Increments are shares of the line rate, here 25 Gb/s."""
    parameters = resolved(TransportSettings(**{"line_rate_bps": 25_000_000_000, "congestion": congestion, **settings}))
    assert expected.items() <= parameters.congestion_parameters.items()


@pytest.mark.parametrize("congestion", CONGESTION_CONTROLS)
@pytest.mark.parametrize("flow_control", FLOW_CONTROLS)
@pytest.mark.parametrize("loss_recovery", LOSS_RECOVERIES)
def test_resolving_twice_changes_nothing(congestion: str, flow_control: str, loss_recovery: str) -> None:
    """A plan stores resolved settings, and a NIC resolves them again."""
    settings = TransportSettings(**STAR, congestion=congestion, flow_control=flow_control, loss_recovery=loss_recovery)
    once = resolved(settings)
    assert resolved(once) == once
    assert once.bdp_bytes == 52_500


@pytest.mark.parametrize("congestion", ["window", "dcqcn", "hpcc"])
def test_the_window_is_the_bdp_of_the_nic_s_rate(congestion: str) -> None:
    """A rate that is not listed in a network of mixed rates uses the BDP of the network."""
    slow_bps = 50_000_000_000
    shared = TransportSettings(**STAR, congestion=congestion, bdp_of_nics={str(slow_bps): 26_250})
    for link_bps, window_bytes in ((100_000_000_000, 52_500), (slow_bps, 26_250), (25_000_000_000, 52_500)):
        nic_settings = shared.of_nic(link_bps)
        assert nic_settings.line_rate_bps == link_bps
        assert Algorithms(nic_settings, Dilation(1000)).new_congestion().window_bytes == window_bytes


def test_a_set_window_applies_to_every_nic() -> None:
    set_parameters = {"window_bytes": 40_000}
    shared = TransportSettings(
        **STAR, congestion="window", congestion_parameters=set_parameters, bdp_of_nics={"50000000000": 1_000}
    )
    assert Algorithms(shared.of_nic(50_000_000_000), Dilation()).new_congestion().window_bytes == 40_000
