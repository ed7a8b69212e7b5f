# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The network, flows and options of UEC's htsim from a plan, what it writes, and what it does not simulate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.simulators.comparison import PeerFlow
from sfc_testbed.simulators.htsim_uec import NETWORK, configuration, finished_flows, uplinks_in, write_input
from sfc_testbed.simulators.run import standard_cases
from sfc_testbed.testbed.plan.plan import plan_run

SETTINGS = ("degree=2", "message_bytes=8000", "window_us=0", "receiver=h1", "topology.hosts_per_tor=4", *NETWORK)
SPEC = RunSpec(
    "incast",
    scheme="irn+window",
    clock="virtual",
    topology="clos",
    settings=parse_settings(SETTINGS),
    load_balancing="reps",
)
RECORD = np.dtype("<f8,<u4,<u4,<u4,<f8,<f8,<f8")


def options_of(words: list[str]) -> dict[str, list[str]]:
    """Return the values of each option of a command; an option begins with a hyphen and a letter."""
    options: dict[str, list[str]] = {}
    for word in words:
        if word.startswith("-"):
            values = options.setdefault(word, [])
        else:
            values.append(word)
    return options


def test_the_command_has_the_window_marks_and_load_balancing_of_the_plan(tmp_path: Path) -> None:
    plan = plan_run(SPEC)
    program, *words = write_input(plan, "simulator", tmp_path)
    options = options_of(words)
    expected = {"-mtu": "4064", "-cwnd": "26", "-load_balancing_algo": "reps", "-sack_threshold": "1", "-seed": "1"}
    assert program == "simulator"
    assert {key: options[key] for key in expected} == {key: [value] for key, value in expected.items()}
    assert options["-sender_cc_only"] == []
    assert options["-ecn"] == ["5", "21"]  # 0.2 and 0.8 BDP
    nodes, connections, *flows = (tmp_path / options["-tm"][0]).read_text().splitlines()
    assert (nodes, connections) == ("Nodes 8", "Connections 2")
    assert flows == [f"{int(flow.src[1:]) - 1}->0 start 0 size 8000" for flow in plan.flows]
    network = (tmp_path / options["-topo"][0]).read_text()
    assert "Radix_Down 4\nRadix_Up 2\nOversubscribed 2\nDownlink_Latency_ns 1000\n\nTier 1\n" in network


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ecmp", ["-load_balancing_algo", "oblivious", "-paths", "1"]),
        ("adaptive", ["-strat", "ecmp_ar", "-load_balancing_algo", "oblivious", "-ar_method", "queue"]),
    ],
)
def test_a_load_balancing_of_switches_has_its_own_options(name: str, words: list[str], tmp_path: Path) -> None:
    command = write_input(plan_run(replace(SPEC, load_balancing=name)), "simulator", tmp_path)
    assert command[-len(words) :] == words


def test_finished_flows_have_whole_packets_of_the_message() -> None:
    output = (
        "Packet size (MTU) is 4064\n"
        "Flow Uec_3_1 flowId 1 uecSrc finished at 388.25 total messages 1 total packets 2 RTS 0 total bytes 8000\n"
    )
    assert list(finished_flows(output)) == [PeerFlow(3, 1, 8_000, 0, 388_250)]


def test_bytes_of_uplinks_are_what_arrived_and_no_longer_waits(tmp_path: Path) -> None:
    """Until 100 us, 5 us of work arrived, at 100 Gb/s 62,500 B, of which 2,500 B are queued; then nothing arrives."""
    rows = [(1e-4, 5, 9, 500, 2500, 0, 0), (1e-4, 4, 9, 400, 5e-6, 0, 0), (1e-4, 5, 8, 500, 0, 0, 0)]
    rows += [(1e-4, 4, 8, 400, 1e-6, 0, 0), (2e-4, 5, 9, 500, 0, 0, 0), (2e-4, 4, 9, 400, 5e-6, 0, 0)]
    (tmp_path / "log.dat").write_bytes(b": Uec_3_1=1\n# TRACE\n" + np.array(rows, RECORD).tobytes())
    (tmp_path / "idmap.txt").write_text("8 LS0->DST1(0)\n9 LS0->US1(0)\n10 Pipe-LS0->US1(0)\n")
    (tmp_path / "output.txt").write_text("Linkspeed set to 100Gbps\n")
    uplinks = uplinks_in(tmp_path).select("time_us", "switch", "port", "sent_bytes")
    assert uplinks.rows() == [(100.0, "LS0", 1, 60_000), (200.0, "LS0", 1, 2_500)]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ("window_us=5", "start at time 0"),
        ("message_bytes=9000", "whole packets of 4,000 B"),
        ("switch.buffer_bytes=32000000", "--set switch.buffer_bytes=null"),
        (
            "topology.fabric_rate_bps=400000000000",
            "a leaf-spine network: --topology clos --set topology.fabric_rate_bps=100000000000",
        ),
        ("topology.spines=3", "3 spines: the UEC htsim needs a number that divides the 4 hosts of a ToR"),
        ("transport.ack_priority=data", "--set transport.ack_priority=control"),
        ('transport.congestion_parameters={"window_bytes": 103750}', "a whole number of packets of 4,000 B"),
    ],
)
def test_what_it_does_not_simulate_is_refused(changed: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        configuration(plan_run(replace(SPEC, settings={**SPEC.settings, **parse_settings((changed,))})))


@pytest.mark.parametrize(
    ("scheme", "load_balancing", "words"),
    [
        ("irn+none", "reps", r"scheme irn\+none: the comparison with the UEC htsim is of irn"),
        ("irn+window", "plb", "load balancing plb: the UEC htsim has ecmp, adaptive"),
        ("irn+window", "drill", "load balancing drill"),
    ],
)
def test_another_scheme_or_load_balancing_is_refused(scheme: str, load_balancing: str, words: str) -> None:
    others = [word for word in SETTINGS if not word.startswith("transport.congestion_parameters")]
    settings = parse_settings(SETTINGS if scheme == "irn+window" else others)
    with pytest.raises(ValueError, match=words):
        configuration(plan_run(replace(SPEC, scheme=scheme, load_balancing=load_balancing, settings=settings)))


def test_its_standard_cases_can_be_planned_for_it() -> None:
    cases = standard_cases("htsim-uec")
    assert [case.request.load_balancing for case in cases] == ["reps", "oblivious", "adaptive"]
    for case in cases:
        plan = plan_run(case.request)
        assert configuration(plan)["-cwnd"] == 26
        racks = [(int(flow.src[1:]) - 1) // 8 == (int(flow.dst[1:]) - 1) // 8 for flow in plan.flows]
        assert len(racks) == 128 and not any(racks)
