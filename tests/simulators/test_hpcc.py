# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Input files of the HPCC simulator from a plan, and its tables of flows and queues."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.scenarios.faults.spec import parse_fault
from sfc_testbed.simulators.comparison import PeerFlow, PeerQueues
from sfc_testbed.simulators.hpcc import configuration, finished_flows, sampled_queues, topology_text
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run

SETTINGS = ("degree=2", "message_bytes=4000", "topology.hosts_per_tor=2", "topology.spines=1")
SPEC = RunSpec("incast", scheme="pfc+hpcc", clock="virtual", topology="clos", settings=parse_settings(SETTINGS))
FCT_LINE = "0b000001 0b000301 10000 200 4000 2000000100 9000 8000"


@pytest.fixture(scope="module")
def plan() -> RunPlan:
    """Return an incast from h1 and h2 to h4."""
    return plan_run(SPEC)


def test_topology_has_all_links(plan: RunPlan) -> None:
    """Hosts come first, so that they have the numbers of the flow file."""
    assert topology_text(plan.topology).splitlines() == [
        "7 3 6",
        "4 5 6",
        *(f"{host} {tor} 100000000000bps 1000ns 0" for host, tor in ((0, 4), (1, 4), (2, 5), (3, 5))),
        *(f"{tor} 6 400000000000bps 1500ns 0" for tor in (4, 5)),
    ]


def test_configuration_has_the_settings_of_the_plan(plan: RunPlan) -> None:
    values = configuration(plan)
    expected = {
        "CC_MODE": 3,
        "VAR_WIN": 1,
        "PACKET_PAYLOAD_SIZE": 1000,
        "BUFFER_SIZE": 31,
        "RATE_AI": "40000000bps",
        "MIN_RATE": "1000000000bps",
        "U_TARGET": 0.95,
        "INT_MULTI": 4,
        "ACK_HIGH_PRIO": 0,
        "KMIN_MAP": "2 100000000000 400 400000000000 1600",
        "PMAX_MAP": "2 100000000000 0.2 400000000000 0.2",
    }
    assert {key: values[key] for key in expected} == expected


def test_dcqcn_has_a_static_window_and_the_step_of_the_marking() -> None:
    values = configuration(plan_run(replace(SPEC, scheme="pfc+dcqcn")))
    expected = {
        "CC_MODE": 1,
        "HAS_WIN": 1,
        "VAR_WIN": 0,
        "ALPHA_RESUME_INTERVAL": 1.0,
        "RATE_DECREASE_INTERVAL": 4.0,
        "RP_TIMER": 300.0,
        "RATE_HAI": "200000000bps",
        "KMIN_MAP": "2 100000000000 125 400000000000 125",
        "KMAX_MAP": "2 100000000000 125 400000000000 125",
        "PMAX_MAP": "2 100000000000 1.0 400000000000 1.0",
    }
    assert {key: values[key] for key in expected} == expected


def test_dcqcn_without_a_window_has_none_there_either() -> None:
    values = configuration(plan_run(replace(SPEC, scheme="pfc+dcqcn-no-window")))
    assert (values["HAS_WIN"], values["ACK_HIGH_PRIO"]) == (0, 0)


def test_another_window_than_the_simulators_is_refused() -> None:
    """The simulator's base RTT has the time of one payload on each wire; ours is that of packets of 1,000 B."""
    large = {**SPEC.settings, "transport.payload_bytes": 4000}
    with pytest.raises(ValueError, match=r"computes a base RTT of 10800 ns .* a payload of 4000 B, ours is 10000 ns"):
        configuration(plan_run(replace(SPEC, settings=large)))
    same_window = {**large, "transport.base_rtt_ns": 10800}
    assert configuration(plan_run(replace(SPEC, settings=same_window)))["PACKET_PAYLOAD_SIZE"] == 4000
    assert configuration(plan_run(replace(SPEC, scheme="pfc+dcqcn-no-window", settings=large)))["HAS_WIN"] == 0


def test_dctcp_has_its_own_marking_and_a_window_that_follows_the_rate() -> None:
    values = configuration(plan_run(replace(SPEC, scheme="pfc+dctcp")))
    expected = {
        "CC_MODE": 8,
        "HAS_WIN": 1,
        "VAR_WIN": 1,
        "EWMA_GAIN": 0.0625,
        "DCTCP_RATE_AI": "615000000bps",
        "MIN_RATE": "1000000000bps",
        "KMIN_MAP": "2 100000000000 300 400000000000 300",
        "KMAX_MAP": "2 100000000000 300 400000000000 300",
        "PMAX_MAP": "2 100000000000 1.0 400000000000 1.0",
    }
    assert {key: values[key] for key in expected} == expected


def test_timely_has_a_window_only_if_ours_has() -> None:
    values = configuration(plan_run(replace(SPEC, scheme="pfc+timely")))
    expected = {"CC_MODE": 7, "HAS_WIN": 0, "RATE_AI": "100000000bps", "RATE_HAI": "500000000bps"}
    assert {key: values[key] for key in expected} == expected
    windowed = parse_settings(['transport.congestion_parameters={"has_window": true}'])
    values = configuration(plan_run(replace(SPEC, scheme="pfc+timely", settings={**SPEC.settings, **windowed})))
    assert (values["HAS_WIN"], values["VAR_WIN"]) == (1, 1)


def test_other_values_of_what_is_compiled_into_the_simulator_are_refused() -> None:
    chosen = parse_settings(['transport.congestion_parameters={"low_ns": 30000}'])
    with pytest.raises(ValueError, match="low_ns 30000: the HPCC simulator has 50000 built in"):
        configuration(plan_run(replace(SPEC, scheme="pfc+timely", settings={**SPEC.settings, **chosen})))


@pytest.mark.parametrize("scheme", ["sfc+hpcc", "irn+hpcc", "pfc"])
def test_a_scheme_that_it_does_not_simulate_is_refused(scheme: str) -> None:
    with pytest.raises(ValueError, match=rf"scheme {scheme.replace('+', '.')}"):
        configuration(plan_run(replace(SPEC, scheme=scheme)))


def test_flows_that_wait_and_faults_are_refused(plan: RunPlan) -> None:
    ring = plan_run(RunSpec("allreduce", scheme="pfc+hpcc", clock="virtual"))
    with pytest.raises(ValueError, match="no flows that wait for others"):
        configuration(ring)
    with pytest.raises(ValueError, match="no faults"):
        configuration(replace(plan, faults=(parse_fault("link:tor1-spine1,down=200us"),)))


def test_fct_table_gives_hosts_and_times_since_the_start() -> None:
    assert list(finished_flows(f"{FCT_LINE}\n")) == [PeerFlow(0, 3, 4000, 100, 9000)]
    with pytest.raises(ValueError, match="not a line of an FCT table"):
        list(finished_flows(FCT_LINE[:-5]))


def test_queues_are_those_of_the_end_of_sampling() -> None:
    """Two ports: 10 samples with 2 KB, and one with 1 KB; whole KB count as their middle, an empty queue as empty."""
    early = "time: 2000000000\n4 1 1\n"
    assert sampled_queues(early) is None
    table = f"{early}time: 2100000000\n4 1 1000 0 10\n4 2 1009 1\n"
    assert sampled_queues(table) == PeerQueues(2_000, (10 * 2_500 + 1_500) * 100)
    assert sampled_queues(table[:-3]) is None
