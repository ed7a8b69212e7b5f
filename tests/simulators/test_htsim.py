# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The flows and options of htsim from a plan, its lines about finished flows, and what it does not simulate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.simulators.comparison import PeerFlow
from sfc_testbed.simulators.htsim import NETWORK, PARAMETERS, configuration, finished_flows, write_input
from sfc_testbed.simulators.run import standard_cases
from sfc_testbed.testbed.plan.plan import plan_run

FLOWS = ("degree=2", "message_bytes=8000", "window_us=0", "receiver=h1", "transport.payload_bytes=4000")
SETTINGS = (*FLOWS, *NETWORK, PARAMETERS, "switch.buffer_bytes=null")
SPEC = RunSpec("incast", scheme="irn+swift", clock="virtual", topology="three-tier", settings=parse_settings(SETTINGS))


def test_the_command_has_the_flows_and_packets_as_long_as_our_frames(tmp_path: Path) -> None:
    """The program sends one packet more than `-flowsize`."""
    plan = plan_run(SPEC)
    program, *words = write_input(plan, "simulator", tmp_path)
    options = dict(zip(words[::2], words[1::2], strict=True))
    expected = {"-nodes": "128", "-cwnd": "40", "-flowsize": "1", "-linkspeed": "100000", "-mtu": "4058"}
    assert program == "simulator"
    assert {key: options[key] for key in expected} == expected
    nodes, connections, *flows = (tmp_path / options["-tm"]).read_text().splitlines()
    assert (nodes, connections) == ("Nodes 128", "Connections 2")
    assert flows == [f"{int(flow.src[1:]) - 1}->0 start 0 size 8000" for flow in plan.flows]


def test_finished_flows_have_whole_packets_of_the_message() -> None:
    output = "mtu 4058\nFlow swift_113_0 finished at 978.693 total bytes 8116\nsubflow src constructor\n"
    assert list(finished_flows(output)) == [PeerFlow(113, 0, 8_000, 0, 978_693)]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ("window_us=5", "start at time 0: --set window_us=0"),
        ("flows_per_sender=2", "two hosts have one flow"),
        ("message_bytes=9000", "whole packets of 4,000 B"),
        ("switch.buffer_bytes=32000000", "--set switch.buffer_bytes=null"),
        ("topology.host_delay_ns=500", "has a fat tree: --topology three-tier"),
        ('transport.congestion_parameters={"initial_packets": 40}', "hop_target_ns 3053: htsim has 0 built in"),
        ('transport.congestion_parameters={"hop_target_ns": 0}', "initial_packets 40.625: htsim takes a whole number"),
    ],
)
def test_what_it_does_not_simulate_is_refused(changed: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        configuration(plan_run(replace(SPEC, settings={**SPEC.settings, **parse_settings((changed,))})))


def test_another_scheme_is_refused() -> None:
    spec = replace(SPEC, scheme="sfc+swift")
    with pytest.raises(ValueError, match=r"scheme sfc\+swift: the comparison with htsim is of irn\+swift"):
        configuration(plan_run(spec))


def test_its_standard_cases_can_be_planned_for_it() -> None:
    for case in standard_cases("htsim"):
        assert configuration(plan_run(case.request))["-nodes"] == 128
