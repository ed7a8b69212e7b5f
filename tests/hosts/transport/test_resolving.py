# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What algorithms make of a path where nobody has set their parameters, and that what is set stays."""

from __future__ import annotations

from typing import Any

import pytest

from hosts.transport.algorithms import Algorithms, resolved
from hosts.transport.congestion import CONGESTION_CONTROLS
from hosts.transport.flow_control import FLOW_CONTROLS
from hosts.transport.loss_recovery import LOSS_RECOVERIES
from hosts.transport.settings import TransportSettings
from wire.dilation import Dilation

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
def test_open_parameters_follow_from_the_path(kind: str, name: str, expected: dict[str, int]) -> None:
    """Window, threshold, cap and timeouts of a star of 4.2 us."""
    found = getattr(resolved(TransportSettings.from_dict({**STAR, kind: name})), f"{kind}_parameters")
    assert found | expected == found


@pytest.mark.parametrize(
    ("kind", "name", "chosen"),
    [
        ("congestion", "window", {"window_bytes": 7_000}),
        ("congestion", "window", {"window_ns": 8_400}),
        ("congestion", "dcqcn", {"window_bytes": 0}),
        ("flow_control", "onramp", {"threshold_ns": 9_000}),
        ("loss_recovery", "irn", {"cap_packets": 0, "rto_low_ns": 1, "rto_high_ns": 2}),
    ],
)
def test_what_is_set_stays(kind: str, name: str, chosen: dict[str, int]) -> None:
    """No derivation overrules a person."""
    settings = TransportSettings.from_dict({**STAR, kind: name, f"{kind}_parameters": chosen})
    found = getattr(resolved(settings), f"{kind}_parameters")
    assert found | chosen == found


@pytest.mark.parametrize(
    ("name", "chosen", "expected"),
    [
        ("hpcc", {}, {"additive_bps": 40_000_000, "min_rate_bps": 1_000_000_000}),
        ("hpcc", {"preset": "mix/config.txt"}, {"additive_bps": 50_000_000, "min_rate_bps": 100_000_000}),
        ("hpcc", {"preset": "mix/config.txt", "additive_bps": 0}, {"additive_bps": 0, "min_rate_bps": 100_000_000}),
        ("dcqcn", {}, {"increase_interval_ns": 300_000, "additive_bps": 20_000_000, "hyper_bps": 200_000_000}),
        ("dcqcn", {"preset": "mix/config.txt"}, {"increase_interval_ns": 900_000, "min_rate_bps": 100_000_000}),
    ],
)
def test_constants_come_from_one_of_the_simulators_sets(
    name: str, chosen: dict[str, object], expected: dict[str, int]
) -> None:
    """`run.py` unless the other is named, for both controls (docs/sources.md#parameters-of-the-simulator)."""
    settings = TransportSettings.from_dict({**STAR, "congestion": name, "congestion_parameters": chosen})
    assert expected.items() <= resolved(settings).congestion_parameters.items()


def test_an_unknown_set_is_refused_with_both_names() -> None:
    """In one line."""
    with pytest.raises(ValueError, match=r"preset: must be 'run.py' or 'mix/config.txt', not 'hp'"):
        TransportSettings(congestion="hpcc", congestion_parameters={"preset": "hp"})


@pytest.mark.parametrize("congestion", CONGESTION_CONTROLS)
@pytest.mark.parametrize("flow_control", FLOW_CONTROLS)
@pytest.mark.parametrize("loss_recovery", LOSS_RECOVERIES)
def test_resolving_twice_changes_nothing(congestion: str, flow_control: str, loss_recovery: str) -> None:
    """A plan resolves, writes it down, and a NIC resolves what it was sent."""
    settings = TransportSettings(**STAR, congestion=congestion, flow_control=flow_control, loss_recovery=loss_recovery)
    once = resolved(settings)
    assert resolved(once) == once
    assert once.bdp_bytes == 52_500


@pytest.mark.parametrize("congestion", ["window", "dcqcn", "hpcc"])
def test_a_nic_s_window_is_its_own_bdp(congestion: str) -> None:
    """In a network of mixed rates; a rate that nobody names has the network's. In wall units too."""
    slow_bps = 50_000_000_000
    shared = TransportSettings(**STAR, congestion=congestion, bdp_of_nics={str(slow_bps): 26_250})
    for link_bps, window_bytes in ((100_000_000_000, 52_500), (slow_bps, 26_250), (25_000_000_000, 52_500)):
        own = shared.of_nic(link_bps)
        assert own.line_rate_bps == link_bps
        assert Algorithms(own, Dilation(1000)).new_congestion().window_bytes == window_bytes


def test_a_window_that_was_set_is_that_of_every_nic() -> None:
    """No NIC makes it smaller."""
    chosen = {"window_bytes": 40_000}
    shared = TransportSettings(
        **STAR, congestion="window", congestion_parameters=chosen, bdp_of_nics={"50000000000": 1_000}
    )
    assert Algorithms(shared.of_nic(50_000_000_000), Dilation()).new_congestion().window_bytes == 40_000
