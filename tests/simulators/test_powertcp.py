# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Input files of the PowerTCP simulator from a plan, and what it does not simulate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.simulators.powertcp import PARAMETERS, configuration, write_input
from sfc_testbed.simulators.run import standard_cases
from sfc_testbed.testbed.plan.plan import plan_run

SETTINGS = ("degree=2", "topology.hosts_per_tor=2", "topology.spines=1")
SPEC = RunSpec(
    "incast",
    scheme="pfc+powertcp",
    clock="virtual",
    topology="clos",
    settings=parse_settings((*SETTINGS, *PARAMETERS)),
)


@pytest.mark.parametrize(("scheme", "is_theta"), [("pfc+powertcp", "false"), ("pfc+theta-powertcp", "true")])
def test_the_topology_counts_racks_and_the_command_selects_the_variant(
    scheme: str, is_theta: str, tmp_path: Path
) -> None:
    words = write_input(plan_run(replace(SPEC, scheme=scheme)), "simulator", tmp_path)
    assert words == [
        "simulator", "--conf=config.txt", "--algorithm=3", "--wien=true", f"--delayWien={is_theta}", "--windowCheck=1",
    ]  # fmt: skip
    assert (tmp_path / "topology.txt").read_text().splitlines()[:2] == ["7 3 3 6", "4 5 6"]
    config = dict(line.split(" ", 1) for line in (tmp_path / "config.txt").read_text().splitlines())
    assert (tmp_path / config["FLOW_FILE"]).read_text().startswith("2\n")
    assert (config["MIN_RATE"], config["RATE_AI"], config["INT_MULTI"]) == ("400000000bps", "150000000bps", "4")


@pytest.mark.parametrize(
    ("scheme", "parameters", "words"),
    [
        ("pfc+hpcc", "", r"scheme pfc\+hpcc: the PowerTCP simulator gets \+powertcp or \+theta-powertcp"),
        ("irn+powertcp", PARAMETERS[0], r"scheme irn\+powertcp: the PowerTCP simulator does what pfc does"),
        ("pfc+powertcp", "", "additive_bps 600000000: the PowerTCP simulator has 150000000 built in"),
        (
            "pfc+theta-powertcp",
            'transport.congestion_parameters={"additive_bps": 150000000, "gamma": 0.9}',
            "gamma 0.9: the PowerTCP simulator has 0.7 built in",
        ),
    ],
)
def test_what_it_does_not_simulate_is_refused(scheme: str, parameters: str, words: str) -> None:
    settings = parse_settings((*SETTINGS, *([parameters] if parameters else [])))
    with pytest.raises(ValueError, match=words):
        configuration(plan_run(replace(SPEC, scheme=scheme, settings=settings)))


def test_its_standard_cases_are_those_of_the_hpcc_simulator() -> None:
    cases = standard_cases("powertcp-simulator")
    others = {
        case.label.rpartition(",")[0]
        for case in standard_cases("hpcc-simulator")
        if case.request.scale == "ci" and "2 MiB" not in case.label
    }
    assert {case.label.rpartition(",")[0] for case in cases} == others
    for case in cases[:2]:
        assert configuration(plan_run(case.request))["CC_MODE"] == 3
