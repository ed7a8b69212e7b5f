# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of traffic between hosts of mixed rates: a load is the same share of each host's rate, sent and received."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.scenario import ScenarioError, random_stream
from sfc_testbed.scenarios.paper.fairness import JoinAndLeave
from sfc_testbed.scenarios.traffic.datacentre import DataCentre
from sfc_testbed.scenarios.traffic.shares import chance_to_be_drawn, draw_positions, others_of, pull_of_hosts
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.shapes import shape

GBPS = 1_000_000_000
RATES = [100 * GBPS, 25 * GBPS, 10 * GBPS]
NETWORK = shape("clos", {"tors": 2, "hosts_per_tor": 9, "host_rates_bps": RATES}).build()


def _flows(**fields: object) -> Sequence[FlowRequest]:
    return DataCentre(**fields).flows(NETWORK, random_stream(1, "workload"))


def _per_rate(flows: Sequence[FlowRequest], end: str) -> dict[int, float]:
    """Return the number of messages at the sources or destinations divided by the host rate, for each host rate."""
    messages: Counter[int] = Counter()
    for flow in flows:
        messages[NETWORK.host[getattr(flow, end)].rate_bps] += 1
    return {rate_bps: count / rate_bps for rate_bps, count in messages.items()}


@pytest.mark.parametrize("end", ["src", "dst"])
@pytest.mark.parametrize(
    "fields",
    [
        {"sizes": "rpc", "load": 0.2, "incast_load": 0, "arrivals_us": 8_000},
        {"load": 0, "incast_load": 0.3, "incast_degree": 4, "incast_bytes": 10_000, "arrivals_us": 8_000},
    ],
    ids=["all-to-all", "incasts"],
)
def test_messages_of_a_host_are_proportional_to_its_rate(fields: dict[str, object], end: str) -> None:
    shares = _per_rate(_flows(**fields), end)
    mean = sum(shares.values()) / len(shares)
    assert set(shares) == set(RATES)
    assert all(share == pytest.approx(mean, rel=0.12) for share in shares.values())


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 400), min_size=3, max_size=40))
def test_every_host_receives_as_much_as_it_sends(rates: list[int]) -> None:
    """Rates in which one host is faster than all others together are refused."""
    names = [f"h{number + 1}" for number in range(len(rates))]
    if 2 * max(rates) > sum(rates):
        with pytest.raises(ScenarioError, match="and all others together less"):
            pull_of_hosts(names, rates)
        return
    pull = pull_of_hosts(names, rates)
    received = sum(rate * others_of(pull, number) for number, rate in enumerate(rates))
    assert np.allclose(received, rates, rtol=0.02)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 400), min_size=2, max_size=40), st.integers(1, 40), st.integers(0, 1_000))
def test_drawn_hosts_are_distinct_and_have_the_requested_count(rates: list[int], count: int, seed: int) -> None:
    count = min(count, len(rates))
    chance = chance_to_be_drawn(rates, count)
    assert chance.sum() == pytest.approx(count)
    assert (chance <= 1).all()
    places = draw_positions(chance, count, np.random.default_rng(seed)).tolist()
    assert len(set(places)) == len(places) == count


def test_an_incast_that_slow_hosts_cannot_send_is_refused() -> None:
    """Nearly all hosts send in the incast, so that hosts of 10 Gb/s would have to send faster than their links."""
    with pytest.raises(ScenarioError, match=r"would send at \d.* of their rate instead of the configured load of 0.45"):
        _flows(load=0.05, incast_load=0.4, incast_degree=17)


def _fairness(rates: list[int]) -> Topology:
    return shape("dumbbell", {"left_hosts": 16, "host_rates_bps": rates}).build()


def test_fairness_refuses_senders_slower_than_their_share() -> None:
    """While a group of four is alone it has 100 Gb/s, so each sender needs 25 Gb/s."""
    random = random_stream(1, "workload")
    assert JoinAndLeave().flows(_fairness([100 * GBPS, 25 * GBPS]), random)
    with pytest.raises(ScenarioError, match="h2 is slower than the 25 Gb/s that a sender has while its group is alone"):
        JoinAndLeave().flows(_fairness([100 * GBPS, 10 * GBPS]), random)
