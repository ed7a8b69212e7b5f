# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of Poisson all-to-all traffic and incasts: loads, windows, independent random streams, measured window."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import pytest
from pydantic import ValidationError

from sfc_testbed.scenarios.datacentre import SCENARIO
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.scenario import ScenarioError, random_stream
from sfc_testbed.scenarios.traffic.arrivals import IncastEvents, poisson_times_ns
from sfc_testbed.scenarios.traffic.datacentre import DataCentre
from sfc_testbed.scenarios.traffic.sizes import load_sizes
from sfc_testbed.topologies.shapes import shape

NETWORK = shape("clos", {"tors": 2, "hosts_per_tor": 8}).build()
HOST_BPS = 100e9


def _flows(seed: int = 1, **fields: object) -> Sequence[FlowRequest]:
    return DataCentre(**{"incast_degree": 8, **fields}).flows(NETWORK, random_stream(seed, "workload"))


def test_offered_load_matches_the_setting() -> None:
    flows = _flows(sizes="storage", load=0.4, incast_load=0, arrivals_us=20_000)
    offered = 8 * sum(flow.size_bytes for flow in flows) / 20e-3
    expected = 0.4 * 16 * HOST_BPS
    sizes = load_sizes("storage").sample(100_000, np.random.default_rng(1)).astype(float)
    error = 8 * np.sqrt(len(flows) * (sizes**2).mean()) / 20e-3
    assert abs(offered - expected) < 4 * error
    assert len({flow.src for flow in flows}) == 16
    assert all(flow.src != flow.dst for flow in flows)


def test_receivers_are_uniform_over_the_others() -> None:
    received = Counter(flow.dst for flow in _flows(sizes="rpc", load=0.2, incast_load=0, arrivals_us=2_000))
    mean = sum(received.values()) / 16
    assert len(received) == 16
    assert all(abs(count - mean) < 5 * mean**0.5 for count in received.values())


def test_poisson_gaps_have_the_mean_and_deviation_of_the_exponential_distribution() -> None:
    gaps = np.diff(poisson_times_ns(1_000, 5e7, np.random.default_rng(3)))
    assert gaps.mean() == pytest.approx(1_000, rel=0.03)
    assert gaps.std() == pytest.approx(1_000, rel=0.03)


def test_incast_rate_of_the_paper() -> None:
    """A load of 8 % over 512 hosts at 100G is an incast of 128 x 250 KB every 62.5 us.

    docs/paper.md#workloads-metrics-set-ups
    """
    events = IncastEvents(128, 250_000, 100_000)
    assert events.mean_gap_ns(0.08, 512 * HOST_BPS) == pytest.approx(62_500)


def test_incasts_have_their_degree_and_window() -> None:
    flows = _flows(load=0, incast_load=0.02, incast_window_us=10, arrivals_us=50_000, incast_bytes=250_000)
    assert {flow.tag for flow in flows} == {"incast"}
    events = defaultdict(list)
    for number, flow in enumerate(flows):
        events[number // 8].append(flow)
    for event in events.values():
        assert len({flow.src for flow in event}) == 8
        assert len({flow.dst for flow in event}) == 1
        starts = [flow.start_ns for flow in event]
        assert max(starts) - min(starts) <= 10_000
    offered = 8 * sum(flow.size_bytes for flow in flows) / 50e-3
    assert offered == pytest.approx(0.02 * 16 * HOST_BPS, rel=4 / len(events) ** 0.5)


def test_even_incasts_are_as_many_as_poisson_has_on_average() -> None:
    """Incasts are one gap apart, the first after half a gap."""
    flows = _flows(load=0, incast_load=0.02, incast_window_us=0, incast_spacing="even", arrivals_us=5_000)
    begins = sorted({flow.start_ns for flow in flows})
    assert begins == [250_000 + 500_000 * number for number in range(10)]


def test_background_does_not_depend_on_the_incasts() -> None:
    """Their random streams are independent, so runs with different incast loads have the same background."""
    with_incast, without = ([flow for flow in _flows(incast_load=load) if flow.tag == "hadoop"] for load in (0.08, 0.0))
    assert with_incast == without


def test_flows_depend_on_the_seed_alone() -> None:
    assert _flows(seed=4) == _flows(seed=4) != _flows(seed=5)


def test_measured_window_excludes_warmup_and_cooldown() -> None:
    assert DataCentre(arrivals_us=1000, warmup_us=100, cooldown_us=300).measured_window_us == (100, 700)
    assert DataCentre().measured_window_us is None


@pytest.mark.parametrize(
    "fields", [{"sizes": "nothing"}, {"load": -1}, {"arrivals_us": 0}, {"arrivals_us": 10, "warmup_us": 10}]
)
def test_impossible_parameters_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        DataCentre(**fields)


def test_degree_above_the_hosts_is_refused() -> None:
    with pytest.raises(ScenarioError, match="incast_degree 16 needs more than the 16 hosts"):
        _flows(incast_degree=16)


@pytest.mark.parametrize("scale", ["ci", "laptop"])
def test_scales_generate_flows_on_their_networks(scale: str) -> None:
    settings = SCENARIO.scales[scale]  # type: ignore[index]
    network = shape(settings.topology, settings.topology_parameters).build()
    assert DataCentre(**settings.workload).flows(network, random_stream(1, "workload"))


@pytest.mark.parametrize(
    "fields", [{"incast_bytes": 1, "arrivals_us": 800.0}, {"sizes": "rpc", "arrivals_us": 10_000_000.0}]
)
def test_too_many_messages_are_refused(fields: dict[str, object]) -> None:
    """The error is raised before the first message is drawn and has the expected number of messages."""
    with pytest.raises(ScenarioError, match=r"about \d+ messages in .* us; a scenario has at most 10000000"):
        _flows(**fields)  # type: ignore[arg-type]
