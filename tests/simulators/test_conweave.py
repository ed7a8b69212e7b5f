# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Input files of the ConWeave simulator from a plan, its table of flows, and what it does not simulate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.simulators.comparison import PeerFlow
from sfc_testbed.simulators.conweave import (
    LOAD_BALANCING,
    NETWORK,
    configuration,
    finished_flows,
    shared_bytes,
    uplinks_in,
    write_input,
)
from sfc_testbed.simulators.run import standard_cases
from sfc_testbed.testbed.plan.plan import plan_run

SETTINGS = (*NETWORK, "degree=2", "topology.hosts_per_tor=2", "topology.spines=1", "switch.buffer_bytes=4194304")
SPEC = RunSpec("incast", scheme="irn+hpcc", clock="virtual", topology="clos", settings=parse_settings(SETTINGS))


def test_the_files_have_the_flows_and_the_name_by_which_the_program_knows_the_network(tmp_path: Path) -> None:
    plan = plan_run(SPEC)
    assert write_input(plan, "simulator", tmp_path) == ["simulator", "config.txt"]
    flows = (tmp_path / "flow.txt").read_text().splitlines()
    assert flows[0] == "2"
    assert [line.split()[1:4] for line in flows[1:]] == 2 * [["3", "3", "250000"]]
    starts_s = [float(line.split()[4]) for line in flows[1:]]
    assert starts_s == sorted(2 + flow.start_ns / 1e9 for flow in plan.flows)
    config = dict(line.split(" ", 1) for line in (tmp_path / "config.txt").read_text().splitlines())
    assert (tmp_path / config["TOPOLOGY_FILE"]).read_text().startswith("7 3 6\n")
    assert "leaf_spine_128_100G_OS2" in config["TOPOLOGY_FILE"]
    expected = {"CC_MODE": "3", "ENABLE_IRN": "1", "ENABLE_PFC": "0", "BUFFER_SIZE": "4", "PACKET_PAYLOAD_SIZE": "1000"}
    assert {key: config[key] for key in expected} == expected


def test_go_back_n_is_irn_switched_off() -> None:
    assert configuration(plan_run(replace(SPEC, scheme="gbn+hpcc")))["ENABLE_IRN"] == 0


@pytest.mark.parametrize(("name", "mode"), [("ecmp", 0), ("drill", 2), ("conga", 3), ("flowlet", 6)])
def test_its_load_balancing_is_that_of_the_plan(name: str, mode: int) -> None:
    settings = {**SPEC.settings, **parse_settings(LOAD_BALANCING[name])}
    assert configuration(plan_run(replace(SPEC, load_balancing=name, settings=settings)))["LB_MODE"] == mode


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("spray", "load balancing spray: the ConWeave simulator has ecmp, drill, conga, flowlet"),
        ("oblivious", "load balancing oblivious: the ConWeave simulator has ecmp"),
        ("conga", "is compiled for 100000; --set switch.flowlet_gap_ns=100000"),
    ],
)
def test_a_load_balancing_that_it_does_not_have_is_refused(name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        configuration(plan_run(replace(SPEC, load_balancing=name)))


def test_uplinks_have_the_bytes_between_two_samples(tmp_path: Path) -> None:
    """A row is the time, the switch, the port, and all bytes that the port has sent."""
    (tmp_path / "uplink.txt").write_text(
        "2000000000,32,9,0\n2000000000,32,10,0\n2000100000,32,9,500\n2000100000,32,10,70\n"
    )
    uplinks = uplinks_in(tmp_path).sort("time_us", "port").select("time_us", "switch", "port", "sent_bytes")
    assert uplinks.rows() == [(0.0, "32", 9, 0), (0.0, "32", 10, 0), (100.0, "32", 9, 500), (100.0, "32", 10, 70)]


@pytest.mark.parametrize(
    ("scheme", "settings", "words"),
    [
        ("sfc+hpcc", (), r"scheme sfc\+hpcc"),
        ("pfc+hpcc", (), r"scheme pfc\+hpcc"),
        ("irn+window", (), r"scheme irn\+window"),
        ("irn+hpcc", ("transport.base_rtt_ns=10000",), "BDP of 104,000 B, not 125,000: --set topology.fabric"),
        ("irn+hpcc", ("transport.ack_priority=data",), "ACKs priority: --set transport.ack_priority=control"),
        (
            "irn+hpcc",
            ("topology.host_delay_ns=1200",),
            "delay of 1,000 ns on every link, and the link h1-tor1 has 1,200 ns: --set topology.host_delay_ns=1000",
        ),
    ],
)
def test_what_it_does_not_simulate_is_refused(scheme: str, settings: tuple[str, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        configuration(plan_run(replace(SPEC, scheme=scheme, settings={**SPEC.settings, **parse_settings(settings)})))


def test_finished_flows_have_numbers_of_hosts() -> None:
    assert list(finished_flows("15 0 10000 105 250000 2000021638 211880 31160\n")) == [
        PeerFlow(15, 0, 250_000, 21_638, 211_880)
    ]
    with pytest.raises(ValueError, match="not a line of an FCT table: '15 0'"):
        list(finished_flows("15 0\n"))


def test_its_standard_cases_can_be_planned_for_it() -> None:
    cases = standard_cases("conweave-simulator")
    assert len({case.label for case in cases}) == len(cases) == 12
    configurations = [configuration(plan_run(case.request)) for case in cases]
    assert [keys["BUFFER_SIZE"] for keys in configurations] == [4, 4, 4, 2, 2, 2, *6 * [32]]
    assert [keys["LB_MODE"] for keys in configurations] == [*6 * [0], 0, 6, 3, 2, 0, 2]


def test_our_buffer_is_the_shared_part_of_a_switch() -> None:
    """Each of 32 ports reserves 8 x 1,048 B of 2 MiB."""
    assert shared_bytes(2, ports=32) == 2_097_152 - 268_288
